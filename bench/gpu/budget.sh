#!/usr/bin/env bash
# budget.sh: where the time of a training step goes, kernel by kernel: an estimate from shapes and rates,
# and what was measured. So a model that misses its MFU names its kernels.
#
#   bench/gpu/budget.sh [--device DEVICE] [--model NAME:LAYERS:WIDTH]... [FILE.json]
#
# FILE is a result of bench/gpu.sh. Without it there are estimates alone. DEVICE is a name that pipesim knows,
# such as h100, or 'NAME FLOPS BYTES_PER_S'. Usual are h200 or the device of FILE, and GPT-2 124M, 774M and
# 1558M. Micro-batches have 16,384 tokens, unless FILE says otherwise.
#
# Columns: microseconds of a call, calls in a step, and their milliseconds, estimated and measured. Next are
# the share of the measured step, and the part of the step that the kernel loses compared with its limit.
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
root=$(dirname "$0")/../..
models=() device=''
no() { # EXIT_CODE REASON
    echo "bench: error: $2" >&2
    exit "$1"
}
while [[ ${1:-} = --* ]]; do
    case $1 in
    --help) exec sed -n '2,26s/^# \{0,1\}//p' "$0" ;;
    --device) [[ ${2:-} =~ ^[A-Za-z0-9-]+$|^.+\ [0-9.e+]+\ [0-9.e+]+$ ]] || no 2 "--device '${2:-}': a name, or name, operations and bytes a second; for example h200 or 'H200 989e12 4.8e12'" && device=$2 ;;
    --model) [[ ${2:-} =~ ^[^:\ ]+:[1-9][0-9]*:[1-9][0-9]*$ ]] || no 2 "--model '${2:-}': name, layers and width; for example gpt2:12:768" && models+=("$2") ;;
    *) no 2 "unknown option $1; try --help" ;;
    esac
    shift 2
done
file=${1:-/dev/null}
[ $# -eq 0 ] || [ -r "$file" ] || no 1 "cannot read $file"
[ $# -eq 0 ] || grep -q '"schema": "pipesim.gpu/2"' "$file" || no 1 "$file is no result of bench/gpu.sh (schema pipesim.gpu/2)"
[ ${#models[@]} -ne 0 ] || models=(gpt2:12:768 gpt2_large:36:1280 gpt2_xl:48:1600)

# The devices that pipesim knows, a line each: name, operations in bf16 and bytes a second.
presets() {
    local program cc
    read -ra cc <<<"${CC:-cc}"
    program=$(mktemp)
    "${cc[@]}" -I "$root" -o "$program" -x c - "$root/core/cluster/presets.c" <<'END' && "$program"
#include "core/cluster/cluster.h"
#include <stdio.h>
int main(void)
{
    for (const struct pp_device *d = pp_device_presets; d->name; d++)
        if (d->has_bf16)
            printf("%s %g %g\n", d->name, d->half_flops_per_s, d->memory_bytes_per_s);
}
END
    rm -f "$program"
}
of_file() { sed -n 's/^"device": {"name": "\([^"]*\)".*"bytes_per_s": \([0-9.e+]*\), "bf16_flops_per_s": \([0-9.e+]*\).*/\1 \3 \2/p' "$file"; }
no_rates() { no 2 "no rates of '$1' are known: give --device NAME ($(presets | cut -d ' ' -f 1 | paste -s -d ' ')), or --device 'NAME FLOPS BYTES_PER_S'"; }
if [ -z "$device" ]; then if [ $# -eq 0 ]; then device=h200; else device=$(of_file); fi; fi
if [[ $device != *\ * ]]; then known=$(presets | grep -i "^$device ") || no_rates "$device" && device=$known; fi
bandwidth=${device##* } rest=${device% *}
peak=${rest##* } name=${rest% *}
awk -v a="$peak" -v b="$bandwidth" 'BEGIN { exit !(a > 0 && b > 0) }' || no_rates "$name"

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
awk -v device="$name" -v peak="$peak" -v bandwidth="$bandwidth" -v has_file=$# -v gap_s=1e-6 -v usual_rows=16384 \
    -v models="${models[*]}" -f "$root/bench/gpu/budget.awk" <(table) "$file"
