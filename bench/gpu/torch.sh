#!/usr/bin/env bash
# Compares pipeexec with PyTorch, as a phase of bench/gpu.sh. First come the loss and all gradients of one
# step, then the speed of three sizes, compiled, and of one that is not. PYTHON is the interpreter.
# Speeds are compared with those of the phase of models, which has the same samples.
set -u
. bench/gpu/within.sh
python=${PYTHON:-python3} script=bench/gpu/torch_gpt2.py failed=0
if ! "$python" -c 'import torch' 2>"$work/torch.err"; then
    tail -n 1 "$work/torch.err" >&2
    exit 77
fi
if [ "$kind" = cuda ]; then
    place=cuda vocab=50304 seq=1024
    small='12 768 12' sizes=('gpt2 12 768 12 12' 'gpt2_large 36 1280 20 6' 'gpt2_xl 48 1600 25 4') samples=16
else
    place=cpu vocab=96 seq=16
    small='4 32 2' sizes=('gpt2 4 32 2 2') samples=2
fi
"$work/build/kernels" tokens "$work/one.bin" $((seq + 1)) $vocab


member() { sed -n "s/.*\"$2\": \([-0-9.e+]*\).*/\1/p" <<<"$1"; }

# speed NAME LAYERS HIDDEN HEADS STEPS compiled|eager
speed() {
    local row own
    if ! row=$(timeout -k 2 "$(within 70)" "$python" $script speed $place "$2" "$3" "$4" $vocab $seq $samples 4 "$5" "$6"); then
        echo "$6, $1: failed" >&2
        failed=1
        return
    fi
    printf '{"what": "speed", "model": "%s", %s\n' "$1" "${row#\{}"
    echo "$6, $1: $(member "$row" tokens_per_s) tokens/s" >&2
    [ "$6" = compiled ] || return 0
    [ "$1" != gpt2 ] || echo "torch_attention_is_cudnn $([[ $row = *'"attention": "cudnn"'* ]] && echo 1 || echo 0)" >>"$figures"
    own=$(sed -n "s/^tokens_per_s_$1 //p" "$work/models.figures" 2>"$work/torch.err")
    [ -z "$own" ] || awk -v n="$1" -v a="$own" -v b="$(member "$row" tokens_per_s)" 'BEGIN { printf "torch_ratio_%s %.4f\n", n, a / b }' >>"$figures"
}

# compare PRECISION
compare() {
    # shellcheck disable=SC2086
    set -- "$1" $small
    timeout -k 2 "$(within 40)" bench/gpu/torch_step.sh "$work" "$python" "$work/build/pipeexec" "$work/one.bin" $place "${@:2}" $vocab $seq \
        --backend cuda --precision "$1" --np 1 --schedule gpipe
}
for precision in fp32 bf16; do
    if row=$(compare $precision); then
        printf '{"what": "step", "precision": "%s", %s\n' $precision "${row#\{}"
        echo "torch_gradients_$precision $(member "$row" gradients_rel_l2)" >>"$figures"
        [ $precision = fp32 ] || [ "$kind" != cuda ] || echo "torch_gradients_autocast $(member "$row" autocast_rel_l2)" >>"$figures"
    else
        failed=1
    fi
    echo "a step in $precision beside PyTorch in fp32: ${row:-failed}" >&2
done
for size in "${sizes[@]}"; do
    # shellcheck disable=SC2086
    speed $size compiled
done
# shellcheck disable=SC2086
[ "$(within 20)" -le 5 ] || speed ${sizes[0]} eager
exit $failed
