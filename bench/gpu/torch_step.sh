#!/usr/bin/env bash
# Compares one step of pipeexec with PyTorch in fp32: loss and all gradients, as JSON. The step has no
# update, so its first moments are the gradients.
#
#   torch_step.sh FOLDER PYTHON PIPEEXEC TOKENS DEVICE LAYERS HIDDEN HEADS VOCAB SEQ OPTIONS...
#
# FOLDER is for intermediate files, TOKENS one sample of SEQ + 1, DEVICE that of PyTorch. OPTIONS are those
# of pipeexec.
set -eu
folder=$1 python=$2 pipeexec=$3 tokens=$4 device=$5
shift 5
layers=$1 hidden=$2 heads=$3 vocab=$4 seq=$5
shift 5
rm -rf "$folder/checkpoint"
"$pipeexec" --model gpt2 --layers "$layers" --hidden "$hidden" --heads "$heads" --vocab "$vocab" --seq "$seq" --data "$tokens" --tokens u16 \
    --mbs 1 --micro-batches 1 --steps 1 --warmup 1 --lr 0 --weight-decay 0 --no-check --json --checkpoint "$folder/checkpoint" \
    "$@" >"$folder/step.json"
"$python" "$(dirname "$0")/torch_gpt2.py" check "$folder/checkpoint/step-000000001" "$folder/step.json" "$tokens" "$device"
