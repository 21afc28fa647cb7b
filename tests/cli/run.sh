#!/usr/bin/env bash
# Command lines with expected output, as a user would type them; prints TAP.
#
#   run.sh PROGRAM... FILE...    each PROGRAM is found by its name; UPDATE=1 rewrites the files
#
# In a .t file:  "$ command"  then "> stdout line", "! stderr line", "= exit code" (0 if left out).
# A stdout or stderr line that ends in " ..." matches any rest of the line; a lone "..." any lines.
# In a .md file: fenced console blocks, "$ command" then its output; exit code 0. Blocks of "console
# oracle" run where python3, or the one that PIPEEXEC_ORACLE_PYTHON names, has transformers.
# UPDATE=1 keeps what still matches.
# The commands of a file run in a folder of their own, which has the repository's files as links.
# So the files that they write are separate from those of other tests, and are removed at the end.
set -u
programs=() files=()
for argument; do
    case $argument in
    *.t | *.md) files+=("$(realpath "$argument")") ;;
    *) programs+=("$(realpath "$argument")") ;;
    esac
done
cd "$(dirname "$0")/../.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C NO_COLOR=1 COLUMNS=80 TMPDIR=$scratch PIPESIM=${programs[0]}
export PATH=$scratch/bin:$PATH
mkdir "$scratch/bin"
for program in "${programs[@]}"; do
    ln -s "$program" "$scratch/bin"
done
number=0 failures=0

# Makes python3 the one with transformers; false if there is none.
has_oracle() {
    local python
    python=$(type -P "${PIPEEXEC_ORACLE_PYTHON:-python3}") && "$python" -c 'import torch, transformers' 2>"$scratch/why" || return
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >"$scratch/bin/python3"
    chmod +x "$scratch/bin/python3"
}

# A folder for the commands of one more file.
new_folder() {
    folder=$(mktemp -d "$scratch/XXXXXX") && ln -s "$PWD"/* "$folder"
}

# Wildcards of FILE1 matched against FILE2; most files are equal.
matches() {
    local want got
    IFS= read -r -d '' want <"$1"
    if ! IFS= read -r -d '' got <"$2" && [[ $want == "$got" ]]; then return; fi # no NUL, equal
    fits "$1" "$2"
}
fits() {
    awk 'function fits(want, got) {
             if (want ~ / \.\.\.$/) { want = substr(want, 1, length(want) - 4); return index(got, want) == 1 }
             return want == got
         }
         FILENAME == ARGV[1] { want[n++] = $0; next } { got[m++] = $0 }
         END {
             i = 0
             for (j = 0; j < n; j++) {
                 if (want[j] == "...") {
                     if (j == n - 1) exit 0
                     while (i < m && !fits(want[j + 1], got[i])) i++
                 } else if (i >= m || !fits(want[j], got[i++])) exit 1
             }
             exit i != m
         }' "$1" "$2"
}

# What is expected of a stream while it still matches, else what came.
kept_or_new() {
    if matches "$scratch/$1" "$scratch/got_$1"; then cat "$scratch/$1"; else cat "$scratch/got_$1"; fi
}

# Run $command and compare; appends to the rewritten file when UPDATE is set.
flush_case() {
    [ -n "$command" ] || return 0
    number=$((number + 1))
    local rc=0
    : >>"$scratch/out" : >>"$scratch/err"
    (cd "$folder" && exec bash -c "$command") >"$scratch/got_out" 2>"$scratch/got_err" </dev/null || rc=$?
    if [ -n "${UPDATE:-}" ] && [ "$kind" = md ]; then
        kept_or_new out >>"$scratch/new"
    elif [ -n "${UPDATE:-}" ]; then
        kept_or_new out | sed 's/^/> /; s/ $//' >>"$scratch/new"
        kept_or_new err | sed 's/^/! /; s/ $//' >>"$scratch/new"
        [ $rc -eq 0 ] || echo "= $rc" >>"$scratch/new"
    fi
    if matches "$scratch/out" "$scratch/got_out" && { [ "$kind" = md ] || matches "$scratch/err" "$scratch/got_err"; } &&
        [ "$rc" = "$code" ]; then
        echo "ok $number - ${file##*/}: $command"
    else
        failures=$((failures + 1))
        echo "not ok $number - ${file##*/}: $command"
        { echo "exit $rc, expected $code"; diff "$scratch/out" "$scratch/got_out"; [ "$kind" = md ] || diff "$scratch/err" "$scratch/got_err"; } | sed 's/^/# /'
    fi
    command=
    : >"$scratch/out"
    : >"$scratch/err"
}

start_case() {
    flush_case
    command=$1 code=0
    : >"$scratch/out"
    : >"$scratch/err"
}

for file in "${files[@]}"; do
    kind=${file##*.} command= code=0 fence=0
    : >"$scratch/new"
    new_folder || exit 1
    while IFS= read -r line || [ -n "$line" ]; do
        if [ "$kind" = md ]; then
            case $line in
            '```console') fence=1 ;;
            '```console oracle') if has_oracle; then fence=1; fi ;;
            '```'*) flush_case && fence=0 ;;
            '$ '*) [ $fence = 1 ] && start_case "${line#'$ '}" ;;
            *)
                if [ $fence = 1 ] && [ -n "$command" ]; then
                    printf '%s\n' "$line" >>"$scratch/out"
                    continue
                fi
                ;;
            esac
            printf '%s\n' "$line" >>"$scratch/new"
            continue
        fi
        case $line in
        '$ '*) start_case "${line#'$ '}"; printf '%s\n' "$line" >>"$scratch/new" ;;
        '>') echo >>"$scratch/out" ;;
        '!') echo >>"$scratch/err" ;;
        '> '*) printf '%s\n' "${line#'> '}" >>"$scratch/out" ;;
        '! '*) printf '%s\n' "${line#'! '}" >>"$scratch/err" ;;
        '= '*) code=${line#'= '} ;;
        *) flush_case; printf '%s\n' "$line" >>"$scratch/new" ;;
        esac
    done <"$file"
    flush_case
    [ -z "${UPDATE:-}" ] || cp "$scratch/new" "$file"
done
echo "1..$number"
[ $failures -eq 0 ]
