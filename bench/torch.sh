#!/usr/bin/env bash
# Compares the CPU backend with PyTorch: loss and all gradients of one step of GPT-2 124M on four ranks, in
# several schedules. Usage: PYTHON=... bench/torch.sh [PIPEEXEC [LAYERS HIDDEN HEADS VOCAB SEQ]]
set -eu
pipeexec=${1:-build/exec/pipeexec} python=${PYTHON:-python3}
if [ $# -eq 6 ]; then shift; else set -- 12 768 12 50304 1024; fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" - "$folder/one.bin" "$4" "$5" <<'END'
import random, struct, sys
draw, count = random.Random(1), int(sys.argv[3]) + 1
with open(sys.argv[1], "wb") as file:  # as llm.c writes them: a head of 1,024 bytes, tokens of 16 bits
    file.write(struct.pack("<3i1012x", 20240520, 1, count))
    file.write(struct.pack("<%dH" % count, *(draw.randrange(int(sys.argv[2])) for _ in range(count))))
END
for schedule in 'gpipe --np 1' '1f1b --np 4' 'zbv --np 2'; do
    printf '%-12s ' "$schedule"
    # shellcheck disable=SC2086
    "$(dirname "$0")/gpu/torch_step.sh" "$folder" "$python" "$pipeexec" "$folder/one.bin" cpu "$@" --schedule $schedule
done
