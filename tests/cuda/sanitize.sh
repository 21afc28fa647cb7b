#!/usr/bin/env bash
# sanitize.sh: bench/gpu/sanitize.sh with a compute-sanitizer that is a script. Cases: no finding, a
# finding, a sanitizer that cannot use the device, one that never ends, and none at all.
set -u
cd "$(dirname "$0")/../.." || exit
# shellcheck source=tests/cuda/check.sh
. tests/cuda/check.sh
for program in test_attention test_kernels_rows; do script "$folder/$program" "echo \"\$@\" >>$folder/asked"; done
deadline=$(($(date +%s) + 100))
export deadline CUDA_HOME=$folder PATH=$folder/bin:$PATH
# tool BODY: what a compute-sanitizer does, with its program and arguments in "$@".
tool() {
    script "$folder/bin/compute-sanitizer" '[ "$1 $3 $5" = "--tool --error-exitcode --print-limit" ] || exit 3
tool=$2
shift 6
'"$1"
}
answers() { bench/gpu/sanitize.sh "$folder" | python3 -c "import json, sys
runs = json.load(sys.stdin)
print(runs)
assert $1"; }
clean() {
    tool '"$@"; if [ $tool = racecheck ]; then
echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"; else
echo "========= ERROR SUMMARY: 0 errors"; fi'
    answers 'len(runs) == 8 and all(x["errors"] == x["status"] == 0 and x["report"] == "" for x in runs)' &&
        grep -qx 'heads splits' "$folder/asked"
}
dirty() {
    tool 'printf "========= Invalid __global__ write of size \"4\"\n========= ERROR SUMMARY: 2 errors\n"; exit 9'
    answers 'all(x["errors"] == 2 and x["status"] == 9 and "write of size" in x["report"] for x in runs)'
}
refused() {
    tool 'echo "========= Error: Device not supported. Please refer to the \"Supported Devices\" section"; exit 1'
    answers 'all(x["errors"] is None and x["status"] == 1 and "not supported" in x["report"] for x in runs)'
}
hanging() {
    tool 'exec sleep 60'
    deadline=$(($(date +%s) + 2)) answers '0 < len(runs) < 5 and all(x["status"] == 124 for x in runs)'
}
missing() {
    rm "$folder/bin/compute-sanitizer"
    command -v compute-sanitizer || answers 'list(runs) == ["skipped"]'
}
check 'nothing is found' clean
check 'something is found' dirty
check 'it cannot use the device' refused
check 'it never ends' hanging
check 'there is none' missing
end_checks
