#!/usr/bin/env bash
# Processes that share only a file train to the bits of threads. A file of an earlier or another run
# misleads no process. A process that waits in vain reports what it awaits.
#
#   rendezvous.sh PIPEEXEC
set -u
pipeexec=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# shellcheck source=tests/exec/tap.sh
. "$(dirname "$0")/tap.sh"
small="--schedule zbv --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 2 --exact-grad --check --json"
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT
meet="$folder/meet"

# one RANK OPTIONS...: process RANK of two, at most 20 s; its exit code
one() {
    # shellcheck disable=SC2086
    RANK=$1 WORLD_SIZE=2 timeout 20 "$pipeexec" $small "${@:2}" >"$folder/out.$1" 2>"$folder/err.$1"
}
facts() { sed -n '/"losses"/,/\]/p; /"bit_equal"/p' "$1"; }
is_same() { grep -q '"transport": "tcp"' "$folder/out.0" && [ "$(facts "$folder/out.0")" = "$(facts "$folder/threads")" ]; }
nothing_is_left() { [ ! -e "$meet" ] && [ "$(find "$folder" -name 'meet*' | wc -l)" -eq 0 ]; }

# shellcheck disable=SC2086
"$pipeexec" $small --np 2 >"$folder/threads"
one 1 --rendezvous "file://$meet" &
sleep 0.2
one 0 --rendezvous "file://$meet" && wait $! && is_same && nothing_is_left
report "the second waits for the first"
one 0 --rendezvous "file://$meet" --calibrate-on 1f1b &
sleep 0.2
one 1 --rendezvous "file://$meet" --calibrate-on 1f1b && wait $! && is_same && nothing_is_left
report "the first waits for the second, and two programs follow one another"
MASTER_ADDR="file://$meet" one 1 &
MASTER_ADDR="file://$meet" one 0 && wait $! && is_same && nothing_is_left
report "MASTER_ADDR"
# shellcheck disable=SC2086
timeout 20 "$pipeexec" $small --rendezvous "file://$meet?rank=1&world_size=2" >"$folder/out.1" 2>"$folder/err.1" &
# shellcheck disable=SC2086
timeout 20 "$pipeexec" $small --rendezvous "file://$meet?rank=0&world_size=2" >"$folder/out.0" 2>"$folder/err.0" && wait $! && is_same
report "no variables"
one 1 --rendezvous tcp://127.0.0.1:$port &
one 0 --rendezvous tcp://127.0.0.1:$port && wait $! && is_same
report "host and port"

# ---- files that were there before ----
stale() { # RUN PROCESSES: of a process 0 that is dead
    printf 'pipeexec rendezvous 1\nrun %016x\nof %d\ndrawn %016x\nport %d\nat 127.0.0.1\n' "$1" "$2" 7 1 >"$meet"
}
stale 0 2
one 1 --rendezvous "file://$meet" &
sleep 0.3
one 0 --rendezvous "file://$meet" && wait $! && is_same && nothing_is_left
report "a file of an earlier run"
vain() { # NAME TEXT: process 1 waits a second
    one 1 --rendezvous "file://$meet?timeout=1"
    [ $? -eq 1 ] && grep -q "process 1 of 2 has waited 1 s for process 0: $2" "$folder/err.1" && [ -e "$meet" ]
    report "$1"
}
stale 0 2
vain "a file of an earlier run, and no other comes" "the file is that of an earlier run: no process listens at port 1 of 127.0.0.1"
stale 5 2
vain "a file of another run" "the file is that of another run"
stale 0 4
vain "a file of more processes" "the file is of a run of 4 processes, not 2"
echo "something else" >"$meet"
vain "a file of somebody else" "the file is no rendezvous of pipeexec"
rm "$meet"
one 1 --rendezvous "file://$meet?timeout=1"
[ $? -eq 1 ] && grep -q "for process 0: there is no such file" "$folder/err.1"
report "no file"
one 0 --rendezvous "file://$meet?timeout=1"
[ $? -eq 1 ] && grep -q "after 1 s these of 2 processes have not called: 1" "$folder/err.0" &&
    grep -q "calls elsewhere than at port [0-9]* of this host" "$folder/err.0" && nothing_is_left
report "who is missing is named, and no file left"

one 1 --rendezvous "tcp://127.0.0.1:$port?timeout=1"
[ $? -eq 1 ] && grep -q "cannot reach process 0 at 127.0.0.1 port $port: Connection refused" "$folder/err.1" &&
    grep -q "no process has listened there for 1 s: process 0 has not been started" "$folder/err.1"
