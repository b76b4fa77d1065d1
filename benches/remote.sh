#!/bin/sh
# What a link costs: the same run here and behind a command, in turn, pair by pair (who begins changes).
#
#     benches/remote.sh [BINARY [DEVICE [PAIRS [COMMAND]]]]   (default: target/release/gpubench opencl:0 20 env)
# The file BINARY must be called gpubench: what stands behind the command looks for that name.
#
# Of each pair: the geometric mean, over the cases that all runs verified, of the time there over the time here. Of all
# pairs: the mean and Student's 95 % interval, and the median with the interval between two pairs in their order, which a
# pair at two speeds of the machine does not widen; for the cases' medians, and for their fastest samples. Wanted: within 1 %.
# Needs Python for the arithmetic. Steadiest: a driver on one thread (POCL_MAX_PTHREAD_COUNT=1 taskset -c 1).
# `awake.sh` keeps the processors awake meanwhile; BUDGET is seconds a run (10), KEEP=FOLDER keeps what was measured there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "${1:-$here/../target/release/gpubench}")
device=${2:-opencl:0}
pairs=${3:-20}
command=${4:-env}
folder=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"
# What leads to a gpubench there finds this one.
PATH=$(dirname "$binary"):$PATH
export PATH

measure() { # WHERE PAIR OPTION…
    out=$folder/$1-$2.jsonl
    seed=$2
    shift 2
    "$binary" run quick --backend "${device%:*}" --device "$device" --rounds 1 --budget "${BUDGET:-10}" \
        --seed "$seed" --quiet --output "$out" "$@" >/dev/null
}
pair=1
while [ "$pair" -le "$pairs" ]; do
    [ $((pair % 2)) = 0 ] || measure here "$pair"
    measure there "$pair" --on "$command"
    [ $((pair % 2)) = 1 ] || measure here "$pair"
    pair=$((pair + 1))
done

"$binary" export "$folder"/*.jsonl | python3 -c '
import csv, math, statistics, sys

rows = [row for row in csv.DictReader(sys.stdin) if row["outcome"] == "ok" and row["median"]]
pairs = int(sys.argv[1])
runs = [(f"here-{i}", f"there-{i}") for i in range(1, pairs + 1)]

def beyond(t, freedom, steps=20000):  # the probability of a larger t, by the integral of its density
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    width = t / steps
    inside = sum((1 + ((i + 0.5) * width) ** 2 / freedom) ** (-(freedom + 1) / 2) for i in range(steps))
    return 0.5 - scale * inside * width

def compare(name, column):
    times = {}
    for row in rows:
        times.setdefault(row["case"], {})[row["run"]] = float(row[column])
    whole = [of for of in times.values() if all(run in of for pair in runs for run in pair)]
    if not whole or pairs < 2:
        sys.exit("no case was verified in all runs, or there is one pair only")
    logs = [statistics.fmean(math.log(of[there] / of[here]) for of in whole) for here, there in runs]
    mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(pairs)
    low, high = 0.0, 100.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle, pairs - 1) > 0.025 else (low, middle)
    ends = [math.exp(mean + sign * low * error) for sign in (-1, 1)]
    ordered = sorted(logs)
    tail, rank = 0.0, -1  # as many pairs below as leaves 2.5 % by coin tosses
    while tail + math.comb(pairs, rank + 1) / 2 ** pairs <= 0.025:
        rank += 1
        tail += math.comb(pairs, rank) / 2 ** pairs
    between = [math.exp(of) for of in (ordered[rank], ordered[-1 - rank])] if rank >= 0 else [0, math.inf]
    cases = sorted(statistics.median(of[there] / of[here] for here, there in runs) for of in whole)
    print(f"{name}, {len(whole)} cases, {pairs} pairs: there over here {math.exp(mean):.4f} ({ends[0]:.4f} to {ends[1]:.4f}), "
          f"median {math.exp(statistics.median(logs)):.4f} ({between[0]:.4f} to {between[1]:.4f}), "
          f"cases from {cases[0]:.3f} to {cases[-1]:.3f}")

compare("median samples", "median")
# What else runs on the machine only adds time.
compare("fastest samples", "min")
' "$pairs"
