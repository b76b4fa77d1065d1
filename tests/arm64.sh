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
    # It asks the other whether the kernel runs such programs.
    { command -v mmdebstrap && command -v arch-test; } >/dev/null || packages+=(mmdebstrap arch-test)
    [ "${#packages[@]}" = 0 ] || install "${packages[@]}"
    [ -e "$formats/register" ] || as_root mount -t binfmt_misc binfmt_misc "$formats"
    for name in qemu-aarch64 qemu-arm; do
        [ -e "$formats/$name" ] || as_root update-binfmts --enable "$name"
    done
}

# Where qemu is to lay the memory of the programs that it emulates, which sets it apart from its own: addresses of the
# host from the first to the second. A 64-bit program is kept there by a reservation; a 32-bit one never leaves.
guest_begin=100000000000 guest_end=108000000000
in_64_bits=(QEMU_GUEST_BASE=0x$guest_begin QEMU_RESERVED_VA=0x8000000000)
in_32_bits=(QEMU_GUEST_BASE=0x$guest_begin)

# Runs a command to its end, looks five times a second at what the emulated programs below it have in memory in sum
# (Pss: shared pages count once), and fails where that is more than so many MiB, or where none was seen.
with_memory() {
    local limit=$1 leader now own most=0 own_most=0 code=0
    shift
    export -f in_chroot
    # shellcheck disable=SC2016
    setsid bash -c '"$@"' bash "$@" &
    leader=$!
    while kill -0 "$leader" 2>/dev/null; do
        read -r now own < <(memory_of_session "$leader")
        most=$((now > most ? now : most))
        own_most=$((own > own_most ? own : own_most))
        sleep 0.2
    done
    wait "$leader" || code=$?
    say "memory: $((most / 1024)) MiB at most, and $((own_most / 1024)) MiB for qemu itself"
    if [ "$most" = 0 ] || [ "$most" -gt $((limit << 10)) ]; then
        say "wanted: $limit MiB at most"
        code=1
    fi
    return "$code"
}

# KiB that emulated programs of a session have, their libraries included, and KiB that qemu has for itself. A mapping that
# grows while the kernel lists them stands in the list twice.
memory_of_session() {
    local pid
    for pid in $(ps -o pid= -s "$1"); do
        case $(readlink "/proc/$pid/exe") in */qemu-*) echo "process $pid"; cat "/proc/$pid/smaps" 2>/dev/null || true ;; esac
    done | awk -v "begin=$guest_begin" -v "end=$guest_end" '
        /^process / { process = $2 }
        /^[0-9a-f]+-[0-9a-f]+ / {
            address = "x" $1
            mapping = process " " substr($1, 1, index($1, "-") - 1)
            is_guest[mapping] = address >= "x" begin && address < "x" end
        }
        /^Pss:/ && $2 > held[mapping] { held[mapping] = $2 }
        END {
            for (mapping in held) sum[is_guest[mapping]] += held[mapping]
            print sum[1] + 0, sum[0] + 0
        }
    '
}

# Verifies `embedded`, or what options leave of it, on the devices of an API in the chroot, in so many MiB; what it says
# at the end.
verify_embedded() {
    local root=$1 limit=$2 api=$3 log code=0
    shift 3
    log=$(mktemp)
    say "embedded on $api $*"
    with_memory "$limit" in_chroot "$root" env "${in_64_bits[@]}" gpubench run embedded --verify --backend "$api" --budget 1200 \
        --quiet --output /tmp/results "$@" >"$log" || code=$?
    sed -n '/ verified, /,$p' "$log"
    rm "$log"
    return "$code"
}

# Runs the tests of an API's devices in the chroot, on its driver.
tests_there() {
    local root=$1 target=$2 api=$3 program
    say "tests of $api"
    program=$(with_linkers cargo test --locked --quiet --no-run --target "$target" --features "require-$api" --test "$api" \
        --message-format json | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | grep "/$api-") &&
        cp "$program" "$root/tmp/$api-tests" &&
        in_chroot "$root" "/tmp/$api-tests" --quiet
}

test_arm64() {
    local root target file api arm64=${arm_targets[0]} arm32=${arm_targets[1]} code=0
    root=$(realpath -m "$1")
    ensure_arm
    say "building"
    with_linkers_for_release cargo build --release --locked --quiet --target "$arm64" --target "$arm32"
    for target in "${arm_targets[@]}"; do
        file=target/$target/release/gpubench
        say "$target: $(stat -c %s "$file") bytes"
        [ "$(stat -c %s "$file")" -le $((14 << 20)) ] || { say "wanted: 14 MiB at most"; code=1; }
    done
    if [ ! -e "$root/usr/share/doc/libclblast1" ]; then
        say "a Debian for arm64 in $root"
        as_root mmdebstrap --architectures=arm64 --variant=minbase \
            --include=ocl-icd-libopencl1,libvulkan1,pocl-opencl-icd,mesa-vulkan-drivers,libclblast1 "$(debian_release)" "$root"
    fi
    cp "target/$arm64/release/gpubench" "$root/usr/bin/"
    in_chroot "$root" gpubench devices
    # First with nothing compiled: PoCL compiles inside of the process, which takes most of the memory. Then from its cache.
    rm -rf "$root/root/.cache"
    for api in opencl opencl wgpu; do verify_embedded "$root" 256 "$api" || code=1; done
    # What only Vulkan itself has.
    verify_embedded "$root" 256 vulkan --filter zero-copy || code=1
    say "arm32: a simulated device"
    with_memory 256 env QEMU_LD_PREFIX=/usr/arm-linux-gnueabihf "${in_32_bits[@]}" "target/$arm32/release/gpubench" \
        run embedded --sim k40c --rounds 1 --quiet --output "$(mktemp -d)" | sed -n '/ verified, /,$p' || code=1
    for api in opencl wgpu; do tests_there "$root" "$arm64" "$api" || code=1; done
    say "tests of core and stats"
    QEMU_LD_PREFIX=/usr/aarch64-linux-gnu with_linkers cargo test --locked --quiet --lib --target "$arm64" \
        -p gpubench-core -p gpubench-stats
    say "qemu as the command of --on"
    cargo test --locked --features require-qemu --test remote another_architecture
    return "$code"
}