report "nobody listens"
RANK=0 WORLD_SIZE=2 "$pipeexec" --rendezvous "tcp://127.0.0.1:$port?timeout=20" 2>"$folder/err.0" &
for _ in $(seq 500); do grep -q ":$(printf %04X $port) 0*:0000 0A " /proc/net/tcp* && break || sleep 0.01; done
RANK=0 WORLD_SIZE=2 timeout 20 "$pipeexec" --rendezvous "tcp://127.0.0.1:$port" 2>"$folder/err.1"
[ $? -eq 1 ] && grep -q "cannot listen at port $port: Address already in use" "$folder/err.1" &&
    grep -q "or two processes say that they are process 0" "$folder/err.1"
report "two first processes"
kill $!
wait

for ending in INT TERM HUP; do # while process 0 waits for the others
    env --default-signal RANK=0 WORLD_SIZE=2 "$pipeexec" --rendezvous "file://$meet" 2>"$folder/err.0" &
    for _ in $(seq 500); do [ -e "$meet" ] && break || sleep 0.01; done
    [ -e "$meet" ] && kill -$ending $! && ! wait $! && nothing_is_left
    report "a first process that SIG$ending ends leaves no file"
done

# ---- a first process that is stopped ----
endless() { # RANK COMMAND...
    RANK=$1 WORLD_SIZE=2 exec "${@:2}" --schedule 1f1b --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 \
        --steps 1000000 --no-check --quiet --timeout 1 --rendezvous "file://$meet" 2>"$folder/err.$1"
}
endless 0 "$pipeexec" &
first=$!
for _ in $(seq 500); do [ -s "$meet" ] && break || sleep 0.01; done
[ "$(stat -c %a "$meet")" = 600 ]
report "the file is its owner's"
endless 1 timeout 20 "$pipeexec" &
second=$!
for _ in $(seq 500); do [ -e "$meet" ] && sleep 0.01 || break; done
kill -STOP $first
wait $second
[ $? -eq 1 ] && grep -q "step [0-9]*: process 0 at [0-9.]* has said nothing for [1-9].[0-9] s (--timeout): it is stopped" "$folder/err.1"
report "members leave a first process that is stopped"
kill -KILL $first

# ---- what cannot be ----
one 0 --rendezvous "file://$folder/none/meet"
[ $? -eq 1 ] && grep -q "rendezvous file://$folder/none/meet: .*No such file or directory" "$folder/err.0"
report "no folder"
one 0 --rendezvous file:///dev/null
[ $? -eq 1 ] && grep -q "rendezvous file:///dev/null: cannot be a file that only you read: it is a device or pipe" "$folder/err.0"
report "a device"
one 0 --rendezvous "file://none/meet"
[ $? -eq 1 ] && grep -q "a path from the root has three slashes: file:///none/meet" "$folder/err.0"
report "two slashes"
# shellcheck disable=SC2086
RANK=1 WORLD_SIZE=2 timeout 20 "$pipeexec" $small >/dev/null 2>"$folder/err.0" && grep -q "warning: RANK=1 and WORLD_SIZE=2 do not say where process 0 is" "$folder/err.0"
report "nobody says where to meet"
# shellcheck disable=SC2086
PMI_RANK=1 PMI_SIZE=3 timeout 20 "$pipeexec" $small --transport shm >/dev/null 2>"$folder/err.0" && grep -q "warning: process 1 of 3 (PMI_RANK) runs all ranks itself" "$folder/err.0"
report "a launcher, and a transport of one process"
refused() { # TEXT OPTIONS...
    # shellcheck disable=SC2086
    timeout 20 "$pipeexec" $small "${@:2}" >"$folder/out.0" 2>"$folder/err.0"
    [ $? -eq 2 ] && grep -qF -- "$1" "$folder/err.0"
    report "refused: $1"
}
refused "expected file://PATH or tcp://HOST:PORT" --rendezvous meet
refused "it names no file" --rendezvous file://
refused "--rendezvous tcp://a: it names no host and port" --rendezvous tcp://a
MASTER_ADDR=tcp://a refused "MASTER_ADDR tcp://a: it names no host and port"
refused "port: " --rendezvous tcp://a:70000
refused "come rank, world_size and timeout" --rendezvous "file://a?size=2"
refused "rank and world_size stand together" --rendezvous "file://a?rank=2"
refused "--rendezvous file://a?rank=2&world_size=2: of 2 processes ranks are 0 to 1, so none is 2" --rendezvous "file://a?rank=2&world_size=2"
refused "timeout: " --rendezvous "file://a?timeout=0"
refused "nothing says which of how many processes this is" --rendezvous file://a
refused "one process starts all ranks" --rendezvous file://a --transport local

echo "1..$number"
exit $((failures > 0))
