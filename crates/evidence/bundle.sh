#!/usr/bin/env bash
# Runs the book of evidence on a machine that has a GPU, its driver, and nothing else: no compiler, no network.
# One call is one piece of at most 8 minutes; what is done stays done. Call it again until it says that nothing is
# left, then bring every back-*.tgz home: ./x evidence --import FOLDER.
#
#   MINUTES=8   of a piece
#   MACHINE=    what the pages call this machine; its host's name otherwise, which must not be that at home
#   SCALE=1     factor of all time budgets: 0.05 tries everything in a few minutes
#   DEBS=DIR    loaders to unpack first, where the machine lacks them: libvulkan1, ocl-icd-libopencl1, and
#               libegl1 and libglvnd0 for NVIDIA's Vulkan driver (apt-get download them beforehand)
set -uo pipefail
cd "$(dirname "$0")" || exit 1
minutes=${MINUTES:-8}
scale=${SCALE:-1}
max_bytes=$((15 * 1024 * 1024))

say() { printf 'run.sh: %s\n' "$*" >&2; }

# What NVIDIA's driver brings along but does not announce in a container.
loaders() {
    local package driver manifest
    for package in "${DEBS:-/nonexistent}"/*.deb; do [ ! -f "$package" ] || dpkg -x "$package" /; done
    [ -z "${DEBS:-}" ] || ldconfig
    if ! ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1; then
        driver=$(find /usr /lib -xdev -name 'libnvidia-opencl.so.*' 2>/dev/null | head -n 1)
        [ -z "$driver" ] || { mkdir -p /etc/OpenCL/vendors && echo "$driver" >/etc/OpenCL/vendors/nvidia.icd; }
    fi
    manifest=$(find /usr/share/vulkan /etc/vulkan -name 'nvidia_icd*.json' 2>/dev/null | head -n 1)
    [ -z "$manifest" ] || export VK_DRIVER_FILES=$manifest VK_ICD_FILENAMES=$manifest
}

# What this piece finished, packed: the folders with a done.json that no archive holds yet.
pack() {
    local number=1 list archive bytes
    while [ -e "back-$number.tgz" ]; do number=$((number + 1)); done
    list=$(mktemp)
    (cd results && find . -name done.json ! -name packed | while read -r file; do
        folder=${file%/done.json}
        [ -e "$folder/packed" ] || echo "$folder"
    done) >"$list"
    [ -s "$list" ] || { rm "$list"; return; }
    archive=back-$number.tgz
    tar -czf "$archive" -C results --exclude=packed -T "$list"
    while read -r folder; do touch "results/$folder/packed"; done <"$list"
    rm "$list"
    bytes=$(stat -c %s "$archive")
    say "$archive: $bytes bytes"
    [ "$bytes" -le "$max_bytes" ] || say "$archive is larger than $max_bytes bytes: split -b 15M $archive"
}

loaders
[ -z "${MACHINE:-}" ] || set -- --machine "$MACHINE" "$@"
code=0
bin/gpubench-evidence --gpubench bin/gpubench --carried --no-pages --results results \
    --minutes "$minutes" --scale "$scale" "$@" || code=$?
pack
case $code in
    0) say "nothing is left: bring back-*.tgz home" ;;
    10) say "call it again" ;;
    *) say "it failed ($code)" ;;
esac
exit "$code"
