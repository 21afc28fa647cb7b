#!/usr/bin/env bash
# spills.sh NVCC: every kernel compiles without a warning, and keeps its numbers in registers, on each
# device that is compiled for. A test for each file; without nvcc they are skipped.
set -u
cd "$(dirname "$0")/../.."
nvcc=${1:-}

if ! command -v "$nvcc" >&2; then
    echo "1..0 # SKIP no nvcc"
    exit 0
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# compile FILE: what nvcc and ptxas say, and its exit code.
compile() {
    "$nvcc" -std=c++17 -O3 -I. -gencode=arch=compute_80,code=sm_80 \
        -gencode=arch=compute_90,code=sm_90 -Xcompiler=-Wall,-Wextra -Xptxas=-v,-warn-spills \
        -c "$1" -o "$folder/$(basename "$1").o" 2>&1
}

# summary: the most registers of a kernel, from what ptxas says.
summary() {
    sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' | sort -n | tail -n 1
}

files=(kernels/cuda/*.cu)
echo "1..${#files[@]}"
number=0
for file in "${files[@]}"; do
    number=$((number + 1))
    said=$(compile "$file")
    code=$?
    spilled=$(grep -E '[1-9][0-9]* bytes spill' <<<"$said")
    if [ $code != 0 ] || [ -n "$spilled" ] || grep -qi warning <<<"$said"; then
        echo "not ok $number - $file"
        grep -vE 'Compile time|Compiling entry|Function properties' <<<"$said" | sed 's/^/# /'
    else
        echo "ok $number - $file: at most $(summary <<<"$said") registers"
    fi
done
