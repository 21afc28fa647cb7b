#!/usr/bin/env bash
# Processes started as launchers do it, on this host and on several (network namespaces). They train
# to the bits of threads, and every mismatch between processes is named.
# PIPESIM_LONG=1: also the tests that take a minute.
#
#   hosts.sh PIPEEXEC OTHER_MATH
set -u
pipeexec=$(realpath "$1")
other_math=$(realpath "$2")
folder=$(mktemp -d)
small="--schedule zbv --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --exact-grad --check"
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT

clean() {
    ip netns del "$space" 2>/dev/null
    ip link del "$wire" 2>/dev/null
    rm -rf "$folder"
}
space=pp$$ wire=pp$$a
trap clean EXIT

# shellcheck source=tests/exec/tap.sh
. "$(dirname "$0")/tap.sh"

# What must not depend on where ranks run.
facts() { sed -n '/"losses"/,/\]/p; /"grad_norms"/,/\]/p; /"bit_equal"/p; /"is_loss_equal"/p' "$1"; }

# start VARIABLES-OF-RANK-k, with %k for the rank; 4 processes; the first one's exit code
start() {
    local k rc
    port=$((port + 1))
    rm -f "$folder"/err.* "$folder"/out.*
    for k in 3 2 1; do
        # shellcheck disable=SC2086
        env MASTER_PORT=$port ${1//%k/$k} timeout 60 "$pipeexec" $small --json ${2:-} >"$folder/out.$k" 2>"$folder/err.$k" &
    done
    # shellcheck disable=SC2086
    env MASTER_PORT=$port ${1//%k/0} timeout 60 "$pipeexec" $small --json ${3:-${2:-}} >"$folder/out.0" 2>"$folder/err.0"
    rc=$?
    wait
    return $rc
}
check_same() { # of the last start
    local k
    for k in 1 2 3; do [ ! -s "$folder/out.$k" ] && [ ! -s "$folder/err.$k" ] || return 1; done
    grep -q '"transport": "tcp"' "$folder/out.0" && [ "$(facts "$folder/out.0")" = "$(facts "$folder/threads")" ]
}

# shellcheck disable=SC2086
"$pipeexec" $small --json >"$folder/threads" && grep -q '"bit_equal": true' "$folder/threads"
report "threads"
SECONDS=0
start "RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1" && check_same
report "torchrun"
usual_s=$SECONDS
store() { # torchrun's own, at the port that it gives
    python3 -c 'import socket, sys, time; s = socket.create_server(("127.0.0.1", int(sys.argv[1]))); time.sleep(60)' $((port + 1)) &
    keeper=$! && disown $!
    for _ in $(seq 500); do (: <>"/dev/tcp/127.0.0.1/$((port + 1))") 2>/dev/null && return; sleep 0.01; done
}
store && start "RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=localhost TORCHELASTIC_USE_AGENT_STORE=True" && check_same
report "torchrun, which listens at the port that it gives"
kill $keeper
port=$((port + 1))
start "RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1" && check_same
report "by hand"
start "SLURM_PROCID=%k SLURM_STEP_NUM_TASKS=4 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=localhost" && check_same
report "srun"
start "OMPI_COMM_WORLD_RANK=%k OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=4" && check_same
report "mpirun of Open MPI"
start "PMI_RANK=%k PMI_SIZE=4 MPI_LOCALNRANKS=4" && check_same
report "PMI"
start "RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1" "--calibrate-on 1f1b" && grep -q '"calibrated_on": "1f1b"' "$folder/out.0"
report "two programs one after the other"

# ---- few descriptors ----
many="--hidden 32 --heads 2 --seq 16 --steps 2 --no-check --quiet --transport tcp --np 32"
# shellcheck disable=SC2086
(ulimit -n 48 && timeout 60 "$pipeexec" $many) 2>"$folder/err.0"
report "as many connections as a process may have"
# shellcheck disable=SC2086
(ulimit -n 20 && timeout 20 "$pipeexec" $many) 2>"$folder/err.0"
[ $? -eq 1 ] && grep -q 'no connection to another process can be taken: Too many open files (ulimit -n)' "$folder/err.0"
report "more connections than a process may have"

# ---- checkpoints ----
torchrun="RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1"
steps() { (cd "$1" && ls -A | tr '\n' ' '); }
layers() { cat "$1"/step-000000003/layer-*.bin | cksum; }
# shellcheck disable=SC2086
"$pipeexec" $small --quiet --checkpoint "$folder/threads.to"
start "$torchrun" "--checkpoint $folder/whole --checkpoint-every 1" && check_same &&
    [ "$(steps "$folder/whole")" = "step-000000002 step-000000003 " ] &&
    [ "$(layers "$folder/whole")" = "$(layers "$folder/threads.to")" ]
report "checkpoints of launched processes are those of threads"
start "$torchrun" "--resume $folder/whole/step-000000002 --checkpoint $folder/again" &&
    grep -q '"first_step": 2' "$folder/out.0" && grep -q '"bit_equal": true' "$folder/out.0" &&
    [ "$(steps "$folder/again")" = "step-000000003 " ] &&
    [ "$(layers "$folder/again")" = "$(layers "$folder/threads.to")" ]
report "launched processes go on from a checkpoint"

# ---- what does not fit together ----
start "RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1" "--micro-batches 12" " "
[ $? -eq 1 ] && grep -q 'process \([123]\) runs another program than process 0: process \1 has --micro-batches 12, process 0 has not; give all' "$folder/err.0"
report "another program"
start "RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1" "--lr 1e-4" " "
[ $? -eq 1 ] && grep -q 'process \([123]\) runs the same program with another recipe than process 0: process \1 has --lr 1e-4, process 0 has not; give all' "$folder/err.0" &&
    cat "$folder"/err.[123] | grep -q 'with another recipe'
report "another recipe"
# Process 2 draws its weights by another logarithm, of which the others know only by their hash
ln -s "$other_math" "$folder/math.2"
start "RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$folder/math.%k"
[ $? -eq 1 ] && grep -q 'process 2 has drawn other initial weights for rank 2 than process 0 would draw' "$folder/err.0" &&
    grep -q 'process 2 has drawn other initial weights' "$folder/err.2"
report "another C library"
other() { # WHAT OPTIONS
    start "RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1" "$2" " "
    [ $? -eq 1 ] && grep -q "with another $1 than process 0: process [123] has $2, process 0 has not; give all" "$folder/err.0"
    report "another $1: $2"
}
other model "--embedding tied"
other machine "--precision double"
other clock "--clock wall"
other clock "--link latency:1ms"
other clock "--slow 1=0.5"
other clock "--link-bw 0-1=0.5"
other recipe "--resume $folder/whole/step-000000002"
start "RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1" "--unit F=1,I=1,W=1" "--unit F=1,I=1,W=2"
[ $? -eq 1 ] && grep -q 'with another clock than process 0: process [123] has --unit F=1,I=1,W=1, process 0 has --unit F=1,I=1,W=2; give all' "$folder/err.0"
report "other durations"
port=$((port + 1))
twice="WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port"
# shellcheck disable=SC2086
for k in 1 2; do env RANK=1 $twice timeout 60 "$pipeexec" $small --np 3 2>"$folder/err.$k" & done
# shellcheck disable=SC2086
env RANK=0 $twice timeout 60 "$pipeexec" $small --np 3 2>"$folder/err.0"
[ $? -eq 1 ] && wait && grep -q 'two processes say that they are process 1 of 3 (RANK)' "$folder/err.0" &&
    cat "$folder"/err.[12] | grep -q 'two processes say'
report "a number twice"
port=$((port + 1))
# shellcheck disable=SC2086
RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 60 "$pipeexec" ${small/mbs 2/mbs 4} 2>"$folder/err.1" &
# shellcheck disable=SC2086
RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 60 "$pipeexec" $small 2>"$folder/err.0"
[ $? -eq 1 ] && wait && grep -q 'with another batch than process 0: process 1 has --mbs 4, process 0 has --mbs 2; give all' "$folder/err.0"
report "another batch"
port=$((port + 1))
# shellcheck disable=SC2086
RANK=1 WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 60 "$pipeexec" $small 2>"$folder/err.1" &
# shellcheck disable=SC2086
RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 60 "$pipeexec" $small 2>"$folder/err.0"
[ $? -eq 1 ] && wait && grep -q 'process 1 says that it is one of 3 processes, process 0 one of 2 (RANK)' "$folder/err.0" &&
    grep -q 'one of 3 processes' "$folder/err.1"
report "two opinions of how many there are"
RANK=0 LOCAL_RANK=0 WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 "$pipeexec" --np 3 2>"$folder/err.0"
[ $? -eq 2 ] && grep -q 'has started 4 processes (RANK), the layout has 3 ranks' "$folder/err.0"
report "another number of ranks"
PMI_RANK=0 PMI_SIZE=4 "$pipeexec" 2>"$folder/err.0"
[ $? -eq 2 ] && grep -q 'nothing says where process 0 is: set MASTER_ADDR' "$folder/err.0"
report "no address"
port=$((port + 1))
python3 -c 'import socket, sys; s = socket.create_server(("127.0.0.1", int(sys.argv[1]))); s.accept()[0].close()' $port &
RANK=1 WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 60 "$pipeexec" 2>"$folder/err.0"
[ $? -eq 1 ] && grep -q "port $port has gone before all had come, or who listens there is no pipeexec" "$folder/err.0"
report "somebody else's port"
start "RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1" "--inject kill,rank:2,op:9,step:2"
[ $? -eq 1 ] && grep -q 'step 2: rank 2 .* is gone: the connection to its process [0-9][0-9]* at 127.0.0.1 was closed' "$folder/err.0" &&
    [ -s "$folder/err.1" ] && [ -s "$folder/err.3" ]
report "a process that dies"

for rank in 0 2; do
    SECONDS=0
    start "RANK=%k LOCAL_RANK=%k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1" "--timeout 2 --inject freeze,rank:$rank,op:9,step:2"
    [ $? -eq 1 ] && grep -q "stuck: rank $rank at op" "$folder/err.0" && [ $SECONDS -le $((usual_s + 6)) ] &&
        for k in 1 2 3; do [ -s "$folder/err.$k" ] || false; done
    report "process $rank hangs for good: all end"
done

# ---- who does not belong here: no process is kept from the run by those who call as well ----
knock() { # as soon as somebody listens
    for _ in $(seq 500); do (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break || sleep 0.01; done
    exec 7<>"/dev/tcp/127.0.0.1/$port" 8<>"/dev/tcp/127.0.0.1/$port" || return 1
    printf 'fipp' >&8 # the first word of a hello, and nothing behind it
    printf 'GET / HTTP/1.0\r\n\r\n' 1<>"/dev/tcp/127.0.0.1/$port"
    env PIPEEXEC_RUN_ID=other RANK=1 LOCAL_RANK=1 WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
        timeout 60 "$pipeexec" $small 2>"$folder/err.4"
    [ $? -eq 1 ] && grep -q 'another run of pipeexec listens there' "$folder/err.4"
}
listens_at() { # ADDRESS in hex: nobody listens at that port elsewhere
    local at
    at=$(awk -v port="$(printf '%04X' $port)" '$4 == "0A" { split($2, a, ":"); if (a[2] == port) print a[1] }' /proc/net/tcp)
    [ "$at" = "$1" ]
}
port=$((port + 1))
rm -f "$folder"/err.* "$folder"/out.*
for k in 0 1 2 3; do
    # shellcheck disable=SC2086
    env RANK=$k LOCAL_RANK=$k WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port timeout 60 "$pipeexec" $small --json \
        >"$folder/out.$k" 2>"$folder/err.$k" &
    [ $k -gt 0 ] || { knock && listens_at 0100007F; }
    knocked=${knocked:-$?}
done
wait
exec 7>&- 8>&-
[ "$knocked" -eq 0 ] && check_same
report "strangers are left, and only loopback is listened at"

# ---- two hosts ----
if ! ip netns add $space 2>/dev/null || ! ip link add $wire type veth peer name ${wire}b netns $space 2>/dev/null; then
    number=$((number + 1))
    echo "ok $number - two hosts # SKIP network namespaces are not permitted here"
else
    ip addr add 10.213.77.1/24 dev $wire && ip link set $wire up
    ip netns exec $space ip addr add 10.213.77.2/24 dev ${wire}b
    ip netns exec $space ip link set ${wire}b up
    ip netns exec $space ip link set lo up
    port=$((port + 1))
    rm -f "$folder"/err.* "$folder"/out.*
    for k in 3 2 1 0; do
        there=()
        [ $k -ge 2 ] && there=(ip netns exec $space)
        # shellcheck disable=SC2086
        env RANK=$k LOCAL_RANK=$((k % 2)) WORLD_SIZE=4 MASTER_ADDR=10.213.77.1 MASTER_PORT=$port "${there[@]}" \
            timeout 60 "$pipeexec" $small --json --clock wall --trace "$folder/trace.csv" >"$folder/out.$k" 2>"$folder/err.$k" &
    done
    wait
    check_same
    report "two hosts"
    # columns 6 to 9: posted, matched, start, end; matched is the later of two stamps, one of them of the other process
    awk -F, '/^# clock_error_s: / { split($0, word, ": "); error = word[2] }
             $4 == "channel" { matched[$1, $2, $3, $5] = $7; bad = bad || $6 > $7 || $7 > $8 || $8 > $9 }
             $4 == "control" && /RECV.*WAIT/ {
                 cell = substr($5, 2, index($5, ")") - 2)
                 bad = bad || !(($1, $2, $3, cell) in matched) || $9 < matched[$1, $2, $3, cell] - error
                 waits++
             }
             END { exit bad || waits < 50 || error <= 0 || error > 0.1 }' "$folder/trace.csv"
    report "no message ends before it begins"
    # the name of a host means 127.0.1.1 on that host alone, as Debian installs it
    sed "1i 127.0.1.1 first-of-the-run" /etc/hosts >"$folder/hosts"
    if unshare -m mount --bind "$folder/hosts" /etc/hosts 2>/dev/null; then
        port=$((port + 1))
        rm -f "$folder"/err.* "$folder"/out.*
        for k in 3 2 1 0; do
            if [ $k -ge 2 ]; then
                there=(ip netns exec $space env MASTER_ADDR=10.213.77.1)
            else
                # shellcheck disable=SC2016
                there=(env MASTER_ADDR=first-of-the-run unshare -m sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$folder/hosts")
            fi
            # shellcheck disable=SC2086
            RANK=$k LOCAL_RANK=$((k % 2)) WORLD_SIZE=4 MASTER_PORT=$port "${there[@]}" timeout 60 "$pipeexec" $small --json \
                >"$folder/out.$k" 2>"$folder/err.$k" &
        done
        wait
        check_same
        report "a name that means another address on its own host"
    fi
    # without an error report: each side finds out by itself
    if [ -n "${PIPESIM_LONG:-}" ]; then
        port=$((port + 1))
        rm -f "$folder"/err.* "$folder"/out.* "$folder"/rc.*
        for k in 3 2 1 0; do
            there=()
            [ $k -ge 2 ] && there=(ip netns exec $space)
            # shellcheck disable=SC2086
            { RANK=$k LOCAL_RANK=$((k % 2)) WORLD_SIZE=4 MASTER_ADDR=10.213.77.1 MASTER_PORT=$port "${there[@]}" timeout 120 \
                "$pipeexec" --schedule zbv --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 1000000 --no-check --quiet 2>"$folder/err.$k"; echo $? >"$folder/rc.$k"; } &
        done
        sleep 3
        ip link set $wire down
        wait
        [ "$(cat "$folder"/rc.* | tr '\n' ' ')" = "1 1 1 1 " ] && # 124: not by itself
            grep -q 'connection to .*process.* at 10.213.77.2 was closed' "$folder/err.0"
        report "the network between two hosts is gone"
    fi
fi
echo "1..$number"
[ $failures -eq 0 ]
