#!/bin/sh
# compile.sh SAID NVCC ARGUMENTS...: compile, and write the output of nvcc and ptxas to the file SAID,
# for tests/cuda/spills.sh. Errors and warnings are printed, too.
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
