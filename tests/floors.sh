#!/usr/bin/env bash
# Who may include whom: core <- {schedules, traces, kernels} <- plots <- {sim, exec} <- main.c.
set -u
cd "$(dirname "$0")/.."
status=0

# floor FOLDER REGEX-OF-FOLDERS-IT-MAY-INCLUDE
floor() {
    local bad
    [ -d "$1" ] || return
    bad=$(grep -rnE '^#include "' "$1" --include='*.[ch]' --include='*.cu' | grep -vE "#include \"($2)/")
    if [ -n "$bad" ]; then
        printf 'floor violated by %s (may include: %s)\n%s\n' "$1" "$2" "$bad"
        status=1
    fi
}
floor core 'core'
floor schedules 'core|schedules'
floor traces 'core|traces'
floor kernels 'core|kernels'
floor plots 'core|schedules|traces|plots'
floor sim 'core|schedules|traces|plots|sim'
floor exec 'core|schedules|traces|kernels|plots|exec'

folders=()
for folder in core schedules traces kernels sim exec plots; do
    [ -d $folder ] && folders+=($folder)
done

# Every page of command lines is a test.
for page in tests/cli/*.t tests/cli/*.sh tests/exec/*.sh tests/exec/test_*.c; do
    name=$(basename "${page%.*}")
    case $name in run) continue ;; esac
    if ! grep -qE "'(test_)?${name#test_}(\.[a-z]+)?'" tests/*/meson.build; then
        echo "$page is in no meson.build"
        status=1
    fi
done

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

# A schedule's name belongs to its own file and to nobody else.
for file in schedules/*.c; do
    name=$(sed -n 's/^ *\.name = "\(.*\)",$/\1/p' "$file")
    [ -n "$name" ] || continue
    bad=$(grep -rnE "(strcmp|strcasecmp|pp_schedule_find)\([^)]*\"$name\"" "${folders[@]}" --include='*.[ch]')
    if [ -n "$bad" ]; then
        printf 'schedule %s is named outside its file:\n%s\n' "$name" "$bad"
        status=1
    fi
done
# No second description, no exit below main, no printf in libraries.
bad=$(grep -rnE '\b(exit|abort)\(' core schedules traces kernels plots sim exec --include='*.c' | grep -vE '^(core/arena.c|(sim|exec)/main.c)')
if [ -n "$bad" ]; then
    printf 'only main and the arena may end the program:\n%s\n' "$bad"
    status=1
fi
exit $status
