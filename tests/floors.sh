#!/usr/bin/env bash
# The rules of the house: who may include whom, and which names and calls stay where they belong.
set -u
cd "$(dirname "$0")/.."
status=0

# A folder includes itself and the folders above it in floors.txt. A parts.h is private to its folder. A folder
# has at most 25 C files, but schedules/ grows by one file for each schedule.
floors() {
    git ls-files '*.c' '*.h' '*.cu' '*.cuh' | grep -vE '^(tests|bench|docs)/' | awk -v floors=tests/floors.txt '
        BEGIN {
            while ((getline line < floors) > 0)
                if (line !~ /^#/ && split(line, word, " ")) floor[word[1]] = ++n
        }
        function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
        function refuse(text) { print text; bad = 1 }
        {
            file = $0; here = folder(file); count[here]++
            if (!(here in floor)) { if (!told[here]++) refuse(here ": not in " floors); next }
            while ((getline line < file) > 0) {
                if (line !~ /^#include "/) continue
                target = line; sub(/^#include "/, "", target); sub(/".*/, "", target)
                there = folder(target)
                if (!(there in floor)) { refuse(file ": includes " target ": not a path from the root"); continue }
                if (there == here) continue
                if (floor[there] > floor[here]) refuse(file ": includes " target ", a floor above")
                if (target ~ /(^|\/|_)parts\.h$/) refuse(file ": includes " target ", private to " there)
            }
            close(file)
        }
        END {
            for (f in count) if (count[f] > 25 && f != "schedules") refuse(f ": " count[f] " files, at most 25")
            for (f in floor) if (!(f in count)) refuse(f ": in " floors ", but not there")
            exit bad
        }'
}
floors || status=1

folders=()
for folder in core schedules traces kernels sim exec plots; do
    [ -d $folder ] && folders+=($folder)
done

# contents FILE...: their text in $contents
contents() {
    contents=
    local file text
    for file; do
        text=
        IFS= read -r -d '' text <"$file"
        contents+=$text
    done
}

# Every page of command lines is a test.
contents tests/*/meson.build
for page in tests/cli/*.t tests/cli/*.sh tests/exec/*.sh tests/exec/test_*.c; do
    name=${page##*/} name=${name%.*}
    case $name in run) continue ;; esac
    if ! [[ $contents =~ "'"(test_)?"${name#test_}"(\.[a-z]+)?"'" ]]; then
        echo "$page is in no meson.build"
        status=1
    fi
done

# Every unit test is in the meson.build of its folder, and every folder in that of tests/unit.
contents tests/unit/meson.build
all=$contents read_folder=
while IFS= read -r file; do
    folder=${file%/*}
    [ "$folder" = "$read_folder" ] || contents "$folder/meson.build"
    read_folder=$folder
    if [[ $contents != *"'${file##*/}'"* || $all != *$'\n'"  '${folder#tests/unit/}',"$'\n'* ]]; then
        echo "$file is in no meson.build"
        status=1
    fi
done < <(git ls-files 'tests/unit/*/test_*.c')

# Types of optional parts stay in their own files.
contained() {
    local bad
    bad=$(grep -rlE "$1" "${folders[@]}" --include='*.[ch]' | grep -vE "$2")
    if [ -n "$bad" ]; then
        printf '%s must stay in %s:\n%s\n' "$1" "$2" "$bad"
        status=1
    fi
}
contained '#include <simgrid/' '^sim/simgrid'
contained '#include <(cuda|nccl|cublas)' '^(exec/.*(cuda|nccl)|kernels/cuda/)'
contained '#include <csv.h>' '^core/text/csv'

# A schedule's name belongs to its own file and to no other.
names=$(sed -sn '/^const struct pp_schedule /,$s/^ *\.name = "\(.*\)",$/\1/p' schedules/*.c | paste -sd '|')
bad=$(grep -rnE "(strcmp|strcasecmp|pp_schedule_find)\([^)]*\"($names)\"" "${folders[@]}" --include='*.[ch]')
if [ -z "$names" ] || [ -n "$bad" ]; then
    printf 'a schedule is named outside its file:\n%s\n' "$bad"
    status=1
fi
# No second description, no exit below main, no printf in libraries.
bad=$(grep -rnE '\b(exit|abort)\(' core schedules traces kernels plots sim exec --include='*.c' | grep -vE '^(core/arena.c|(sim|exec)/main.c)')
if [ -n "$bad" ]; then
    printf 'only main and the arena may end the program:\n%s\n' "$bad"
    status=1
fi
# Text of files, options and peers reaches stderr as a message, or through pp_tell(): without control characters.
bad=$(grep -rn 'fprintf(stderr\|fputs([^;]*stderr' core schedules traces kernels plots sim exec --include='*.c' |
    grep -vE '^(core/(arena|printable|process/(process|worker)|text/(output|progress))|sim/simgrid/module/probe)\.c')
if [ -n "$bad" ]; then
    printf 'print this with pp_tell():\n%s\n' "$bad"
    status=1
fi
exit $status
