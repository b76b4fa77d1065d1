#!/bin/sh
# Does the comparison see a slowdown, and nothing else? Three runs of ten cases in three rounds on
# one OpenCL device: twice the same kernels, then with one workload (two cases) whose items do 20 %
# more work. No case of the second run may be FASTER or SLOWER than in the first; of the third, the
# slowed two alone are SLOWER.
#
#     benches/slower.sh [BINARY [DEVICE]]      (default: target/release/gpubench opencl:0)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
binary=${1:-$here/../target/release/gpubench}
device=${2:-opencl:0}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CONFIG_HOME="$folder"   # where the trust in these kernels is noted

cp "$here"/slower/* "$folder"
cp "$here/slower/work.cl" "$folder/one.cl"
cp "$here/slower/work.wgsl" "$folder/one.wgsl"
run() { "$binary" run "$folder/suite.yaml" --trust --device "$device" --quiet --output "$folder/$1.jsonl" >/dev/null; }
verdicts() { "$binary" compare "$folder/$1.jsonl" "$folder/first.jsonl" --allow-mismatch; }

run first
run again
sed 's/step < STEPS/step < STEPS + STEPS \/ 5u/' "$here/slower/work.cl" >"$folder/one.cl"
run slowed
echo "== the same kernels"
verdicts again
echo "== chain256 with 20 % more work"
verdicts slowed
