#!/usr/bin/env bash
# summary.sh FILE.json: the figures of bench/gpu.sh next to their targets, at 80 columns.
set -uo pipefail
file=$1
if ! [ -r "$file" ] || ! grep -q '"schema": "pipesim.gpu/2"' "$file"; then
    echo "bench: error: $file is no result of bench/gpu.sh (schema pipesim.gpu/2)" >&2
    exit 1
fi

# Figure; its target, or - for none; factor and unit of the number shown; meaning.
targets() {
    cat <<END
mfu_gpt2_frac;>= 0.50;100 %;MFU of GPT-2 124M, one rank, bf16
mfu_gpt2_64_frac;>= 0.50;100 %;the same, micro-batches of 64 samples
mfu_gpt2_large_frac;>= 0.57;100 %;MFU of GPT-2 774M
mfu_gpt2_xl_frac;>= 0.60;100 %;MFU of GPT-2 1558M
mfu_best_gpt2_frac;-;100 %;MFU of 124M, best size of micro-batches
mfu_best_gpt2_samples;-;1;samples of these
mfu_best_gpt2_large_frac;-;100 %;MFU of 774M, best size of micro-batches
mfu_best_gpt2_large_samples;-;1;samples of these
mfu_best_gpt2_xl_frac;-;100 %;MFU of 1558M, best size of micro-batches
mfu_best_gpt2_xl_samples;-;1;samples of these
tokens_per_s_gpt2;-;1e-3 k/s;tokens of GPT-2 124M
tokens_per_s_gpt2_large;-;1e-3 k/s;tokens of GPT-2 774M
tokens_per_s_gpt2_xl;-;1e-3 k/s;tokens of GPT-2 1558M
torch_ratio_gpt2;>= 1.1;1 x;speed over PyTorch compiled, 124M
torch_ratio_gpt2_large;>= 1.1;1 x;speed over PyTorch compiled, 774M
torch_ratio_gpt2_xl;>= 1.1;1 x;speed over PyTorch compiled, 1558M
torch_attention_is_cudnn;-;1;PyTorch's attention is cuDNN's, too
torch_gradients_fp32;<= 1e-5;1e6 e-6;gradients beside PyTorch's, fp32, rel. L2
torch_gradients_autocast;-;1e2 %;PyTorch's own in bf16 beside its fp32
torch_gradients_bf16;<= 1e-2;1e2 %;gradients in bf16 beside fp32 of PyTorch
own_multiplications;<= 0;1;multiplications by own, slow kernels
machinery_frac;<= 0.03;100 %;GPU time of four ranks over one's, serial
machinery_wall_frac;-;100 %;the same by the watch, in streams
host_us_per_instruction;<= 5;1 us;host time for an instruction
host_us_without_graphs;-;1 us;the same without graphs of CUDA
step_without_graphs_frac;-;100 %;four parts: a step without graphs, over one
step_with_weight_stream_frac;-;100 %;likewise with --weight-grad-stream
predict_wall_median_frac;<= 0.03;100 %;error of predictions by the wall, median
predict_wall_schedules;>= 12;1;schedules of it, predicted from others
predict_virtual_median_frac;-;100 %;the same, virtual clock, median
predict_virtual_schedules;-;1;schedules of it
probes_failed;<= 0;1;probes of what the code relies on, failed
tests_failed;<= 0;1;tests of kernels that fail on the device
families_failed;<= 0;1;checks of the hub's families that fail
bit_equal_threads;>= 1;1;two ranks train to the bits of one
bit_equal_nccl_2;>= 1;1;two processes by NCCL do
bit_equal_nccl_4;>= 1;1;four processes by NCCL do
bit_equal_ipc_2;>= 1;1;two processes by CUDA-IPC do
bit_equal_ipc_4;>= 1;1;four processes by CUDA-IPC do
message_ms_nccl;-;1 ms;a message by NCCL, 6.3 MB
message_ms_ipc;-;1 ms;a message by CUDA-IPC, 6.3 MB
tiers_peak_over_cap;<= 1;100 %;block over cap, activations on the host
tiers_step_over_without;-;1 x;step of it over the step without
tiers_hidden_frac;-;100 %;its copies' time that arithmetic hides
tiers_copied_bytes_per_s;-;1e-9 GB/s;rate of its copies
tiers_state_over_memory;>= 2;1 x;state of 1558M over its block on the GPU
tiers_flops_per_s;-;1e-12 TF/s;speed of it, all state on the host
quantise_over_copy;>= 0.25;100 %;activations to 8 bits, over a copy
restore_over_copy;>= 0.25;100 %;and back
sanitizer_errors;<= 0;1;programs compute-sanitizer complains about
copied_bytes_per_s;-;1e-9 GB/s;memory, read and written by a copy
multiplied_flops_per_s;-;1e-12 TF/s;cuBLASLt, bf16, 8192 x 8192 x 8192
sustained_flops_per_s;-;1e-12 TF/s;the same for two seconds
END
}
text() { sed -n "s/^\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},*\$/\1/p" "$file" | head -n 1; }
device=$(sed -n 's/^"device": .*"name": "\([^"]*\)".*/\1/p' "$file")
printf '%s, %s, commit %s\n' "$device" "$(text date)" "$(text commit)"
[ "$(text is_emulated)" = false ] || echo 'EMULATED: all parts were tried, no time in here means anything'
own=$(sed -n '/"mfu_frac"/s/.*"attention": "\([^"]*own[^"]*\)".*/\1/p' "$file" | head -n 1)
[ -z "$own" ] || printf 'ATTENTION BY OWN KERNELS: %s\n' "$own" | cut -c 1-80
printf '\n%-26s %-10s %8s\n' phase status seconds
sed -n 's/^ *{"phase": "\([^"]*\)", "status": "\([^"]*\)", .*"seconds": \([0-9]*\).*/\1;\2;\3/p' "$file" |
    awk -F';' '{ printf "%-26s %-10s %8d\n", $1, $2, $3 }'
printf '\n%-42s %10s %12s  %s\n' figure wanted measured ''
{
    sed -n '/^"figures": {/,/^}/p' "$file" | sed -n 's/^ *"\([a-z0-9_]*\)": \([^,]*\),*$/\1 \2/p'
    echo
    targets
} | awk -F';' '
function shown(x, scale, unit) { return sprintf("%.4g%s", x * scale, unit == "" ? "" : " " unit) }
!is_target && $0 == "" { is_target = 1; next }
!is_target { split($0, pair, " "); value[pair[1]] = pair[2]; next }
{
    split($3, shape, " "); split($2, wanted, " ")
    has = $1 in value
    verdict = ""
    if (wanted[1] != "-") {
        verdict = !has ? "not measured" : (wanted[1] == ">=" ? value[$1] + 0 >= wanted[2] + 0 : value[$1] + 0 <= wanted[2] + 0) ? "met" : "MISSED"
        many[verdict]++
    }
    if (has || verdict != "")
        printf "%-42s %10s %12s  %s\n", $4, wanted[1] == "-" ? "" : wanted[1] " " shown(wanted[2], shape[1], shape[2]),
            has ? shown(value[$1], shape[1], shape[2]) : "-", verdict
}
END { printf "\n%d met, %d missed, %d not measured\n", many["met"], many["MISSED"], many["not measured"] }'
