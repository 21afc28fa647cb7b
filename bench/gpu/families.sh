#!/usr/bin/env bash
# Small models of the families of the hub on the device, as a phase of bench/gpu.sh. Rows are the checks of
# tests/exec/cuda_families.sh: bits of one rank, losses and norms of the CPU.
set -u
tests/exec/cuda_families.sh "$work/build/pipeexec" >"$work/families.tap"
sed -n 's/^\(not ok\|ok\) [0-9]* - \(.*\)$/{"check": "\2", "result": "\1"}/p' "$work/families.tap"
failed=$(grep -c '^not ok' "$work/families.tap") passed=$(grep -c '^ok' "$work/families.tap")
printf 'families_failed %d\nfamilies_passed %d\n' "$failed" "$passed" >>"$figures"
grep -A8 '^not ok' "$work/families.tap" >&2
echo "families: $passed checks passed, $failed failed" >&2
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
