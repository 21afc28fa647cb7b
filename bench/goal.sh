#!/usr/bin/env bash
# Runs steps that `pipesim export --to goal` writes in LogGOPSim and in ATLAHS' fork of it, and prints how far their
# ends are from pipesim's, in nanoseconds. Exit 1 if one is further than rounding explains: 0 in units, else 200.
# With network wires 1/100,000 of the step is allowed. There the latencies of messages that queue overlap.
#
#   TXT2BIN=txt2bin LOGGOPSIM=LogGOPSim ATLAHS=LogGOPSim bench/goal.sh [PIPESIM [SCHEDULE...]]
#
# The variables name programs that are built: of spcl/LogGOPSim (76451de), of sim/LogGOPSim in spcl/atlahs (8837294).
# Without a variable, that program is left out. Network wires are for ATLAHS alone.
set -u
pipesim=${1:-build/sim/pipesim}
shift || true
[ $# -gt 0 ] || set -- 1f1b chimera interleaved zbv dualpipe hanayo seq1f1b zb-h1
: "${TXT2BIN:?names the txt2bin of LogGOPSim}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0

# end PROGRAM: its last time.
end() {
    # shellcheck disable=SC2046
    "$1" -f "$folder/step.bin" --batchmode $(sed -n 's,^// LogGOPSim[^-]*,,p' "$folder/step.goal") 2>/dev/null |
        sed -n 's/.*finishing time at host [0-9]*: \([0-9]*\).*/\1/p'
}

# difference PROGRAM STEP LIMIT: prints it.
difference() {
    local ns
    [ "$1" ] || { printf ' %10s' -; return; }
    ns=$(end "$1")
    awk -v ns="${ns:-nan}" -v step="$2" -v most="$3" 'BEGIN {
        if (ns == "nan") { printf " %10s", "no end"; exit 1 }
        printf " %+10.0f", ns - step; exit ns - step > most || step - ns > most }' || status=1
}

# row OPTION...: one job.
row() {
    local step limit=200 loggopsim=${LOGGOPSIM:-}
    "$pipesim" export --to goal "$@" -o "$folder/step.goal" 2>"$folder/error" || { printf '%28s %s: %s\n' '' "$*" "$(head -1 "$folder/error")"; return; }
    "$TXT2BIN" -i "$folder/step.goal" -o "$folder/step.bin" >/dev/null || status=1
    step=$(sed -n 's,^// predicted step: \(.*\) ns,\1,p' "$folder/step.goal")
    [[ $* != *--unit* ]] || limit=0
    [[ $* != *'--wires network'* ]] || limit=$((${step%.*} / 100000))
    [[ $* == *--unit* || $* == *'--wires fixed'* ]] || loggopsim=
    printf '%16.0f' "$step"
    difference "$loggopsim" "$step" "$limit"
    difference "${ATLAHS:-}" "$step" "$limit"
    printf '  %s\n' "$*"
}

printf '%16s %10s %10s\n' 'pipesim ns' LogGOPSim ATLAHS
for schedule; do
    for c in 0 0.25 5; do
        for pp in 4 8 32; do
            row --schedule "$schedule" --pp $pp --micro-batches $((2 * pp)) --unit "F=1,I=1,W=1,C=$c"
        done
    done
    for wires in fixed network; do
        row --schedule "$schedule" --model llama2-13b --tp 1 --pp 4 --dp 1 --micro-batches 8 --engine dag --wires $wires
        row --schedule "$schedule" --model llama2-7b --tp 1 --pp 8 --dp 4 --micro-batches 16 --engine dag --no-fold --wires $wires
        row --schedule "$schedule" --model gpt2-64 --tp 4 --pp 8 --dp 4 --micro-batches 16 --engine dag --wires $wires
        row --schedule "$schedule" --model gpt3-175b --tp 8 --pp 32 --dp 2 --micro-batches 64 --engine dag --wires $wires
    done
done
exit $status
