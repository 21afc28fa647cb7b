#!/usr/bin/env bash
# Proof that a refactoring changes no output: record what programs print, later compare to the bit.
#
#   same.sh record BINDIR OUTDIR [PATTERN]       run every command with the programs of BINDIR, keep what came
#   same.sh compare [--figures] BINDIR OUTDIR [PATTERN]   run again (only names that match PATTERN, a regular
#                                                expression), print what differs; exit 1 if anything does
#   same.sh installed BUILDDIR                   the paths that "meson install" would write, sorted
#
# BINDIR has pipesim and pipeexec. Commands are those of commands.txt and one for each row of
# tests/golden/index.csv. OUTDIR/NAME holds command, exit code, stdout and stderr. A command runs in a folder of its
# own, which is gone at the end; paths, host and wall-clock times are replaced by fixed words.
# Reports of pipeexec (names that begin with exec_) keep only what no clock has a part in; with abstract costs
# (exec_unit_) that includes the times. figures.py lists what is dropped.
# --figures compares figures alone, so that a reworded sentence does not count. Strings of JSON and cells of CSV
# that contain a space are masked; plain text and stderr are left out.
# JOBS=2 is the number of commands that run concurrently.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export LC_ALL=C NO_COLOR=1 COLUMNS=80 PYTHONDONTWRITEBYTECODE=1

usage() {
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
}

# "name: command" of every command.
list() {
    grep -vE '^(#|$)' "$here/commands.txt"
    awk -F, 'NR > 1 {
        printf "golden_%s_%s: pipesim program --compute --schedule %s --pp %s %s--micro-batches %s %s\n",
            substr($1, 1, length($1) - 4), $2, $2, $3, ($4 > 1 ? "--vp " $4 " " : ""), $5, $6
    }' "$root/tests/golden/index.csv"
}

# Runs one command; its output goes to FOLDER/NAME.
one() {
    local results=$1 name=${2%%: *} command=${2#*: } folder code=0
    folder=$(mktemp -d "$SAME_SCRATCH/XXXXXXXX") && mkdir "$folder/tmp" || return 1
    ln -s "$root"/tests/{data,programs,published} "$root/docs" "$root/tests/cli/validate.csv" "$folder"
    (cd "$folder" && TMPDIR=$folder/tmp exec timeout 300 bash -c "$command") \
        >"$results/$name.out" 2>"$results/$name.err" </dev/null || code=$?
    {
        printf '$ %s\n= %d\n--- stdout\n' "$command" $code
        case $name in
        exec_unit_*) python3 "$here/figures.py" keep-unit <"$results/$name.out" ;;
        exec_*) python3 "$here/figures.py" keep <"$results/$name.out" ;;
        *) cat "$results/$name.out" ;;
        esac
        echo '--- stderr'
        cat "$results/$name.err"
    } | sed -E "s:$folder:FOLDER:g; s:$root:ROOT:g; s/(\"(wall_s)\": ).*[0-9]/\1TIME/; s/(\"host\": )\"[^\"]*\"/\1HOST/
        s/^(  searched .* in )[0-9.]+ [a-z]+:/\1TIME:/" >"$results/$name"
    rm -rf "$folder" "$results/$name.out" "$results/$name.err"
}

# run BINDIR RESULTS PATTERN: every command whose name matches.
run() {
    local bindir program
    bindir=$(cd "$1" && pwd) || exit 2
    SAME_SCRATCH=$(mktemp -d) && export SAME_SCRATCH || exit 2
    trap 'rm -rf "$SAME_SCRATCH"' EXIT
    mkdir -p "$SAME_SCRATCH/bin" "$2"
    for program in pipesim pipeexec; do
        program=$(find "$bindir" -name "$program" -type f -perm -u+x | head -n 1)
        [ -n "$program" ] || { echo "same.sh: no pipesim or no pipeexec in $bindir" >&2; exit 2; }
        printf '#!/bin/sh\nexec "%s" "$@"\n' "$program" >"$SAME_SCRATCH/bin/${program##*/}"
        chmod +x "$SAME_SCRATCH/bin/${program##*/}"
    done
    export PATH=$SAME_SCRATCH/bin:$PATH
    list | awk -F: -v pattern="$3" '$1 ~ pattern' |
        xargs -d '\n' -P "${JOBS:-2}" -n 1 bash "$here/same.sh" one "$2"
}

# Prints what differs between the recorded and the new output of a command.
differs() {
    cmp -s "$2" "$3" && return
    if [ "$1" = figures ]; then
        diff <(python3 "$here/figures.py" figures <"$2") <(python3 "$here/figures.py" figures <"$3")
    else
        diff "$2" "$3"
    fi
}

compare() {
    local view=all same=0 different=0 recorded now name found
    [ "${1:-}" != --figures ] || { view=figures && shift; }
    [ $# -ge 2 ] && [ -d "$2" ] || usage
    recorded=$2 now=$(mktemp -d) || exit 2
    run "$1" "$now" "${3:-.}"
    for name in $(list | awk -F: -v pattern="${3:-.}" '$1 ~ pattern { print $1 }'); do
        if [ ! -f "$recorded/$name" ]; then
            found="it is not recorded"
        elif found=$(differs $view "$recorded/$name" "$now/$name"); then
            same=$((same + 1))
            continue
        fi
        different=$((different + 1))
        printf 'different: %s: %s\n' "$name" "$(sed -n '1s/^\$ //p' "$now/$name" | cut -c -300)"
        head -n 8 <<<"$found" | cut -c -200 | sed 's/^/    /'
    done
    rm -rf "$now"
    echo "$same same, $different different"
    [ $different -eq 0 ]
}

case ${1:-} in
record) [ $# -ge 3 ] && run "$2" "$(mkdir -p "$3" && cd "$3" && pwd)" "${4:-.}" || usage ;;
compare) compare "${@:2}" ;;
installed) meson introspect "${2:?BUILDDIR}" --installed | python3 "$here/figures.py" installed ;;
one) one "${@:2}" ;; # for xargs
*) usage ;;
esac
