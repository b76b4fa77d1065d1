#!/bin/sh
# gpubench's ceilings beside clpeak's and the host's own, driver by driver, measured in turn in one sitting: a Markdown
# table each (wanted: shares of 0.95 and more).
#
#     benches/ceilings_and_clpeak.sh [DEVICE…]                  (default: opencl:0 wgpu:0)
#     CHROOT=FOLDER benches/ceilings_and_clpeak.sh [DEVICE…]    the drivers of a system in a folder, as root
#
# About two minutes a round and device, ROUNDS of them (default: 5); clpeak is of OpenCL alone. What runs in a folder is
# copied there, so that drivers of another release of Debian are held against the same program; `benches/chroot.sh` makes
# one. BUILT=1 builds nothing, and SUBJECT=transfers measures no more than that.
set -eu
cd "$(dirname "$0")/.."
[ "$#" -gt 0 ] || set -- opencl:0 wgpu:0
[ -n "${BUILT:-}" ] || cargo build --release --quiet
rounds=${ROUNDS:-5}
target=${CARGO_TARGET_DIR:-target}
peers=$(cargo bench --bench peers --no-run --message-format json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*peers-[^"]*\)".*/\1/p' | tail -n 1)
[ -x "$peers" ] || { echo "ceilings_and_clpeak.sh: the bench \`peers\` does not build" >&2; exit 1; }
if [ -z "${CHROOT:-}" ]; then
    command -v clpeak >/dev/null || echo "no clpeak: its column stays empty (apt-get install clpeak)" >&2
    for device; do
        "$peers" "$device" "$rounds" ${SUBJECT:+"$SUBJECT"}
    done
    exit
fi
cp "$target/release/gpubench" "$peers" "$CHROOT/tmp/"
for device; do
    # rusticl shows no device unless it is asked for one.
    chroot "$CHROOT" env GPUBENCH=/tmp/gpubench HOME=/tmp RUSTICL_ENABLE="${RUSTICL_ENABLE:-llvmpipe}" \
        "/tmp/${peers##*/}" "$device" "$rounds" ${SUBJECT:+"$SUBJECT"}
done
