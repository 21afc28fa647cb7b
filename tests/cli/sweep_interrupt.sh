#!/usr/bin/env bash
# A sweep that is ended at any moment, by any signal, and gone on with gives the file of one that
# was not; prints TAP. PIPESIM_LONG=1 tries for minutes.
set -um # every sweep in a process group of its own, where Ctrl-C is not ignored
program=$(realpath "$1")
folder=$(mktemp -d)
trap '[ "$BASHPID" = $$ ] && rm -rf "$folder"' EXIT # not when a child is ended before it runs
cd "$folder" || exit 1
sweep=("$program" sweep --schedule gpipe,1f1b,zbv,chimera --gpus 64 --pp 4,8
    --micro-batches 8:64:+8 --part all -j 2)
trials=5 number=0 failures=0 interruptions=0
[ -n "${PIPESIM_LONG:-}" ] && trials=150

fail() {
    echo "# $*"
    is_good=false
}

# No process of a group is left, its workers and their children included. Zombies do not count.
check_gone() {
    for _ in $(seq 500); do
        cat /proc/[0-9]*/stat 2>/dev/null |
            awk -v group="$1" '$5 == group && $3 != "Z" { left = 1 } END { exit left }' && return
        sleep 0.02
    done
    fail "processes are left in group $1"
}

# Points are in order, whatever was lost: columns in front of the first quote have no newline.
check_order() {
    grep -E '^[0-9]+,(gpipe|1f1b|zbv|chimera),' sweep.csv | cut -d, -f1 >points
    sort -n points | cmp -s - points || fail "rows are not in the order of points"
}

# One run, ended after $2 ms by signal $1, "-$1" for all of its processes as by Ctrl-C.
run_and_end() {
    "${sweep[@]}" -o sweep.csv 2>messages &
    local pid=$! code
    sleep "$(printf '0.%03d' "$2")"
    if [ "${1#-}" != "$1" ]; then
        kill "$1" -- "-$pid" 2>/dev/null
    else
        kill "-$1" "$pid" 2>/dev/null
    fi
    wait "$pid" 2>/dev/null
    code=$?
    check_gone "$pid"
    [ $code -eq 0 ] || interruptions=$((interruptions + 1))
    case ${1#-}:$code in
    *:0) ;; # the signal came too late
    INT:130 | TERM:130)
        grep -q 'the same command continues' messages && check_order
        ;;
    TERM:143 | KILL:137 | HUP:129) ;; # TERM: before or behind the run of points
    *) fail "exit code $code after $1: $(cat messages)" ;;
    esac
    case $1 in
    *INT | *TERM) [ -z "$(ls -- *.tmp 2>/dev/null)" ] || fail "a temporary file is left" ;;
    esac
    grep -q ',failed,' sweep.csv 2>/dev/null && fail "a point is said to have failed"
}

signals=(INT -INT TERM -TERM KILL -KILL HUP)
started=$(date +%s%N)
"${sweep[@]}" -o whole.csv 2>/dev/null || fail "the sweep does not run"
whole_ms=$((($(date +%s%N) - started) / 1000000 + 5)) # most signals come before the end
[ $whole_ms -lt 999 ] || whole_ms=999
echo "1..$((trials + 1))"
while [ $number -lt "$trials" ]; do
    number=$((number + 1)) is_good=true ended=
    rm -f sweep.csv
    for _ in 1 2 3 4; do
        signal=${signals[RANDOM % ${#signals[@]}]}
        after=$((RANDOM % whole_ms))
        ended="$ended $signal@$after"
        run_and_end "$signal" $after
        rm -f -- *.tmp # those of a killed sweep
    done
    "${sweep[@]}" -o sweep.csv 2>messages || fail "does not go on: $(cat messages)"
    cmp sweep.csv whole.csv || fail "another file than in one go"
    $is_good || failures=$((failures + 1))
    $is_good && echo "ok $number - ended by$ended" || echo "not ok $number - ended by$ended"
done
[ $interruptions -gt 0 ] || failures=$((failures + 1))
[ $interruptions -gt 0 ] && echo "ok $((trials + 1)) - $interruptions runs were ended before they were done" ||
    echo "not ok $((trials + 1)) - no run was ended before it was done"
[ $failures -eq 0 ]
