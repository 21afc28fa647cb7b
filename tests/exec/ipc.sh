#!/usr/bin/env bash
# --transport ipc on an emulated GPU: processes map each other's memory. They train to the bits of
# threads on the CPU, in every order in which their devices may run the work. A process that dies,
# fails or hangs ends all others, and is named. No process is left, and no object with a name.
#
#   ipc.sh PIPEEXEC processes.sh
transport=ipc chosen="--transport ipc"
# shellcheck source=tests/exec/processes.sh
. "$2"

# ---- to the bit ----

shared() { ls /dev/shm 2>/dev/null | wc -l; }
before=$(shared)
same 3 --np 4 --schedule chimera --dp 2 --layers 4 --micro-batches 4
same 10 --np 2 --schedule 1f1b --dp 2 --layers 2 --micro-batches 4 --zero 1
same 12 --np 2 --schedule zbv --dp 2 --layers 4 --micro-batches 4 --zero 3
same 13 --np 1 --dp 4 --layers 2 --micro-batches 2 --shard p=2
if [ -n "${PIPESIM_LONG:-}" ]; then
    same 4 --np 2 --schedule dualpipe --layers 4 --micro-batches 4 --precision bf16
    same 1 --np 2 --schedule 1f1b --layers 2 --micro-batches 4
    same 2 --np 4 --schedule zbv --layers 8 --micro-batches 4
    same 7 --np 1 --dp 3 --layers 2 --micro-batches 2
    same 9 --np 3 --schedule 1f1b --dp 2 --layers 3 --micro-batches 4 --calibrate-on gpipe
    same 6 --np 2 --schedule zb-h1 --dp 2 --layers 2 --micro-batches 4
    same 8 --np 2 --schedule gpipe --layers 4 --micro-batches 4 --recompute full --clock virtual
fi
PP_EMULATED_LAZY=1 same 11 --np 2 --schedule chimera --dp 2 --layers 2 --micro-batches 4 --grad-sync eager
[ "$(shared)" -eq "$before" ]
report "nothing is left in /dev/shm"

# Sums as they come have the order of threads: the same losses
losses() { grep -A4 '"losses"' "$folder/out"; }
whole="--dp 2 --np 2 --layers 2 --micro-batches 4 --json --no-check"
# shellcheck disable=SC2086
run $whole --backend cuda --transport local && first=$(losses) && PP_EMULATED_LAZY=1 run $whole --backend cuda --transport ipc &&
    [ -n "$first" ] && [ "$first" = "$(losses)" ]
report "gradients that are not exact have the bits of threads"

# By clocks of two processes: bytes move once both sides have posted
causal='$4 == "channel" && !($6 <= $7 && $7 <= $8 && $8 <= $9) { bad++ }
    $4 == "reduce" { n++; if (!($6 <= $8 && $8 <= $9)) bad++ }
    END { exit bad > 0 || n == 0 }'
# shellcheck disable=SC2086
run $two --dp 2 --quiet --trace "$folder/times.csv" && awk -F, "$causal" "$folder/times.csv"
report "times hang together"

PP_EMULATED_DEVICES=2 run --backend cuda --transport ipc --np 4 --layers 4 --micro-batches 4 --exact-grad --check --json && is_exact
report "four processes on two GPUs"

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
fails "a process that is stopped" 8 "stuck: rank 1 .*: its process [0-9]* at 127.0.0.1 has said nothing for .* s: it is stopped" --inject "stop rank:1 op:5 step:2" --timeout 2
PP_EMULATED_FAULT=150 fails "the GPU fails" 8 "the GPU has failed"
PP_EMULATED_DEVICES=0 fails "no GPU" 4 "no GPU that it can use"
PP_EMULATED_MEMORY_BYTES=33000000 fails "a GPU that is too small" 8 "not enough memory on the GPU\|MiB free"
PP_EMULATED_DEVICES=2 PP_EMULATED_PEERS=0 fails "GPUs that do not reach each other" 8 "cannot reach what process . has on its own.*use --transport nccl"

# Another host is one by its name
port=$((port + 1))
# shellcheck disable=SC2086
RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port PIPEEXEC_HOST_ID=b timeout 120 "$pipeexec" $small $two --quiet 2>"$folder/err.1" &
# shellcheck disable=SC2086
RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port PIPEEXEC_HOST_ID=a run $two --quiet
[ $? -eq 1 ] && wait && grep -q "process 1 at 127.0.0.1 is on another host than process 0 (b and a).*use --transport nccl" "$folder/err"
report "another host"

# shellcheck disable=SC2086
"$pipeexec" $net $two --steps 100000 --quiet --no-check 2>"$folder/err" &
main=$!
sleep 1
kill -9 $main && { wait $main 2>/dev/null || nobody_left; }
report "the first process is killed"

echo "1..$number"
exit $((failures > 0))
