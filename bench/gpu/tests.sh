#!/usr/bin/env bash
# The tests of kernels on the device, as a phase of bench/gpu.sh. A row has the program's exit code (124 for
# too long, 127 for not built), and the numbers of tests that passed and failed.
set -u
. bench/gpu/within.sh
each_s=25 all_failed=0 all_passed=0
[ "$kind" = cuda ] || each_s=300
for program in "$work"/build/test_*; do
    name=$(basename "$program")
    timeout -k 2 "$(within $each_s)" "$program" >"$work/$name.tap" 2>"$work/$name.err"
    status=$?
    failures=$(grep -B1 '^not ok' "$work/$name.tap" | tr -d '\000-\010\013-\037' | sed 's/[\\"]/\\&/g; s/\t/ /g' | awk '{printf "%s\\n", $0}')
    passed=$(grep -c '^ok' "$work/$name.tap") failed=$(grep -c '^not ok' "$work/$name.tap")
    [ $status -eq 0 ] || [ "$failed" -gt 0 ] || failed=1 # ended before its end
    all_passed=$((all_passed + passed)) all_failed=$((all_failed + failed))
    printf '{"program": "%s", "status": %d, "passed": %d, "failed": %d, "failures": "%s"}\n' "$name" $status "$passed" \
        "$failed" "$failures"
    echo "$name: exit code $status, $passed passed, $failed failed" >&2
    tail -n 4 "$work/$name.err" >&2
done
for file in "$work"/build/missing/test_*; do
    [ -e "$file" ] || continue
    all_failed=$((all_failed + 1))
    printf '{"program": "%s", "status": 127, "passed": 0, "failed": 1, "failures": "not built"}\n' "${file##*/}"
done
printf 'tests_failed %d\ntests_passed %d\n' $all_failed $all_passed >>"$figures"
[ $all_failed -eq 0 ]
