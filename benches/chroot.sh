#!/bin/sh
# A system of Debian 13 in a folder, whose drivers are PoCL 6, rusticl and lavapipe 25, and clpeak: what
# `CHROOT=FOLDER benches/ceilings_and_clpeak.sh` wants. As root; debootstrap fetches it from Debian's mirror.
#
#     benches/chroot.sh FOLDER          makes it, or mounts it again; SUITE=forky of Debian's testing
#     benches/chroot.sh FOLDER end      unmounts what it mounted
set -eu
[ "$#" -ge 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1
if [ "${2:-}" = end ]; then
    for mounted in proc dev sys; do
        umount -R "$folder/$mounted"
    done
    exit
fi
if [ ! -d "$folder/etc" ]; then
    command -v debootstrap >/dev/null || { echo "no debootstrap (apt-get install debootstrap)" >&2; exit 1; }
    packages=ca-certificates,pocl-opencl-icd,ocl-icd-libopencl1,mesa-vulkan-drivers,mesa-opencl-icd,libvulkan1,clpeak
    # Debian 12's debootstrap knows no later suite by name.
    debootstrap --variant=minbase --include="$packages" "${SUITE:-trixie}" "$folder" http://deb.debian.org/debian \
        /usr/share/debootstrap/scripts/sid
fi
for mounted in proc dev sys; do
    mountpoint -q "$folder/$mounted" || mount --rbind "/$mounted" "$folder/$mounted"
    mount --make-rslave "$folder/$mounted"
done
echo "its drivers: CHROOT=$folder benches/ceilings_and_clpeak.sh opencl:0 opencl:1 vulkan:0"
