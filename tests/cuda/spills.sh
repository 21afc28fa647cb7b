#!/usr/bin/env bash
# spills.sh [SAID...]: every kernel compiles without a warning and keeps its numbers in registers, for
# each device of the build. SAID are files with the output of nvcc and ptxas in the build
# (kernels/cuda/compile.sh). Each file is a test; without nvcc they are skipped.
set -u
if [ $# -eq 0 ]; then
    echo "1..0 # SKIP no nvcc"
    exit 0
fi

echo "1..$#"
number=0
for said in "$@"; do
    number=$((number + 1))
    name=$(basename "$said" .txt)
    kernels=$(grep -c 'Used [0-9]* registers' "$said")
    most=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$said" | sort -n | tail -n 1)
    if [ "$kernels" -eq 0 ] || grep -qE '[1-9][0-9]* bytes spill' "$said" || grep -qi warning "$said"; then
        echo "not ok $number - $name: $kernels kernels"
        grep -vE 'Compile time|Compiling entry|Function properties' "$said" | sed 's/^/# /'
    else
        echo "ok $number - $name: at most $most registers"
    fi
done
