#!/usr/bin/env bash
# build.sh: bench/gpu/build.sh with compilers that are scripts. A part whose source does not compile is missing
# with its reason, and the others are built. Without a part that everything needs, nothing is.
set -u
cd "$(dirname "$0")/../.." || exit
# shellcheck source=tests/cuda/check.sh
. tests/cuda/check.sh
# It refuses sources and programs with one of the words of the file `broken` in their names.
cat >"$folder/cc" <<'END'
#!/bin/sh
for word; do
    case $last in -c) source=$word ;; -o) output=$word ;; esac
    last=$word
done
if grep -qF "$(cat "${0%/*}/broken")" <<X; then echo "error: $source$output"; exit 1; fi
${source:-$output}
X
: >"$output"
END
chmod +x "$folder/cc"
run() { CC=$folder/cc CXX=$folder/cc bench/gpu/build.sh "$folder/out" emulated; }
built() { # BROKEN...
    rm -rf "$folder/out"
    printf '%s\n' "$@" >"$folder/broken"
    run
}
is_there() { for name; do [ -e "$folder/out/$name" ] || return; done; }
missing() { diff <(printf '%s\n' "$@") <(ls "$folder/out/missing"); }
sources() {
    built bench/probe/runtime.c exec/nccl/open.c tests/cuda/test_gemm.c && missing nccl probe test_gemm &&
        is_there pipeexec pipeexec-cuda.so kernels test_attention built-emulated &&
        grep -x 'error: bench/probe/runtime.c.*' "$folder/out/missing/probe" && ! grep idirafter "$folder/out/todo"
}
again() { : >"$folder/broken" && run && missing nccl probe test_gemm; }
link() {
    built out/probe && missing probe && is_there pipeexec pipeexec-cuda.so kernels test_gemm test_attention libnccl_stub.so &&
        grep -x 'error: .*/out/probe' "$folder/out/missing/probe"
}
kernel() { ! built kernels/cuda/ops/norm.cu && missing pipeexec-cuda.so && ! is_there built-emulated; }
check 'sources that do not compile' sources
check 'a second call keeps that' again
check 'a probe that does not link' link
check 'a kernel that does not compile' kernel
end_checks
