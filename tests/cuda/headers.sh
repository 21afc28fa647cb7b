#!/usr/bin/env bash
# headers.sh: the host's files compile with the headers of several versions of CUDA, and of the oldest and
# the newest NCCL. Headers come from packages of Python, and are kept in the user's cache. Those of the
# runtime have a few MB, those of NCCL 200 to 350 MB. Without them and without a network, a version is
# skipped. The package of cuBLASLt has 400 MB or more, so its header is that of the emulation.
set -u
cd "$(dirname "$0")/../.." || exit
# shellcheck source=tests/cuda/check.sh
. tests/cuda/check.sh
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pipesim/cuda-headers
python=$(command -v python3)
has_network=yes

# fetch NAME VERSION: headers of the package nvidia-NAME, in the cache. The exit code is not 0 without them.
fetch() {
    local at=$cache/$1-$2 platforms=(--platform manylinux2014_x86_64 --platform manylinux_2_27_x86_64)
    [ ! -d "$at" ] || return 0
    [ $has_network = yes ] || return
    timeout 120 "$python" -m pip download -q --no-deps --only-binary :all: "${platforms[@]}" --retries 0 --timeout 10 \
        -d "$folder/$1-$2" "nvidia-$1==$2" >"$folder/pip" 2>&1 || { has_network=no && return 1; }
    "$python" - "$folder/$1-$2"/*.whl "$at" <<'END'
import os, re, sys, zipfile
wheel, at = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        header = re.search(r"^nvidia/\w+/include/(.+\.h\w*)$", name)
        if header:
            file = os.path.join(at + ".part", header[1])
            os.makedirs(os.path.dirname(file), exist_ok=True)
            open(file, "wb").write(archive.read(name))
os.rename(at + ".part", at)
END
    rm -r "${folder:?}/$1-$2"
}

mkdir "$folder/others"
cp tests/cuda/include/cublasLt.h "$folder/others"
read -ra cc <<<"${CC:-cc}"
compiles() { # PACKAGES...
    local file failed=0 headers=(-isystem "$folder/others") package
    for package in "$@"; do headers+=(-isystem "$cache/$package"); done
    for file in exec/cuda/*.c exec/nccl/*.c kernels/cuda/*.c kernels/cuda/gemm/*.c bench/gpu/*.c bench/probe/*.c; do
        "${cc[@]}" -std=gnu11 -fsyntax-only -Wall -Werror -DPP_VERSION='"0"' -I. "${headers[@]}" "$file" || failed=1
    done
    return "$failed"
}
all() { # WHAT PACKAGES...: each as its name and its version
    local what=$1 package packages=()
    shift
    for package in "$@"; do
        # shellcheck disable=SC2086 # name and version
        fetch $package || {
            number=$((number + 1))
            echo "ok $number - $what # SKIP no package ${package/ /-} and no network"
            return
        }
        packages+=("${package/ /-}")
    done
    check "$what" compiles "${packages[@]}"
}
all 'CUDA 12.4 and NCCL 2.18' 'cuda-runtime-cu12 12.4.127' 'nccl-cu12 2.18.3'
all 'CUDA 12.8 and NCCL 2.18' 'cuda-runtime-cu12 12.8.90' 'nccl-cu12 2.18.3'
all 'CUDA 12.9 and NCCL 2.32' 'cuda-runtime-cu12 12.9.79' 'nccl-cu12 2.32.3'
all 'CUDA 13.5 and NCCL 2.32' 'cuda-runtime 13.5.37' 'cuda-crt 13.5.37' 'nccl-cu12 2.32.3'
end_checks
