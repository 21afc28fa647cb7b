#!/usr/bin/env bash
# Measures copies between memory tiers, as a phase of bench/gpu.sh:
#   - Saved activations on the host, under a cap of four fifths of what the run takes without: its block over the
#     cap, its step over that of the run without, the rate of the copies, and how much of their time is hidden.
#     A layer is so wide that its arithmetic takes longer than its copies over PCIe 5.
#   - GPT-2 1558M under a cap of half its state, all of which is on the host: operations a second.
set -u
. bench/gpu/run.sh
failed=0
# ratio A B: B over A.
ratio() { [ -z "$1" ] || [ -z "$2" ] || awk -v a="$1" -v b="$2" 'BEGIN { if (a > 0) printf "%.5f", b / a }'; }
# Of the last step: bytes and seconds of the copies, and seconds that a rank has waited for them.
copied() {
    awk -F, '$1 > last { last = $1; bytes = s = waited_s = 0 }
        $4 == "copy" { bytes += $11; s += $10 }
        $5 ~ /^\(.*(COPY|MOVE).*WAIT$/ { waited_s += $10 }
        END { if (s > 0) print bytes, s, waited_s < s ? waited_s : s }' "$work/tiers.csv"
}
activations() {
    local without_s without_bytes cap bytes s waited_s
    local run_length='--steps 4' sizes=(8 4096 32 --np 1 --schedule gpipe --mbs 2 --micro-batches 8 --device-mode streams)
    run tiers-without 40 "${sizes[@]}" || return
    without_s=$run_step_s without_bytes=$(number predicted_peak_mem_bytes)
    cap=$((without_bytes * 4 / 5))
    run tiers-activations 40 "${sizes[@]}" --offload a=host --device-memory "$cap" --trace "$work/tiers.csv" || return
    figure tiers_peak_over_cap "$(ratio "$cap" "$(number predicted_peak_mem_bytes)")"
    figure tiers_step_over_without "$(ratio "$without_s" "$run_step_s")"
    read -r bytes s waited_s < <(copied) || return
    figure tiers_copied_bytes_per_s "$(ratio "$s" "$bytes")"
    figure tiers_hidden_frac "$(ratio "$s" "$(awk -v s="$s" -v w="$waited_s" 'BEGIN { print s - w }')")"
}
# A parameter has 18 bytes of state in bf16. The emulated model is nearly all buffers.
twice() {
    local parameters=1557611200 cap
    cap=$((parameters * 18 / 2))
    [ "$kind" = cuda ] || cap=16000000
    run_length='--steps 3' run tiers-twice 60 48 1600 25 --np 1 --schedule gpipe --mbs 4 --micro-batches 8 --offload p,g,os=host \
        --cpu-optimizer --gather layer --recompute full --device-memory "$cap" --device-mode streams || return
    figure tiers_state_over_memory "$(ratio "$(number predicted_peak_mem_bytes)" $((parameters * 18)))"
    [ "$run_mfu_frac" = null ] || figure tiers_flops_per_s "$(awk -v m="$run_mfu_frac" -v p="$peak" 'BEGIN { print m * p }')"
}
activations || failed=1
twice || failed=1
exit $failed
