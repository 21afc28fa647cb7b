#!/usr/bin/env bash
# Training runs of pipeexec on the device, predicted and measured, as a part of bench/gpu.sh: a JSON
# list. A run that fails or takes too long is an entry that says so.
#
# mfu_frac is that of a device: in `streams` and `partition` (the wall clock) ranks share one, in `serial`
# (the virtual clock) each has its own. Operations of a token: 6 parameters + 6 layers seq hidden (llm.c's
# form: a causal half of attention, no recomputation).
set -u
. bench/gpu/within.sh
peak=$(sed -n 's/.*"bf16_flops_per_s": \([0-9.e+]*\).*/\1/p' <<<"$about")
vocab=50304 seq=1024
[ "$kind" = cuda ] || vocab=96 seq=8
"$work/build/kernels" tokens "$work/tokens.bin" 2000000 $vocab

# name; limit in seconds; layers hidden heads; options.
small='12 768 12'
runs() {
    cat <<END
one-rank;30;$small;--np 1 --schedule 1f1b --mbs 16 --micro-batches 4 --device-mode streams --clock wall
one-rank-large;30;36 1280 20;--np 1 --schedule 1f1b --mbs 8 --micro-batches 4 --device-mode streams --clock wall
one-rank-xl;40;48 1600 25;--np 1 --schedule 1f1b --mbs 4 --micro-batches 4 --device-mode streams --clock wall
$(for schedule in '1f1b' 'gpipe' 'interleaved --vp 3' 'zb-h1' 'zbv' 'chimera' 'hanayo' 'dualpipev'; do
        echo "serial-${schedule%% *};20;$small;--np 4 --schedule $schedule --mbs 4 --micro-batches 16 --device-mode serial"
    done)
serial-zbv-from-1f1b;25;$small;--np 4 --schedule zbv --calibrate-on 1f1b --mbs 4 --micro-batches 16 --device-mode serial
$(for schedule in '1f1b' 'zb-h1' 'zbv' 'interleaved --vp 3'; do
        echo "partition-${schedule%% *};20;$small;--np 4 --schedule $schedule --mbs 4 --micro-batches 16 --device-mode partition"
    done)
streams-1f1b;20;$small;--np 4 --schedule 1f1b --mbs 4 --micro-batches 16 --device-mode streams
streams-zbv;20;$small;--np 4 --schedule zbv --mbs 4 --micro-batches 16 --device-mode streams
END
}
# All gradients and weights are those of one rank, to the bit.
exact='exact-zbv;25;4 768 12;--np 2 --schedule zbv --mbs 2 --micro-batches 4 --exact-grad --check --device-mode serial'

number() { sed -n "s/^  \"$1\": \([^,]*\),*\$/\1/p" "$2" | head -n 1; }

separator=
run() { # NAME LIMIT_S LAYERS HIDDEN HEADS OPTIONS...
    local name=$1 limit_s=$2 layers=$3 hidden=$4 heads=$5 status=0 devices=1
    shift 5
    if [ "$kind" = emulated ]; then limit_s=$((4 * limit_s)) layers=8 hidden=16 heads=2; fi
    local options=(--backend cuda --precision bf16 --model gpt2 --layers $layers --hidden $hidden --heads $heads
        --vocab $vocab --seq $seq --data "$work/tokens.bin" --tokens u16 --steps 6 "$@")
    [[ $name = exact* ]] || options+=(--no-check)
    [[ " $* " != *" --device-mode serial "* ]] || devices=$(sed 's/.*--np \([0-9]*\).*/\1/' <<<"$*")
    timeout -k 2 "$(within "$limit_s")" "$work/build/pipeexec" "${options[@]}" --json >"$work/run.json" 2>"$work/run.err" || status=$?
    printf '%s  {"name": "%s", "options": "%s", "status": %d' "$separator" "$name" "$*" $status
    separator=$',\n'
    if [ $status -ne 0 ]; then
        printf ', "message": "%s"}' "$(tail -n 4 "$work/run.err" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"
        echo "$name: exit code $status: $(head -n 1 "$work/run.err")" >&2
        return
    fi
    for key in step_s step_low_s step_high_s predicted_step_s model_error_frac null_error_frac structural_error_s \
        unattributed_s bubble_frac predicted_bubble_frac peak_mem_bytes predicted_peak_mem_bytes clock precision; do
        printf ', "%s": %s' $key "$(number $key "$work/run.json" | grep . || echo null)"
    done
    awk -v text="$(tr -d '\n' <"$work/run.json" | sed 's/.*"losses": \[\([^]]*\)\].*/\1/; s/  */ /g')" 'BEGIN { printf ", \"losses\": [%s]", text }'
    printf ', "bit_equal": %s' "$(grep -o '"bit_equal": [a-z]*' "$work/run.json" | head -n 1 | sed 's/.*: //' | grep . || echo null)"
    awk -v s="$(number step_s "$work/run.json")" -v gbs="$(sed -n 's/^    "gbs": \([0-9]*\),*$/\1/p' "$work/run.json")" \
        -v l=$layers -v h=$hidden -v v=$vocab -v t=$seq -v peak="${peak:-0}" -v devices="$devices" -v name="$name" \
        -v predicted="$(number predicted_step_s "$work/run.json")" 'BEGIN {
        parameters = (v + t) * h + l * (12 * h * h + 13 * h) + 2 * h
        tokens_per_s = gbs * t / s
        mfu = peak > 0 ? tokens_per_s * (6 * parameters + 6 * l * t * h) / peak / devices : -1
        printf ", \"devices\": %d, \"tokens_per_s\": %.6g, \"mfu_frac\": %s}", devices, tokens_per_s, mfu < 0 ? "null" : sprintf("%.4f", mfu)
        printf "%-22s %9.3f ms, predicted %9.3f ms (%+.1f %%), %9.0f tokens/s, MFU %s\n", name, 1e3 * s, 1e3 * predicted,
            100 * (predicted / s - 1), tokens_per_s, mfu < 0 ? "unknown" : sprintf("%.1f %%", 100 * mfu) >"/dev/stderr" }'
}

echo '['
while IFS=';' read -r name limit_s shape options; do
    # shellcheck disable=SC2086
    run "$name" "$limit_s" $shape $options
done < <(echo "$exact"; runs)
printf '\n]\n'
