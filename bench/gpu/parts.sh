#!/usr/bin/env bash
# Times of F, I and W in a block, the embedding and the head, as a phase of bench/gpu.sh. Four ranks run one
# micro-batch one op at a time. Ranks in the middle have blocks alone, so they give the time of a block. The
# first and the last rank have the ends in addition. bench/gpu/budget.sh prints the times next to those of kernels.
set -u
. bench/gpu/run.sh
failed=0
# parts NAME WIDTH: rows of the run whose trace was written. An op counts with its median over steps.
parts() {
    local layers
    layers=$(tr -d '\n ' <"$work/run.json" | sed -n 's/.*"layers_by_stage":\[\([0-9,]*\)\].*/\1/p')
    awk -F, -v name="$1" -v width="$2" -v rows=$((16 * seq)) -v layers="$layers" '
    /^#/ { next }
    !cell { for (i = 1; i <= NF; i++) column[$i] = i; cell = column["cell"]; duration = column["duration_s"]; rank = column["rank"]; next }
    $cell ~ /^[0-3][FIW]0$/ { key = $rank substr($cell, 2, 1); took[key, ++count[key]] = $duration }
    function median(key, i, j, x, n) {
        n = count[key]
        for (i = 2; i <= n; i++) {
            x = took[key, i]
            for (j = i - 1; j > 0 && took[key, j] > x; j--) took[key, j + 1] = took[key, j]
            took[key, j + 1] = x
        }
        return (took[key, int((n + 1) / 2)] + took[key, int(n / 2) + 1]) / 2
    }
    function say(pass, part, s) { printf "{\"what\": \"part\", \"model\": \"%s\", \"width\": %d, \"rows\": %d, \"pass\": \"%s\", \"part\": \"%s\", \"time_s\": %.6g}\n", name, width, rows, pass, part, s }
    END {
        if (split(layers, blocks, ",") != 4 || count["0F"] == 0) exit 1
        split("F I W", passes, " ")
        for (i = 1; i <= 3; i++) {
            pass = passes[i]
            block = (median("1" pass) + median("2" pass)) / (blocks[2] + blocks[3])
            say(pass, "block", block)
            say(pass, "embedding", median("0" pass) - block * blocks[1])
            say(pass, "head", median("3" pass) - block * blocks[4])
        }
    }' "$work/trace.csv"
}
model() { # NAME SHAPE
    rm -f "$work/trace.csv"
    # shellcheck disable=SC2086
    run "parts-$1" 25 $2 --np 4 --schedule zb-h1 --mbs 16 --micro-batches 1 --device-mode serial --trace "$work/trace.csv" || { failed=1 && return; }
    read -r _ width _ <<<"$2"
    parts "$1" "$width" || failed=1
}
model gpt2 "$small"
model gpt2_large '36 1280 20'
model gpt2_xl '48 1600 25'
exit $failed
