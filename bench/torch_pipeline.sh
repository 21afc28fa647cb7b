#!/usr/bin/env bash
# Executes one step of every schedule that PyTorch can load, in its own pipeline runtime, in 64 bits. It prints how far
# loss and gradients are from a plain loop's. P is 2 and 4, in both forms; with FSDP there are two replicas at P = 2.
#
#   TORCHRUN=torchrun bench/torch_pipeline.sh [PIPESIM]
set -eu
pipesim=${1:-build/sim/pipesim} here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# run RANKS REPLICAS FORMAT FORM: FORMAT of the runtime, FORM of pipesim's export.
run() {
    local list=() schedule micro_batches=$((3 * $1)) options='--unit F=1,I=1,W=1'
    [ "$2" = 1 ] || options="--model gpt2-64 --tp 1 --dp $2 --mbs 1 --zero 3 --engine dag"
    for schedule in $("$pipesim" schedules | sed -n 's/^\([a-z0-9-]*\): .*/\1/p'); do
        # shellcheck disable=SC2086
        "$pipesim" export --to "$4" --schedule "$schedule" --pp "$1" --micro-batches $micro_batches $options -o "$folder/$schedule" 2>"$folder/said" || continue
        grep -q 'cannot load' "$folder/said" || list+=("$folder/$schedule")
    done
    printf '%d ranks, %d replicas, %d micro-batches\n' "$1" "$2" $micro_batches
    OMP_NUM_THREADS=1 "$TORCHRUN" --nproc-per-node $(($1 * $2)) "$here/torch_pipeline.py" --gradients "$2" $micro_batches "$3" "${list[@]}"
}

: "${TORCHRUN:?names the torchrun of PyTorch 2.15}"
for ranks in 2 4; do
    run $ranks 1 compute_only pytorch
    run $ranks 1 compute_comms pytorch-waits
done
run 2 2 compute_comms pytorch-waits
