#!/usr/bin/env bash
# PyTorch beside pipeexec, as a part of bench/gpu.sh: one step of GPT-2 124M compared, loss and all
# gradients, then the speed of three sizes. A JSON object; what fails is null in it. PYTHON: which one.
set -u
. bench/gpu/within.sh
python=${PYTHON:-python3}
if ! "$python" -c 'import torch' 2>"$work/torch.err"; then
    echo '{"is_there": false}'
    echo "PyTorch: $(tail -n 1 "$work/torch.err")" >&2
    exit 0
fi
if [ "$kind" = cuda ]; then
    place=cuda vocab=50304 seq=1024 steps=20
    small='12 768 12' sizes=('12 768 12 16' '36 1280 20 8' '48 1600 25 4')
else
    place=cpu vocab=96 seq=16 steps=2
    small='4 32 2' sizes=('4 32 2 2')
fi
"$work/build/kernels" tokens "$work/one.bin" $((seq + 1)) $vocab

# compare PRECISION: a step without an update, whose first moments are the gradients.
compare() {
    # shellcheck disable=SC2086
    set -- "$1" $small
    rm -rf "$work/checkpoint"
    timeout "$(within 30)" "$work/build/pipeexec" --backend cuda --precision "$1" --model gpt2 --layers "$2" --hidden "$3" --heads "$4" \
        --vocab $vocab --seq $seq --data "$work/one.bin" --tokens u16 --np 1 --schedule gpipe --mbs 1 --micro-batches 1 \
        --steps 1 --warmup 1 --lr 0 --weight-decay 0 --no-check --json --checkpoint "$work/checkpoint" >"$work/step.json" &&
        timeout "$(within 40)" "$python" bench/gpu/torch_gpt2.py check "$work/checkpoint/step-000000001" "$work/step.json" \
            "$work/one.bin" $place
}

# say NAME JSON: as a member, null where it is empty.
say() { printf '  "%s": %s' "$1" "${2:-null}"; }
{
    echo '{"is_there": true,'
    for precision in fp32 bf16; do
        result=$(compare $precision)
        say "step_$precision" "$result" && echo ,
        echo "a step in $precision beside PyTorch in fp32: ${result:-failed}" >&2
    done
    echo '  "speed": ['
    separator='    '
    for size in "${sizes[@]}"; do
        # shellcheck disable=SC2086
        set -- $size
        result=$(timeout "$(within 50)" "$python" bench/gpu/torch_gpt2.py speed $place "$1" "$2" "$3" $vocab $seq "$4" 4 $steps)
        printf '%s%s' "$separator" "${result:-null}"
        separator=$',\n    '
        echo "PyTorch, compiled, bf16, layers $1, hidden $2: ${result:-failed}" >&2
    done
    printf ']\n}\n'
}
