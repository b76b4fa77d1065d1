#!/bin/sh
# Follows docs/howto/ci.md in a fresh folder, again and again: with a slowdown of 10 % put in (wanted: red in 9 of 10)
# and with none (wanted: never red in 20).
#
#     benches/ci.sh [BINARY [DEVICE [SLOWED [UNCHANGED]]]]   (default: target/release/gpubench opencl:0 10 20)
#
# Old and new are measured in turn. With AGAINST=baseline a baseline is made once, and all is compared with it. KEEP=FOLDER
# keeps what was measured there.
#
# With DEVICE `sim` the device is simulated, and its memory is slowed by 10 % (its time hangs on memory, not on the
# kernels' text), so that it is compared with a baseline. That tests the logic in seconds. Every other try without a
# slowdown then has another speed: all of the device, clock and memory, is 30 % slower, which must not be red either.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "${1:-$here/../target/release/gpubench}")
device=${2:-opencl:0}
slowed=${3:-10}
unchanged=${4:-20}
against=${AGAINST:-turn}
[ "$device" != sim ] || against=baseline
folder=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"
folder=$(realpath "$folder")
export XDG_CONFIG_HOME="$folder"   # where the trust in these kernels is noted
cd "$folder"

mkdir -p new old
cp "$here"/slower/suite.yaml "$here"/slower/work.* new
# A simulated launch costs what it costs: larger sizes, so that memory decides.
[ "$device" != sim ] || sed -i 's/^\( *sizes: &sizes\) .*/\1 { n: [1048576] }/' new/suite.yaml
plain() { cp new/work.cl new/one.cl && cp new/work.wgsl new/one.wgsl; }
plain
cp new/* old

measure() { # FOLDER MORE…: on the device or its simulation
    out=$1
    shift
    if [ "$device" = sim ]; then
        set -- --sim gpu.yaml "$@"
    else
        set -- --device "$device" "$@"
    fi
    if [ "$against" = turn ]; then
        set -- --against old/suite.yaml "$@"
    fi
    "$binary" run new/suite.yaml --trust --rounds 5 --quiet --output "$out" "$@" >/dev/null
}
describe() { # FACTOR of the clock's speed, FACTOR of the memory's
    [ "$device" = sim ] || return 0
    sed "s/^clock: .*/clock: $(awk "BEGIN { print 0.745e9 * $1 }")/
         s/^  bandwidth: .*/  bandwidth: $(awk "BEGIN { print 288e9 * $2 }")/
         s/^  latency: 403.*/  latency: $(awk "BEGIN { print 403e-9 / $2 }")/" \
        "$here/../crates/device/src/sim/devices/tesla-k40c.yaml" >gpu.yaml
}
slow() { for ending in cl wgsl; do sed 's/ < STEPS;/ < STEPS + STEPS \/ 10u;/' new/work.$ending >new/one.$ending; done; }

describe 1 1
# `baseline save` refuses runs during which the machine changed its speed: then the baseline is made again.
# On a machine that never keeps its speed, SAVE='--allow drift' takes what there is.
made=0
until [ "$against" = turn ] || { measure aa --repeat 3 && "$binary" baseline save aa ${SAVE:-}; }; do
    made=$((made + 1))
    [ "$made" -lt 10 ] || { echo "no baseline in 10 tries: the machine is not quiet"; exit 1; }
    rm -rf aa
done

red() { # TRY: whether the gate is red; prints its first line
    try=$1
    code=0
    "$binary" compare "$try"/*.jsonl --fail-on slower:5,unverified,missing >"$try.txt" || code=$?
    echo "$try: exit $code, $(head -n 1 "$try.txt")"
    [ "$code" -ne 0 ]
}

found=0
[ "$device" = sim ] || slow
i=1
while [ "$i" -le "$slowed" ]; do
    describe 1 0.9
    measure "slowed$i" --seed "$i"
    if red "slowed$i"; then found=$((found + 1)); fi
    i=$((i + 1))
done
alarms=0
plain
i=1
while [ "$i" -le "$unchanged" ]; do
    if [ $((i % 2)) -eq 0 ]; then describe 0.7 0.7; else describe 1 1; fi
    measure "unchanged$i" --seed "$((100 + i))"
    if red "unchanged$i"; then alarms=$((alarms + 1)); fi
    i=$((i + 1))
done
echo "slowdown of 10 %: found in $found of $slowed tries; none: red in $alarms of $unchanged tries"
[ "$((10 * found))" -ge "$((9 * slowed))" ] && [ "$alarms" -eq 0 ]
