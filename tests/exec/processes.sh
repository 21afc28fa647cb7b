# shellcheck shell=bash disable=SC2154
# Sourced by tests of transports whose processes have an emulated GPU each. The tests give PIPEEXEC
# as $1, `transport`, and `chosen`: the options that select it for processes of a launcher.
set -u
pipeexec=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mark=$((900000000 + $$))
net="--hidden 16 --heads 2 --seq 8 --mbs 1 --seed $mark"
small="$net --steps 3"
two="--backend cuda --transport $transport --np 2 --layers 2 --micro-batches 4"
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT

# shellcheck source=tests/exec/tap.sh
. "$(dirname "$0")/tap.sh"

nobody_left() {
    for _ in $(seq 200); do
        pgrep -f -- "--seed $mark" >/dev/null || return 0
        sleep 0.01
    done
    return 1
}

# run OPTIONS...: its exit code; at most 120 s
run() {
    # shellcheck disable=SC2086
    timeout 120 "$pipeexec" $small "$@" >"$folder/out" 2>"$folder/err"
}
began_s=$(date +%s)
# shellcheck disable=SC2086
run $two --quiet --no-check
usual_s=$(($(date +%s) - began_s))

# What must not depend on where ranks run, or on the backend's order of additions
is_exact() { [ "$(grep -c '"bit_equal": true' "$folder/out")" -eq 2 ] && grep -q "\"transport\": \"$transport\"" "$folder/out"; }

same() { # SEED OPTIONS...
    PP_EMULATED_SEED=$1 run --backend cuda --transport $transport --exact-grad --check --json "${@:2}" &&
        is_exact && [ ! -s "$folder/err" ] && nobody_left
    report "${*:2}"
}
launched() { # SECOND'S OPTIONS [DEVICE THAT THE SECOND ONE SEES]
    port=$((port + 1))
    local all="--backend cuda $chosen --layers 2 --micro-batches 4 --exact-grad --check --json"
    # shellcheck disable=SC2086
    PP_EMULATED_FIRST_DEVICE=${2:-0} RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 120 "$pipeexec" $small $all ${1:-} >"$folder/out.1" 2>"$folder/err.1" &
    # shellcheck disable=SC2086
    RANK=0 LOCAL_RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port run $all
    local rc=$?
    wait
    return $rc
}
layers() { cat "$1"/step-000000003/layer-*.bin | cksum; }
ends() { # MOST-SECONDS EXIT-CODE TEXT: of the last run, which began at `began_s`; more where a good run takes long
    local rc=$4
    [ "$rc" -eq "$2" ] && [ $(($(date +%s) - began_s)) -le $(($1 + usual_s)) ] && grep -q "$3" "$folder/err" && nobody_left
}
fails() { # NAME MOST-SECONDS TEXT OPTIONS...; variables are the caller's
    began_s=$(date +%s)
    # shellcheck disable=SC2086
    run $two --quiet --no-check "${@:4}"
    ends "$2" 1 "$3" $?
    report "$1"
}

# ---- what holds for every transport between GPUs ----

check_launchers() {
    launched && is_exact && [ ! -s "$folder/out.1" ] && [ ! -s "$folder/err.1" ]
    report "torchrun"
    launched "" 1 && is_exact
    report "a launcher that shows each process a GPU of its own"
    ! launched "--lr 0.5" && grep -q "with another recipe than process 0: process 1 has --lr 0.5, process 0 has not; give all" "$folder/err"
    report "torchrun: another recipe"
}

# Of processes that pipeexec starts itself
check_inputs() {
    # shellcheck disable=SC2086
    run $two --data - <"$0"
    [ $? -eq 2 ] && grep -q -- "--data -: with --transport $transport every process reads it" "$folder/err"
    report "standard input"
    began_s=$(date +%s)
    # shellcheck disable=SC2086
    cat "$0" | run $two --data /dev/stdin
    ends 20 1 "process 1 (pid [0-9]*) has ended with exit code 2 before all had come" $? && grep -q "another process says: /dev/stdin is empty" "$folder/err"
    report "a process that ends before all have come is not waited for"
}

# Replicas that share experts, and devices that do; shares of their states; one that is killed.
check_experts() {
    local one="--np 1 --dp 4 --experts 4 --layers 2 --micro-batches 2"
    PP_EMULATED_LAZY=1 same 30 --np 2 --dp 2 --ep 2 --experts 4 --layers 2 --micro-batches 4 --schedule dualpipev
    # shellcheck disable=SC2086
    same 31 $one --ep 2 --zero 3 --recompute full
    same 33 --np 1 --dp 2 --tp 2 --ep 4 --etp 1 --experts 8 --capacity-factor 1 --layers 2 --micro-batches 2
    if [ -n "${PIPESIM_LONG:-}" ]; then
        # shellcheck disable=SC2086
        same 32 $one --ep 4 --top-k 3 --zero 1
        # shellcheck disable=SC2086
        same 34 $one --ep 2 --zero 2 --balance-loss 0.1 --grad-sync eager
        # shellcheck disable=SC2086
        same 35 $one --ep 2 --shard p=2,os=4
        same 36 --np 2 --dp 2 --tp 2 --ep 2 --experts 4 --layers 2 --micro-batches 2 --schedule seq1f1b --splits 2
        same 37 --np 2 --dp 2 --ep 2 --experts 4 --layers 2 --micro-batches 4 --schedule chimera --precision bf16
    fi
    fails "a killed process that shares experts" 4 "rank 0 of replica 1 .*: its process [0-9]* was ended by signal 9 (Killed)" --dp 2 --ep 2 --experts 4 --inject "kill rank:0 replica:1 op:5 step:2"
}

check_resume() {
    # shellcheck disable=SC2086
    run $two --exact-grad --quiet --checkpoint "$folder/whole" &&
        run $two --exact-grad --quiet --checkpoint "$folder/parts" --checkpoint-every 1 &&
        rm -r "$folder/parts/step-000000003" &&
        run --backend cuda --transport $transport --quiet --schedule zbv --resume "$folder/parts" --checkpoint "$folder/rest" &&
        [ "$(layers "$folder/whole")" = "$(layers "$folder/rest")" ]
    report "a training goes on under another schedule, to the bit"
}
