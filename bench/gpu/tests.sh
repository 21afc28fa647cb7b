#!/usr/bin/env bash
# The tests of kernels on the device, as a part of bench/gpu.sh: a JSON object of programs with what
# passed and failed. Fails where a program ends without a word.
set -u
. bench/gpu/within.sh
echo '['
separator=
for program in "$work"/build/test_*; do
    name=$(basename "$program")
    timeout "$(within 100)" "$program" >"$work/$name.tap" 2>"$work/$name.err"
    status=$?
    failures=$(grep -B1 '^not ok' "$work/$name.tap" | sed 's/[\\"]/\\&/g' | awk '{printf "%s\\n", $0}')
    printf '%s  {"program": "%s", "status": %d, "passed": %d, "failed": %d, "failures": "%s"}' "$separator" "$name" \
        $status "$(grep -c '^ok' "$work/$name.tap")" "$(grep -c '^not ok' "$work/$name.tap")" "$failures"
    separator=$',\n'
    echo "$name: exit code $status, $(grep -c '^ok' "$work/$name.tap") passed, $(grep -c '^not ok' "$work/$name.tap") failed" >&2
    cat "$work/$name.err" >&2
done
printf '\n]\n'
