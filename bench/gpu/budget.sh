#!/usr/bin/env bash
# budget.sh: where the time of a training step goes, kernel by kernel: an estimate from shapes and rates,
# and what was measured. So a model that misses its MFU names its kernels.
#
#   bench/gpu/budget.sh [--device 'NAME FLOPS BYTES_PER_S'] [--model NAME:LAYERS:WIDTH]... [FILE.json]
#
# FILE is a result of bench/gpu.sh. Without it there are estimates alone. Usual are an H200 (989e12 and
# 4.8e12 by its data sheet), or the device of FILE, and GPT-2 124M, 774M and 1558M. Micro-batches have 16,384
# tokens, unless FILE says otherwise.
#
# Columns: microseconds of a call, calls in a step, their milliseconds, and their share of the measured step.
# The last column is the part of the step that the kernel loses compared with the device's stated limits.
# A kernel's limit is the longer of its operations at the peak, and its bytes at the bandwidth of memory.
# The estimate is its limit over a fraction. All fractions are in the table below, and they are assumed:
#   - multiplications: 0.80 is what one of 8,192 cubed reaches. Those of blocks have less, due to tails.
#     dW adds in fp32, which takes more.
#   - attention: 290 and 240 of 989 TFLOP/s, as published for cuDNN with heads of 64 and 1,024 tokens.
#   - kernels limited by memory: 0.80 to 0.85 of its bandwidth.
#   - between kernels: 1 us.
# In the measured table a kernel is alone, and its caches are cold. In a step, tensors may still be in the
# cache. Power may lower the clock. The line `unexplained` is the difference. It includes work without a row.
# The last table has the passes of a block and of the ends, as the phase `parts` has measured them.
set -euo pipefail
models=() device=''
while [[ ${1:-} = --* ]]; do
    case $1 in
    --help) exec sed -n '2,26s/^# \{0,1\}//p' "$0" ;;
    --device) [[ ${2:-} =~ ^.+\ [0-9.e+]+\ [0-9.e+]+$ ]] || { echo "bench: error: --device '${2:-}': name, operations and bytes a second; for example 'H200 989e12 4.8e12'" >&2; exit 2; } && device=$2 ;;
    --model) [[ ${2:-} =~ ^[^:\ ]+:[1-9][0-9]*:[1-9][0-9]*$ ]] || { echo "bench: error: --model '${2:-}': name, layers and width; for example gpt2:12:768" >&2; exit 2; } && models+=("$2") ;;
    *) echo "bench: error: unknown option $1; try --help" >&2; exit 2 ;;
    esac
    shift 2
done
file=${1:-/dev/null}
[ $# -eq 0 ] || [ -r "$file" ] || { echo "bench: error: cannot read $file" >&2; exit 1; }
[ $# -eq 0 ] || grep -q '"schema": "pipesim.gpu/2"' "$file" || { echo "bench: error: $file is no result of bench/gpu.sh (schema pipesim.gpu/2)" >&2; exit 1; }
[ ${#models[@]} -ne 0 ] || models=(gpt2:12:768 gpt2_large:36:1280 gpt2_xl:48:1600)
[ -n "$device" ] || [ $# -ne 0 ] || device='H200 989e12 4.8e12'
bandwidth=${device##* } rest=${device% *}

# Kernel; class; pass; part; fraction; calls in a block + at the ends; operations; bytes.
table() {
    cat <<'END'
qkv: bias;multiplications;F;block;0.72;1+0;6nww;4Tnw 3Tww
out: bias, residual;multiplications;F;block;0.72;1+0;2nww;3Tnw 1Tww
up: bias, gelu;multiplications;F;block;0.72;1+0;8nww;9Tnw 4Tww
down: bias, residual;multiplications;F;block;0.72;1+0;8nww;6Tnw 4Tww
head;multiplications;F;head;0.75;0+1;2nwv;1Tnw 1Tvw 1Tnv
qkv dx;multiplications;I;block;0.72;1+0;6nww;4Tnw 3Tww
out dx;multiplications;I;block;0.72;1+0;2nww;2Tnw 1Tww
up dx;multiplications;I;block;0.72;1+0;8nww;5Tnw 4Tww
down dx: slope of gelu;multiplications;I;block;0.72;1+0;8nww;9Tnw 4Tww
head dx;multiplications;I;head;0.75;0+1;2nwv;1Tnw 1Tvw 1Tnv
qkv dW;multiplications;W;block;0.66;1+0;6nww;4Tnw 6Gww
out dW;multiplications;W;block;0.66;1+0;2nww;2Tnw 2Gww
up dW;multiplications;W;block;0.66;1+0;8nww;5Tnw 8Gww
down dW;multiplications;W;block;0.66;1+0;8nww;5Tnw 8Gww
head dW;multiplications;W;head;0.75;0+1;2nwv;1Tnw 1Tnv 2Gvw
norm;rows;F;block;0.80;2+1;0;2Tnw
norm backward;rows;I;block;0.80;2+1;0;4Tnw
attention;attention;F;block;0.29;1+0;4nwk;4Tnw
attention backward;attention;I;block;0.24;1+0;10nwk;8Tnw
qkv dbias;rows;W;block;0.80;1+0;0;3Tnw
up dbias;rows;W;block;0.80;1+0;0;4Tnw
cross entropy;rows;F;head;0.80;0+1;0;2Tnv
embedding;rows;F;embedding;0.80;0+1;0;2Tnw
embedding dW;rows;W;embedding;0.80;0+1;0;1Tnw 2Gvw
adamw of a block;optimizer;U;block;0.85;1+0;0;12Tww 96Gww
squares of a block;optimizer;U;block;0.85;1+0;0;12Gww
END
}
awk -v device="${rest% *}" -v peak="${rest##* }" -v bandwidth="$bandwidth" -v has_device="${device:+1}" -v gap_s=1e-6 -v usual_rows=16384 \
    -v models="${models[*]}" -f "$(dirname "$0")/budget.awk" <(table) "$file"
