#!/usr/bin/env bash
# cuda_families.sh PIPEEXEC: small random models of the hub's families, trained by --backend cuda. Two
# pipelined ranks have the bits of one in every step. Losses and norms of gradients are those of the CPU
# in fp32: to 1e-6 in fp32, and to 1e-3 in bf16 (5e-2 for norms).
set -u
pipeexec=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
. "$(dirname "$0")/tap.sh"

shape='"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 56, "vocab_size": 256, "max_position_embeddings": 64'
llama=$shape', "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16'
# Name, then its config.json.
families() {
    cat <<END
gemma {"model_type": "gemma", $llama, "hidden_activation": "gelu_pytorch_tanh"}
gemma-erf {"model_type": "gemma", $llama, "hidden_activation": "gelu"}
gpt_neox {"model_type": "gpt_neox", $shape, "num_attention_heads": 2, "hidden_act": "gelu", "rotary_pct": 0.25}
opt {"model_type": "opt", $shape, "ffn_dim": 56, "num_attention_heads": 4, "activation_function": "relu"}
qwen3 {"model_type": "qwen3", $llama}
mistral {"model_type": "mistral", $llama, "sliding_window": 9}
mixtral {"model_type": "mixtral", $llama, "num_local_experts": 4, "num_experts_per_tok": 2}
qwen3_moe {"model_type": "qwen3_moe", $llama, "num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 21, "norm_topk_prob": true}
bert {"model_type": "bert", $shape, "num_attention_heads": 4, "type_vocab_size": 2, "hidden_act": "gelu"}
END
}

# train FILE OPTIONS...: writes FILE.json
train() {
    local to=$folder/$1.json
    shift
    "$pipeexec" --model "$folder/config.json" --np 2 --seq 24 --mbs 2 --micro-batches 4 --steps 3 --exact-grad --check \
        --json "$@" >"$to" 2>"$folder/err"
}
numbers() { awk -v name="\"$2\":" '$1 == name { on = 1; next } /\]/ { on = 0 } on { sub(",", ""); print }' "$folder/$1.json"; }
# close NAME BOUND: the numbers of the device and of the CPU
close() {
    paste <(numbers cuda "$1") <(numbers cpu "$1") |
        awk -v bound="$2" '{ n++; d = $1 - $2; if (d < 0) d = -d; if (!(d <= bound * $2)) far++ } END { exit n != 3 || far }'
}

while read -r name config; do
    echo "$config" >"$folder/config.json"
    train cpu || { false; report "$name on the CPU"; continue; }
    for way in 'fp32 1e-6 1e-5 --schedule 1f1b' 'bf16 1e-3 5e-2 --schedule zbv'; do
        read -r precision loss norm options <<<"$way"
        # shellcheck disable=SC2086
        train cuda --backend cuda --precision "$precision" $options &&
            [ "$(grep -c '"bit_equal": true' "$folder/cuda.json")" -eq 2 ]
        report "$name, $precision: bits of one rank"
        close losses "$loss" && close grad_norms "$norm"
        report "$name, $precision: losses and norms of the CPU"
    done
done < <(families)
echo "1..$number"
exit $((failures > 0))
