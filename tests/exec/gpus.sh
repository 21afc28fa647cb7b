#!/usr/bin/env bash
# --transport ipc+nccl on emulated GPUs: mapped memory for messages, the stand-in for NCCL for sums.
# Processes of a launcher choose it, or what else they can all use. Processes train to the bits of
# threads on the CPU. One that dies, fails or hangs ends all others, and is named.
#
#   gpus.sh PIPEEXEC processes.sh PIPESIM
transport=ipc+nccl chosen=
export PP_EMULATED_DEVICES=4
# shellcheck source=tests/exec/processes.sh
. "$2"

# ---- to the bit ----

PP_EMULATED_LAZY=1 same 1 --np 2 --schedule chimera --dp 2 --layers 4 --micro-batches 4
same 2 --np 2 --schedule zb-h1 --dp 2 --layers 3 --micro-batches 4 --zero 1 --grad-sync eager
same 3 --np 4 --schedule dualpipe --layers 8 --micro-batches 8 --precision bf16
if [ -n "${PIPESIM_LONG:-}" ]; then
    executable='/^      "name"/ { name = $4 } /^      "executable": true/ { print name }'
    for schedule in $("$3" schedules --json | awk -F '"' "$executable"); do
        same 4 --np 2 --dp 2 --schedule "$schedule" --layers 8 --micro-batches 4
    done
fi

# Sums as they come: the same but for the order of additions
# shellcheck disable=SC2086
PP_EMULATED_LAZY=1 run $two --dp 2 --check --json && grep -q '"transport": "ipc+nccl"' "$folder/out"
report "gradients that are not exact"

# ---- what processes of a launcher choose ----

all="--backend cuda --dp 2 --layers 2 --micro-batches 4 --exact-grad --check"
becomes() { # TRANSPORT NOTE OPTIONS...: of four processes; HOST1 is that of the second one
    local others=() k
    port=$((port + 1))
    for k in 1 2 3; do
        # shellcheck disable=SC2086
        PIPEEXEC_HOST_ID=${HOST1:-here} RANK=$k LOCAL_RANK=$k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 120 "$pipeexec" $small $all "${@:3}" >/dev/null 2>"$folder/err.$k" &
        others+=($!)
    done
    # shellcheck disable=SC2086
    PIPEEXEC_HOST_ID=here RANK=0 LOCAL_RANK=0 WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port run $all "${@:3}"
    local rc=$?
    wait "${others[@]}"
    case " $* " in
    *" --json "*) [ $rc -eq 0 ] && [ "$(grep -c '"bit_equal": true' "$folder/out")" -eq 2 ] && grep -q "\"transport\": \"$1\"" "$folder/out" ;;
    *) [ $rc -eq 0 ] && tr -s ' \n' ' ' <"$folder/out" | grep -q "$2" ;;
    esac
}
becomes ipc+nccl "" --json
report "a GPU for each of four processes"
PIPEEXEC_NCCL_LIBRARY=$folder/none becomes ipc "sums go by CUDA IPC, for there is no NCCL: cannot load NCCL"
report "no NCCL"
PP_EMULATED_DEVICES=2 becomes ipc "sums go by CUDA IPC, for NCCL needs a GPU for each rank"
report "two processes on each GPU"
PP_EMULATED_PEERS=0 becomes nccl "messages go by NCCL, for GPUs do not reach each other"
report "GPUs that do not reach each other"
HOST1=there becomes nccl "" --json
report "two hosts"
all="--backend cuda --layers 4 --micro-batches 4 --exact-grad --check"
PIPEEXEC_NCCL_LIBRARY=$folder/none becomes ipc "" --json
report "without sums NCCL is not loaded"
# shellcheck disable=SC2086
PIPEEXEC_NCCL_LIBRARY=$folder/none run $two --quiet --no-check
report "nor if it is asked for"
all="--backend cuda --dp 2 --layers 2 --micro-batches 4"
PIPEEXEC_NCCL_LIBRARY=$folder/none PP_EMULATED_PEERS=0 becomes ipc "" || grep -q "cannot reach what process . has on its own" "$folder/err" && grep -q "cannot load NCCL" "$folder/err" && grep -q -- "--transport local" "$folder/err"
report "neither NCCL nor peers"
! launched "--transport ipc+nccl" && grep -q "with another machine than process 0: process 1 has --transport ipc+nccl, process 0 has not; give all" "$folder/err"
report "one that may choose, and one that may not"

# ---- experts ----

check_experts

# ---- who dies, fails, hangs ----

fails "a killed process" 4 "rank 1 .*: its process [0-9]* was ended by signal 9 (Killed)" --dp 2 --inject "kill rank:1 op:5 step:2"
fails "a rank that hangs" 8 "stuck: rank 1.* at op 5" --dp 2 --inject "hang rank:1 op:5 step:2" --timeout 3
PP_STUB_NCCL_HANG="stage 0:2" fails "NCCL hangs" 10 "no rank has made progress" --dp 2 --timeout 3
PP_EMULATED_FAULT=150 fails "the GPU fails" 8 "the GPU has failed" --dp 2
PIPEEXEC_NCCL_LIBRARY=$folder/none fails "no NCCL, but sums" 4 "cannot load NCCL" --dp 2
PP_EMULATED_PEERS=0 fails "GPUs that must reach each other" 8 "cannot reach what process . has on its own.*use --transport nccl" --dp 2

echo "1..$number"
exit $((failures > 0))
