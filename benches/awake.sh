#!/bin/sh
# Runs a command while every processor is kept awake, which makes times of drivers on the processor steady.
#
#     benches/awake.sh COMMAND…
#
# A processor that falls asleep between two launches takes time to wake up, and on a virtual machine the scheduler takes
# one that sleeps for one that is not there: it puts both threads of a driver on the other, and a kernel takes twice as
# long until it moves one. One endless loop a processor, of the class that runs only where nothing else wants to, keeps
# them awake; what is measured takes the processor from it at once. On a machine of your own `cpupower idle-set -D 0`
# does the same (docs/howto/quiet.md).
set -eu
[ "$#" -gt 0 ] || { echo "usage: benches/awake.sh COMMAND…" >&2; exit 2; }
spinners=
trap 'kill $spinners 2>/dev/null' EXIT
for processor in $(taskset -pc $$ | sed 's/.*: //' | tr ',' ' '); do
    first=${processor%-*}
    last=${processor#*-}
    while [ "$first" -le "$last" ]; do
        chrt --idle 0 taskset -c "$first" sh -c 'while :; do :; done' &
        spinners="$spinners $!"
        first=$((first + 1))
    done
done
"$@"
