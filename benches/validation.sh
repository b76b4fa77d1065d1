#!/usr/bin/env bash
# Khronos' validation layer over all that gpubench asks of Vulkan: every case of the suites is built, launched once and
# verified under core and synchronization validation. Prints what it counted, and fails where there was a message.
#
#     benches/validation.sh [BINARY [SUITE…]]     (default: target/release/gpubench all overlap streams concurrency)
#
# GPU=1 asks for GPU-assisted validation in place of synchronization: both at once the layer does not promise.
# DEVICE=vulkan-share:0 names another device, FILTER=WORD some workloads, SECONDS_EACH=2400 the time for a suite, TIMEOUT=1800
# that for a case, KEEP=FOLDER keeps logs and results.
# Needs Debian's vulkan-validationlayers; later layers (1.4.363) write another form, which is read, too. The layer slows
# everything down: no time that is printed means anything.
set -euo pipefail

binary=$(realpath "${1:-target/release/gpubench}")
shift || true
[ $# -gt 0 ] || set -- all overlap streams concurrency
device=${DEVICE:-vulkan-share:0}
enable=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
[ -z "${GPU-}" ] || enable=VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT
folder=${KEEP:-$(mktemp -d)}
mkdir -p "$folder"
[ -n "${KEEP-}" ] || trap 'rm -rf "$folder"' EXIT

# Every worker opens the log anew and would forget the others' messages: all of them write into one pipe.
mkfifo "$folder/pipe"
exec 3<>"$folder/pipe"
cat > "$folder/vk_layer_settings.txt" <<END
khronos_validation.enables = $enable
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn,perf,info
khronos_validation.log_filename = $folder/pipe
END
export VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation VK_LAYER_SETTINGS_PATH=$folder

# What the layer complains of, not counting that these settings have newer names.
messages() {
    grep -E '\((ERROR|WARN|PERF)[A-Z]* / |^Validation (Error|Warning|Performance)' | grep -v 'VALIDATION-SETTINGS' \
        | sed 's/: msgNum.*//' || true
}

# `gpubench run SUITE` as every case is verified, and what the layer wrote meanwhile.
check() {
    local suite=$1 name log code=0 active messages
    name=$(basename "${suite%.yaml}")
    log=$folder/$name.log
    cat <&3 > "$log" &
    local reader=$!
    "$binary" run "$suite" --device "$device" --verify --rounds 1 --seed 1 ${FILTER:+--filter "$FILTER"} \
        --timeout "${TIMEOUT:-1800}" --budget "${SECONDS_EACH:-2400}" --quiet \
        --output "$folder/$name.jsonl" > "$folder/$name.txt" 2>&1 || code=$?
    sleep 1
    kill "$reader"
    active=$(grep -cE "Current Enables: ${enable%_EXT}|^  - (Synchronization|GPU-AV|GPU Assisted)" "$log" || true)
    messages=$(messages < "$log" | wc -l)
    echo "$name: exit code $code, $(grep -E '✓ .* verified' "$folder/$name.txt" | sed 's/^ *//' || true)"
    echo "$name: the layer was active in $active processes, $messages messages"
    messages < "$log" | sort | uniq -c
    # Where the layer never spoke, it was not there, and no message means nothing.
    [ "$active" -gt 0 ] && [ "$messages" = 0 ] && [ "$code" = 0 ]
}

failed=0
for suite in "$@"; do
    check "$suite" || failed=1
done
exit "$failed"
