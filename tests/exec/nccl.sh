#!/usr/bin/env bash
# --transport nccl on an emulated GPU with a stand-in for NCCL. Processes train to the bits of
# threads on the CPU, in every order in which their devices may run the work. A process that dies,
# fails or hangs ends all others, and is named. No process is left.
#
#   nccl.sh PIPEEXEC processes.sh
transport=nccl chosen="--transport nccl"
# shellcheck source=tests/exec/processes.sh
. "$2"

# ---- to the bit ----

same 1 --np 2 --schedule 1f1b --layers 2 --micro-batches 4
same 2 --np 4 --schedule zbv --layers 8 --micro-batches 4
same 3 --np 4 --schedule chimera --dp 2 --layers 4 --micro-batches 4
same 4 --np 2 --schedule dualpipe --layers 4 --micro-batches 4 --precision bf16
same 6 --np 2 --schedule zb-h1 --dp 2 --layers 2 --micro-batches 4
same 7 --np 1 --dp 3 --layers 2 --micro-batches 2
same 9 --np 3 --schedule 1f1b --dp 2 --layers 3 --micro-batches 4 --calibrate-on gpipe
same 10 --np 2 --schedule zbv --dp 3 --layers 4 --micro-batches 4 --zero 1
same 12 --np 2 --schedule zb-h1 --dp 2 --layers 3 --micro-batches 4 --zero 1 --grad-sync eager
same 15 --np 2 --schedule 1f1b --dp 2 --layers 2 --micro-batches 4 --zero 3
# Groups of copies: within them, between them, and those of an update
same 17 --np 1 --dp 4 --layers 2 --micro-batches 2 --shard os=2
same 18 --np 2 --dp 4 --layers 4 --micro-batches 2 --schedule zbv --shard p=2,os=4
same 19 --np 2 --dp 2 --layers 4 --micro-batches 4 --schedule chimera --zero 3
if [ -n "${PIPESIM_LONG:-}" ]; then
    same 16 --np 2 --schedule zbv --dp 3 --layers 4 --micro-batches 4 --zero 3
    same 5 --np 4 --schedule interleaved --layers 8 --micro-batches 4
    same 8 --np 2 --schedule gpipe --layers 4 --micro-batches 4 --recompute full --clock virtual
    same 11 --np 2 --schedule dualpipe --layers 4 --micro-batches 4 --precision bf16 --zero 1
fi

# Kernels that are loaded at their first use: none while the device waits for another process
PP_EMULATED_LAZY=1 same 13 --np 4 --schedule zbv --layers 8 --micro-batches 4
PP_EMULATED_LAZY=1 same 14 --np 2 --schedule 1f1b --dp 2 --layers 2 --micro-batches 4 --recompute full

# Sums as they come: the same but for the order of additions
# shellcheck disable=SC2086
PP_EMULATED_LAZY=1 run $two --dp 2 --check --json && grep -q '"transport": "nccl"' "$folder/out"
report "gradients that are not exact"
# shellcheck disable=SC2086
PP_EMULATED_LAZY=1 run $two --dp 3 --zero 1 --check --json && grep -q '"transport": "nccl"' "$folder/out"
report "gradients that are not exact, in shares"

# By clocks of two processes: bytes move once both sides have posted, sums once all have come
causal='$4 == "channel" && !($6 <= $7 && $7 <= $8 && $8 <= $9) { bad++ }
    $4 == "reduce" { n++; if (!($6 <= $8 && $8 <= $9)) bad++
        if (seen[$1 $5]++ && start[$1 $5] != $8 && is_long[$1 $5] && $8 < $9) bad++
        start[$1 $5] = $8; is_long[$1 $5] = $8 < $9 }
    END { exit bad > 0 || n == 0 }'
# shellcheck disable=SC2086
run $two --dp 2 --quiet --trace "$folder/times.csv" && awk -F, "$causal" "$folder/times.csv"
report "times hang together"

# Two GPUs on a host that has as many as processes, and two processes on each
PP_EMULATED_DEVICES=2 run --backend cuda --transport nccl --np 4 --layers 4 --micro-batches 4 --exact-grad --check --json && is_exact
report "four processes on two GPUs"
# shellcheck disable=SC2086
PP_EMULATED_DEVICES=2 run $two --exact-grad --check --json && is_exact
report "a GPU for each of two processes"

# ---- processes that a launcher has started ----

check_launchers

# ---- checkpoints ----

check_inputs
check_resume

# ---- experts ----

check_experts

# ---- who dies, fails, hangs ----

fails "a killed process" 4 "rank 1 .*: its process [0-9]* was ended by signal 9 (Killed)" --inject "kill rank:1 op:5 step:2"
fails "a rank that hangs" 8 "stuck: rank 1 at op 5" --inject "hang rank:1 op:5 step:2" --timeout 3
PP_STUB_NCCL_FAIL=5 fails "NCCL fails at the beginning" 8 "NCCL"
PP_STUB_NCCL_FAIL=30 fails "NCCL fails in a step" 8 "step [0-9]*: NCCL: channel .* (process . to process .)"
PP_STUB_NCCL_HANG="0>1 F0:3" fails "NCCL hangs" 10 "not over: .* of channel rank 0 -> rank 1 (forward)" --timeout 3
PP_EMULATED_FAULT=150 fails "the GPU fails" 8 "the GPU has failed"
PIPEEXEC_NCCL_LIBRARY=$folder/none fails "no NCCL" 4 "cannot load NCCL"
PP_EMULATED_DEVICES=0 fails "no GPU" 4 "no GPU that it can use"
PP_EMULATED_MEMORY_BYTES=33000000 fails "a GPU that is too small" 8 "not enough memory on the GPU\|MiB free"

# shellcheck disable=SC2086
"$pipeexec" $net $two --steps 100000 --quiet --no-check 2>"$folder/err" &
main=$!
sleep 1
kill -9 $main && { wait $main 2>/dev/null || nobody_left; }
report "the first process is killed"

echo "1..$number"
exit $((failures > 0))
