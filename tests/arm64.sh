# gpubench on Arm processors of 64 and of 32 bits that qemu emulates, a program at a time. Part of ./x, for Debian.
# shellcheck shell=bash disable=SC2154

# Cross compilers, qemu, and a kernel that hands it the programs of these processors.
ensure_arm() {
    local target name packages=() formats=/proc/sys/fs/binfmt_misc
    ensure_toolchain
    for target in "${arm_targets[@]}"; do
        [ -d "$(rustc --print target-libdir --target "$target")" ] || rustup target add "$target"
    done
    command -v aarch64-linux-gnu-gcc >/dev/null || packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
    command -v arm-linux-gnueabihf-gcc >/dev/null || packages+=(gcc-arm-linux-gnueabihf libc6-dev-armhf-cross)
    command -v qemu-aarch64-static >/dev/null || packages+=(qemu-user-static binfmt-support)
    command -v mmdebstrap >/dev/null || packages+=(mmdebstrap)
    [ "${#packages[@]}" = 0 ] || install "${packages[@]}"
    [ -e "$formats/register" ] || as_root mount -t binfmt_misc binfmt_misc "$formats"
    for name in qemu-aarch64 qemu-arm; do
        [ -e "$formats/$name" ] || as_root update-binfmts --enable "$name"
    done
}

# Runs a command to its end, looks twice a second at what the emulated programs below it have in memory in sum
# (Pss: shared pages count once), and fails where that is more than 256 MiB without what is qemu's own.
with_memory() {
    local leader now own most=0 own_most=0 code=0
    export -f in_chroot
    # shellcheck disable=SC2016
    setsid bash -c '"$@"' bash "$@" &
    leader=$!
    while kill -0 "$leader" 2>/dev/null; do
        read -r now own < <(memory_of_session "$leader")
        most=$((now > most ? now : most))
        own_most=$((own > own_most ? own : own_most))
        sleep 0.5
    done
    wait "$leader" || code=$?
    say "memory: $((most / 1024)) MiB at most, and $((own_most / 1024)) MiB for qemu itself"
    if [ "$most" = 0 ] || [ "$most" -gt $((256 << 10)) ]; then
        say "wanted: 256 MiB at most"
        code=1
    fi
    return "$code"
}

# KiB that emulated programs of a session have, and KiB that qemu has for itself: its file, its heap (theirs has no
# name), and what it translates to (it lets nothing else be written and executed).
memory_of_session() {
    local pid
    for pid in $(ps -o pid= -s "$1"); do
        case $(readlink "/proc/$pid/exe") in */qemu-*) cat "/proc/$pid/smaps" 2>/dev/null || true ;; esac
    done | awk '
        /^[0-9a-f]+-[0-9a-f]+ / { is_own = $2 ~ /wx/ || $6 ~ /qemu-|\[heap\]/ }
        /^Pss:/ { sum[is_own] += $2 }
        END { print sum[0] + 0, sum[1] + 0 }
    '
}

# Verifies `embedded` on the devices of an API in the chroot; what it says at the end.
verify_embedded() {
    local root=$1 api=$2 log code=0
    log=$(mktemp)
    say "embedded on $api"
    with_memory in_chroot "$root" gpubench run embedded --verify --backend "$api" --budget 1200 --quiet \
        --output /tmp/results >"$log" || code=$?
    sed -n '/ verified, /,$p' "$log"
    rm "$log"
    return "$code"
}

test_arm64() {
    local root target file arm64=${arm_targets[0]} arm32=${arm_targets[1]}
    root=$(realpath -m "$1")
    ensure_arm
    say "building"
    with_linkers_and_no_tables cargo build --release --locked --quiet --target "$arm64" --target "$arm32"
    for target in "${arm_targets[@]}"; do
        file=target/$target/release/gpubench
        say "$target: $(stat -c %s "$file") bytes"
        [ "$(stat -c %s "$file")" -le $((14 << 20)) ] || { say "wanted: 14 MiB at most"; return 1; }
    done
    if [ ! -e "$root/etc/debian_version" ]; then
        say "a Debian for arm64 in $root"
        as_root mmdebstrap --architectures=arm64 --variant=minbase \
            --include=ocl-icd-libopencl1,libvulkan1,pocl-opencl-icd,mesa-vulkan-drivers "$(debian_release)" "$root"
    fi
    cp "target/$arm64/release/gpubench" "$root/usr/bin/"
    in_chroot "$root" gpubench devices
    verify_embedded "$root" opencl
    verify_embedded "$root" wgpu
    say "arm32: a simulated device"
    QEMU_LD_PREFIX=/usr/arm-linux-gnueabihf with_memory "target/$arm32/release/gpubench" run embedded \
        --sim k40c --rounds 1 --quiet --output "$(mktemp -d)" | sed -n '/ verified, /,$p'
    say "tests of core and stats"
    QEMU_LD_PREFIX=/usr/aarch64-linux-gnu with_linkers cargo test --locked --quiet --lib --target "$arm64" \
        -p gpubench-core -p gpubench-stats
    say "qemu as the command of --on"
    cargo test --locked --features require-qemu --test remote another_architecture
}
