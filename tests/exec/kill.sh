#!/usr/bin/env bash
# A rank that hangs for good or is stopped is named, and ends with all others soon after the timeout.
# Those that wait for it say why.
# If a rank, or pipeexec itself, is killed at a random moment, the run ends within 2 s with a
# nonzero exit code. No process, shared memory or socket is left. PIPESIM_LONG=1: 100 times each.
# A second is TURNS turns of this script, which waits in each. So a machine that is slow for the run
# is slow for the watch, too.
# The trials take turns in what the four ranks exchange: messages, partial sums, shards, experts.
#
#   kill.sh PIPEEXEC TRANSPORT...
set -u
pipeexec=$(realpath "$1")
shift
trials=12 number=0 failures=0
readonly TURNS=75 # of 10 ms, and of a process that waits so long
[ -n "${PIPESIM_LONG:-}" ] && trials=100
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tmp" && export TMPDIR="$folder/tmp"
RANDOM=17
small="--layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 100000 --quiet --no-check"
layouts=("--schedule zbv --np 4" "--schedule 1f1b --np 2 --tp 2" "--schedule 1f1b --np 2 --dp 2 --zero 2"
    "--schedule zb-h1 --np 2 --dp 2 --zero 3" "--schedule 1f1b --np 2 --tp 2 --sequence-parallel on"
    "--schedule 1f1b --np 2 --dp 2 --experts 4 --ep 2" "--schedule 1f1b --np 1 --tp 2 --dp 2 --experts 4 --ep 2")

children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
left_over() { find /dev/shm "$TMPDIR" -maxdepth 1 -name "*pipeexec*" | sort; } # what is mapped has no name

# Zombies do not count.
lives() { [[ $(cut -d ' ' -f 3 "/proc/$1/stat" 2>/dev/null) == [!Z] ]]; }

# outlived TURNS PID...: false once all have ended; true if they have not after so many turns
outlived() {
    local left=$1 pid
    shift
    for pid; do
        while lives "$pid"; do
            [ $((left--)) -gt 0 ] || return 0
            sleep 0.01
        done
    done
    return 1
}

# Until all four ranks are there.
wait_for_ranks() {
    local pids
    for _ in $(seq 6000); do
        pids=($(children "$1"))
        [ ${#pids[@]} -eq 4 ] && return
        sleep 0.01
    done
}

# Layouts that a transport refuses by name have no trial there.
runs() {
    # shellcheck disable=SC2086
    "$pipeexec" --transport "$1" $2 ${small/100000/1} 2>"$folder/err" || ! grep -q "^pipeexec: error: --[a-z-]* .*transport" "$folder/err"
}

# trial TRANSPORT VICTIM LAYOUT: a rank, or 4 = the one that started them
trial() {
    local main pids before
    before=$(left_over)
    # shellcheck disable=SC2086
    "$pipeexec" --transport "$1" $3 $small 2>"$folder/err" &
    main=$!
    wait_for_ranks $main
    pids=($(children $main) "$main")
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill -9 "${pids[$2]}" || return 1
    is_late=$(outlived $((2 * TURNS)) $main "${pids[@]}" && echo ", late")
    wait $main 2>/dev/null
    rc=$?
    [ $rc -ne 0 ] && [ -z "$is_late" ] && [ "$(left_over)" = "$before" ] || return 1
    [ "$2" -eq 4 ] || grep -q "its process [0-9]* was ended by signal 9 (Killed)" "$folder/err"
}

# frozen TRANSPORT: a thread that nothing reaches
frozen() {
    local main before pids
    before=$(left_over)
    # shellcheck disable=SC2086
    "$pipeexec" --transport "$1" ${layouts[0]} $small --timeout 2 --inject "freeze rank:1 op:5 step:3" 2>"$folder/err" &
    main=$!
    [ "$1" = local ] || wait_for_ranks $main
    pids=($(children $main))
    is_late=$(outlived $((8 * TURNS)) $main && echo ", late")
    wait $main
    rc=$?
    for pid in "${pids[@]}"; do lives "$pid" && return 1; done
    [ $rc -eq 1 ] && [ -z "$is_late" ] && [ "$(left_over)" = "$before" ] &&
        grep -q "^pipeexec: error: step 3: no rank has made progress for 2.0 s (--timeout)" "$folder/err" &&
        grep -q "stuck: rank 1 at op 5 of" "$folder/err"
}

# What a stopped process said of its place over tcp may be a moment old. It counts as silent after 1 s
# without a sign of life, and the last one may come later than the last progress.
declare -A timeout_s=([shm]=1 [tcp]=2)
declare -A stuck=([shm]="at op 5 of .*: its process [0-9]* is stopped"
    [tcp]="at op [0-9]* of .*: its process [0-9]* at 127.0.0.1 has said nothing")
# stopped TRANSPORT LAYOUT WHY: a process that the system has stopped, and why another waits
stopped() {
    # shellcheck disable=SC2086
    "$pipeexec" --transport "$1" $2 $small --timeout "${timeout_s[$1]}" --inject "stop rank:1 op:5 step:3" 2>"$folder/err"
    rc=$?
    [ $rc -eq 1 ] && grep -q "stuck: rank 1.* ${stuck[$1]}" "$folder/err" && grep -q "$3" "$folder/err"
}

for transport in local "$@"; do
    number=$((number + 1))
    if frozen "$transport"; then
        echo "ok $number - $transport, frozen"
    else
        failures=$((failures + 1))
        echo "not ok $number - $transport, frozen: exit code $rc$is_late"
        sed 's/^/# /' "$folder/err"
    fi
done
while IFS='|' read -r layout why; do
    for transport; do
        number=$((number + 1))
        if stopped "$transport" "$layout" "$why"; then
            echo "ok $number - $transport, stopped, $layout"
        else
            failures=$((failures + 1))
            echo "not ok $number - $transport, stopped, $layout: exit code $rc"
            sed 's/^/# /' "$folder/err"
        fi
    done
done <<'EOF'
--schedule 1f1b --np 2 --tp 2|waits for its tensor-parallel group
--schedule 1f1b --np 2 --dp 2 --experts 4 --ep 2|waits for the replicas that share its experts
--schedule 1f1b --np 2 --tp 2 --dp 2 --experts 4 --ep 2|waits for its tensor-parallel group and the replicas
--schedule 1f1b --np 2 --dp 2 --zero 3|waits for the sum
EOF
for transport; do
    layouts_here=()
    for layout in "${layouts[@]}"; do runs "$transport" "$layout" && layouts_here+=("$layout"); done
    for ((k = 0; k < trials; k++)); do
        number=$((number + 1))
        victim=$((k % 5)) layout=${layouts_here[k % ${#layouts_here[@]}]}
        if trial "$transport" $victim "$layout"; then
            echo "ok $number - $transport, victim $victim, $layout"
        else
            failures=$((failures + 1))
            echo "not ok $number - $transport, victim $victim, $layout: exit code ${rc:-?}${is_late:-}"
            sed 's/^/# /' "$folder/err"
        fi
    done
done
echo "1..$number"
[ $failures -eq 0 ]
