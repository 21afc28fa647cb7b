#!/usr/bin/env bash
# The tests of kernels on the device, as a part of bench/gpu.sh: a JSON list of programs with their exit
# code (124: took too long), and what passed and failed.
set -u
. bench/gpu/within.sh
limit_s=25
[ "$kind" = cuda ] || limit_s=300
echo '['
separator=
for program in "$work"/build/test_*; do
    name=$(basename "$program")
    timeout "$(within $limit_s)" "$program" >"$work/$name.tap" 2>"$work/$name.err"
    status=$?
    failures=$(grep -B1 '^not ok' "$work/$name.tap" | sed 's/[\\"]/\\&/g' | awk '{printf "%s\\n", $0}')
    printf '%s  {"program": "%s", "status": %d, "passed": %d, "failed": %d, "failures": "%s"}' "$separator" "$name" \
        $status "$(grep -c '^ok' "$work/$name.tap")" "$(grep -c '^not ok' "$work/$name.tap")" "$failures"
    separator=$',\n'
    echo "$name: exit code $status, $(grep -c '^ok' "$work/$name.tap") passed, $(grep -c '^not ok' "$work/$name.tap") failed" >&2
    cat "$work/$name.err" >&2
done
printf '\n]\n'
