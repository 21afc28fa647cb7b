#!/usr/bin/env bash
# GPT-2 in three sizes on one rank, as a phase of bench/gpu.sh. Micro-batches have 16,384 tokens, so that
# multiplications fill the device. The smallest also has 65,536, which suit it better.
set -u
. bench/gpu/run.sh
failed=0 own=0 run_clocks=yes
model() { # NAME LIMIT_S SHAPE SAMPLES
    # shellcheck disable=SC2086
    run "$1" "$2" $3 --np 1 --schedule 1f1b --mbs "$4" --micro-batches 4 --device-mode streams --clock wall || failed=1
    figure "mfu_$1_frac" "$run_mfu_frac"
    figure "tokens_per_s_$1" "$run_tokens_per_s"
    own=$((own + ${run_own:-0}))
}
model gpt2 30 "$small" 16
model gpt2_64 30 "$small" 64
model gpt2_large 40 '36 1280 20' 16
model gpt2_xl 60 '48 1600 25' 16
figure own_multiplications $own
exit $failed
