#!/usr/bin/env bash
# bench/tiers_executed.sh PIPEEXEC FIRST_LOSS FOLDER [OPTION...]
#
# Trains a model whose state is in a file, with little memory, and compares its first loss with the reference in
# pieces (bench/first_loss.c). It prints the losses, the most memory of the process, and what its tiers moved. The
# exit status is 1 if the losses differ in a bit. Without options it trains GPT-2 1.5 B: 26 GB in FOLDER, some minutes.
set -euo pipefail
pipeexec=$1 first_loss=$2 folder=$3
shift 3
[ $# -gt 0 ] || set -- --model gpt2-xl --schedule bfs --np 1 --vp 48 --seq 64 --mbs 1 --micro-batches 1 --recompute full --steps 2
caps=(--device-memory 3GB --host-memory 1GB)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Loss of the reference, then the run. VmHWM is the most memory that a process has had.
"$first_loss" "$@" >"$scratch/reference"
"$pipeexec" "$@" --offload p,g,os=nvme --cpu-optimizer --nvme "$folder" "${caps[@]}" --clock wall --no-check --json >"$scratch/run.json" &
pid=$!
while grep VmHWM "/proc/$pid/status" >"$scratch/now" 2>/dev/null && [ -s "$scratch/now" ]; do
    mv "$scratch/now" "$scratch/most"
    sleep 0.05
done
wait $pid
python3 - "$scratch" <<'PYTHON'
import json
import sys

folder = sys.argv[1]
reference = float(open(f"{folder}/reference").read())
run = json.load(open(f"{folder}/run.json"))
peak_kib = int(open(f"{folder}/most").read().split()[1])
print(f"first loss     {run['losses'][0]!r}, in pieces {reference!r}")
print(f"losses         {run['losses']}")
print(f"most memory    {peak_kib / 2**20:.2f} GiB of the process")
print(f"step           {run['steps_s']} s")
print(f"tiers          {json.dumps(run['tiers'])}")
sys.exit(run["losses"][0] != reference)
PYTHON
