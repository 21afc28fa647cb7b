#!/bin/sh
# compile.sh SAID NVCC ARGUMENTS...: compile, and keep what nvcc and ptxas say in the file SAID, where
# tests/cuda/spills.sh reads it. Errors and warnings are shown as well.
said=$1
shift
"$@" >"$said" 2>&1
code=$?
if [ $code -ne 0 ]; then
    cat "$said" >&2
elif grep -qi warning "$said"; then
    grep -i warning "$said" >&2
fi
exit $code
