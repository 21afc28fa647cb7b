#!/usr/bin/env bash
# headers.sh: the host's files compile with the headers of several versions of CUDA, and of the oldest NCCL.
# Headers of the runtime come from packages of about 1 MB, which are kept in the user's cache. Without them
# and without a network, a version is skipped. cuBLASLt and NCCL have large packages. So their headers are
# those of the emulation, and that of NCCL loses a field that is newer than 2.18.
set -u
cd "$(dirname "$0")/../.." || exit
# shellcheck source=tests/cuda/check.sh
. tests/cuda/check.sh
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pipesim/cuda-headers
python=$(command -v python3)

# fetch VERSION: its headers in the cache. The exit code is not 0 without them.
fetch() {
    [ ! -e "$cache/$1/cuda_runtime_api.h" ] || return 0
    timeout 60 "$python" -m pip download -q --no-deps --only-binary :all: --platform manylinux2014_x86_64 \
        -d "$folder/$1" "nvidia-cuda-runtime-cu12==$1" >"$folder/pip" 2>&1 || return
    "$python" -m zipfile -e "$folder/$1"/*.whl "$folder/$1" && mkdir -p "$cache" &&
        mv "$folder/$1/nvidia/cuda_runtime/include" "$cache/$1"
}

mkdir "$folder/others"
cp tests/cuda/include/cublasLt.h "$folder/others"
sed -e 's/^#define NCCL_MINOR .*/#define NCCL_MINOR 18/; s/^#define NCCL_VERSION_CODE .*/#define NCCL_VERSION_CODE 21800/' \
    -e 's/[*]commName;/*of_later_versions;/' tests/cuda/include/nccl.h >"$folder/others/nccl.h"
compiles() { # VERSION
    local file failed=0
    for file in exec/cuda/*.c exec/nccl/*.c kernels/cuda/*.c kernels/cuda/gemm/*.c bench/gpu/*.c bench/probe/*.c; do
        "${CC:-cc}" -std=gnu11 -fsyntax-only -Wall -Werror -DPP_VERSION='"0"' -I. -isystem "$folder/others" -isystem "$cache/$1" "$file" || failed=1
    done
    return "$failed"
}
for version in 12.4.127 12.8.90 12.9.79; do
    if fetch $version; then
        check "CUDA ${version%.*} and NCCL 2.18" compiles $version
    else
        number=$((number + 1))
        echo "ok $number - CUDA ${version%.*} # SKIP no package and no network"
    fi
done
end_checks
