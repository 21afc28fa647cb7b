#!/usr/bin/env bash
# cuda_predicted.sh PIPEEXEC [RANKS]: the wall clock of a device that obeys a law (PP_EMULATED_LAW) is
# predicted. The error is at most 1 % from another schedule with as many chunks on a rank, and 0.5 % from
# its own steps. A full backward has fewer kernels than its two passes. So from a schedule with the
# other kind of backward the error is at most 16 %, where kernels take no time but their launch.
# On that device all time is launches, waits for events and the latency of copies. That is never so with
# large models. So a message or a wait that the prediction leaves out shows.
set -u
pipeexec=$1 ranks=${2:-2}
export PP_EMULATED_LAW=1000
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# predict SCHEDULE OPTIONS...: its error, without sign
predict() {
    "$pipeexec" --backend cuda --device-mode partition --np "$ranks" --layers $((4 * ranks)) --hidden 16 --heads 2 --seq 8 --mbs 2 \
        --micro-batches $((2 * ranks)) --steps 3 --warmup 1 --no-check --json --schedule "$@" 2>"$folder/error" |
        sed -n 's/^  "model_error_frac": -*\([0-9.e-]*\),$/\1/p'
}

number=0
# told TEXT STATUS
told() {
    number=$((number + 1))
    [ "$2" -eq 0 ] && echo "ok $number - $1" || echo "not ok $number - $1 $(head -n 1 "$folder/error")"
}
below() { awk -v x="${1:-nan}" -v most="$2" 'BEGIN { exit !(x + 0 == x && x < most) }'; }

for schedule in 1f1b zbv; do
    error=$(predict $schedule)
    below "$error" 0.005
    told "$schedule from its own steps: $error" $?
done
while read -r most from schedules; do
    for schedule in $schedules; do
        error=$(predict "$schedule" --calibrate-on "$from")
        below "$error" "$most"
        told "$schedule from $from: $error" $?
    done
done <<END
0.01 1f1b gpipe eager-1f1b
0.01 zb-h1 zb-h2
0.01 interleaved bfs
0.01 hanayo v-1f1b
0.01 zbv v-half v-min interleaved-zb
0.01 gems chimera
0.16 zb-h1 1f1b
0.16 zbv hanayo dualpipev
0.16 gems dualpipe
END
echo "1..$number"
