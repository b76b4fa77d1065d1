#!/bin/sh
# Runs a command while every processor is kept awake, which makes times of drivers on the processor steadier.
#
#     benches/awake.sh COMMAND…
#
# A processor that falls asleep between two launches takes time to wake up. One endless loop a processor, of the class that
# runs only where nothing else wants to, keeps them awake; what is measured takes the processor from it at once. On a
# machine of your own `cpupower idle-set -D 0` does the same (docs/howto/quiet.md).
set -eu
[ "$#" -gt 0 ] || { echo "usage: benches/awake.sh COMMAND…" >&2; exit 2; }
for program in chrt taskset; do
    command -v "$program" >/dev/null || { echo "awake.sh: $program is missing (Debian: util-linux)" >&2; exit 2; }
done
loops=
command=
end() { kill $loops $command 2>/dev/null || :; }
trap end EXIT
# The command ends as it does on such a signal, and its loops with it.
trap 'kill -INT "$command" 2>/dev/null || :' INT
trap 'kill -TERM "$command" 2>/dev/null || :' TERM
for range in $(taskset -pc $$ | sed 's/.*: //' | tr ',' ' '); do
    processor=${range%-*}
    while [ "$processor" -le "${range#*-}" ]; do
        chrt --idle 0 taskset -c "$processor" sh -c 'while :; do :; done' &
        loops="$loops $!"
        processor=$((processor + 1))
    done
done
"$@" &
command=$!
# A signal ends the waiting, not the command.
code=0
wait "$command" || code=$?
while kill -0 "$command" 2>/dev/null; do
    code=0
    wait "$command" || code=$?
done
command=
exit "$code"
