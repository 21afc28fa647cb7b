#!/usr/bin/env bash
# Runs NVIDIA's compute-sanitizer over tests of kernels, as a part of bench/gpu.sh. It prints a JSON
# list with a row for each tool and program, as far as time allows. A row has the exit code (9 for errors
# found, 124 for too long), the number of errors, and the first words of a failure. Without the tool
# it prints an object that says so.
# Usage: bench/gpu/sanitize.sh [FOLDER of test programs]
set -u
. bench/gpu/within.sh
folder=${1:-$work/build}
sanitizer=
for file in "$(command -v compute-sanitizer)" "${CUDA_HOME:-/usr/local/cuda}"/{bin,compute-sanitizer}/compute-sanitizer; do
    [ -x "$file" ] && { sanitizer=$file && break; }
done
if [ -z "$sanitizer" ]; then
    echo '{"skipped": "no compute-sanitizer in PATH or CUDA_HOME"}'
    echo "sanitizer: skipped, no compute-sanitizer in PATH or CUDA_HOME" >&2
    exit 0
fi
complaints=0 programs=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# The most valuable tools come first. Then racecheck and synccheck examine shared memory and barriers, which
# matter most in the kernels of attention and of rows. The tool initcheck does not see what cuBLASLt writes, so
# it gets only our own kernels.
runs='memcheck test_attention heads splits
racecheck test_attention heads
initcheck test_attention heads
synccheck test_attention heads
memcheck test_kernels_rows
memcheck test_kernels_tokens
memcheck test_kernels_update
memcheck test_kernels_fixed
racecheck test_kernels_rows
racecheck test_kernels_tokens
synccheck test_kernels_rows
initcheck test_kernels_rows
memcheck test_gemm'

echo '['
separator=
while read -r tool program tests; do
    [ -x "$folder/$program" ] || continue
    [ "$(date +%s)" -lt "$deadline" ] || { echo "sanitizer: out of time before $tool $program" >&2 && break; }
    begun=$(date +%s)
    # shellcheck disable=SC2086 # names of tests
    timeout -k 2 "$(within 20)" "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 3 "$folder/$program" \
        $tests >"$out" 2>&1
    status=$?
    errors=$(sed -n 's/.*ERROR SUMMARY: \([0-9]*\) error.*/\1/p; s/.*RACECHECK SUMMARY: \([0-9]*\) hazard.*/\1/p' "$out")
    report=
    if [ "$status" -ne 0 ] || [ "${errors:-1}" != 0 ]; then
        report=$(grep '^====\|^#\|rror' "$out" | head -n 12 | tr -d '\000-\011\013-\037' | sed 's/[\\"]/\\&/g' |
            awk '{printf "%s\\n", $0}')
    fi
    printf '%s  {"tool": "%s", "program": "%s", "tests": "%s", "status": %d, "errors": %s, "seconds": %d, "report": "%s"}' \
        "$separator" "$tool" "$program" "$tests" "$status" "${errors:-null}" $(($(date +%s) - begun)) "$report"
    separator=$',\n'
    [ "$status" -eq 124 ] || programs=$((programs + 1))
    [ "$status" -ne 9 ] || complaints=$((complaints + 1))
    echo "sanitizer: $tool $program $tests: exit code $status, ${errors:-no count of} errors" >&2
done <<<"$runs"
printf '\n]\n'
[ -z "${figures:-}" ] || printf 'sanitizer_errors %d\nsanitizer_programs %d\n' $complaints $programs >>"$figures"
