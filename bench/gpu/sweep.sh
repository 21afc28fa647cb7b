#!/usr/bin/env bash
# The models of bench/gpu.sh with micro-batches of 16, 32 and 64 samples, as a phase of it. Small micro-batches
# do not fill the device, large ones need memory. A size that does not fit is a row with its message.
set -u
. bench/gpu/run.sh
failed=0 run_clocks=yes
is_too_large() { grep -qE 'needs [0-9]+ MiB|not enough memory' "$work/run.err"; }
declare -A best=() best_samples=()
for samples in 16 32 64; do
    for model in "gpt2;$small" 'gpt2_large;36 1280 20' 'gpt2_xl;48 1600 25'; do
        name=${model%%;*}
        # shellcheck disable=SC2086
        run "$name-$samples" 45 ${model#*;} --np 1 --schedule 1f1b --mbs $samples --micro-batches $((64 / samples)) --device-mode streams --clock wall
        [ "$run_status" -eq 0 ] || { is_too_large || failed=1; continue; }
        if awk -v a="$run_mfu_frac" -v b="${best[$name]:-0}" 'BEGIN { exit !(a > b) }'; then
            best[$name]=$run_mfu_frac best_samples[$name]=$samples
        fi
    done
done
for name in "${!best[@]}"; do
    figure "mfu_best_${name}_frac" "${best[$name]}"
    figure "mfu_best_${name}_samples" "${best_samples[$name]}"
done
exit $failed
