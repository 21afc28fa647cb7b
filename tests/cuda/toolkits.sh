#!/usr/bin/env bash
# toolkits.sh: kernels/cuda/find.sh with toolkits of scripts and of headers of a few lines. Each toolkit that
# does not suit is refused with its reason, by Meson, too. Libraries in packages of Python are found.
set -u
cd "$(dirname "$0")/../.." || exit
# shellcheck source=tests/cuda/check.sh
. tests/cuda/check.sh
unset NVCC CUDA_HOME NCCL_HOME CUDNN_FRONTEND DEPS
export SYSROOT=$folder/system PYTHON=$folder/python
tools=$folder/cuda-13.0

define() { # FILE NAME VALUE...
    mkdir -p "$(dirname "$1")" && printf '#define %s %s\n' "${@:2}" >"$1"
}
library() { mkdir -p "$(dirname "$1")" && : >"$1"; }
# nvcc VERSION CODES COMPILING: its version, what it lists, and what it does with a source.
nvcc() {
    script "$tools/bin/nvcc" "case \$1 in
--version) echo 'Cuda compilation tools, release $1, V$1.88' ;;
--list-gpu-code) printf 'sm_%s\n' $2 ;;
*) echo \"\$*\" >'$folder/asked'; ${3:-exit 0} ;;
esac"
}
blas() { # INCLUDE MAJOR
    define "$1/cublasLt.h" CUBLASLT_H_ 1 && define "$1/cublas_api.h" CUBLAS_VER_MAJOR "$2" CUBLAS_VER_MINOR 1 CUBLAS_VER_PATCH 0
}
front_end() { # INCLUDE MINOR
    define "$1/cudnn_frontend_version.h" CUDNN_FRONTEND_MAJOR_VERSION 1 CUDNN_FRONTEND_MINOR_VERSION "$2" CUDNN_FRONTEND_PATCH_VERSION 0
}
# A toolkit of 13.0 that suits, and nothing else.
suitable() {
    rm -rf "$folder"/{system,cuda-13.0,packages,asked}
    mkdir -p "$folder/system"
    nvcc 13.0 '80 90 100 120'
    define "$tools/include/cuda_runtime_api.h" CUDART_VERSION 13000
    blas "$tools/include" 13
    library "$tools/lib64/libcudart.so.13" && library "$tools/lib64/libcublasLt.so.13"
    script "$PYTHON" 'exit 1'
}
find_it() { CUDA_HOME=$tools kernels/cuda/find.sh "$@" >"$folder/found"; }
refused() { # REASON
    local status=0
    find_it || status=$?
    cat "$folder/found"
    [ $status -eq 1 ] && [ "$(wc -l <"$folder/found")" -eq 1 ] && grep -qF "$1" "$folder/found"
}
has() { # NAME VALUE...: these lines, and no others of the name
    cat "$folder/found"
    printf "$1\t%s\n" "${@:2}" | diff - <(grep "^$1	" "$folder/found")
}

# It has what to type, and refuses what names no architecture.
usage() {
    kernels/cuda/find.sh --help >"$folder/found" && grep '^find.sh \[ARCHITECTURES\]' "$folder/found" && ! grep -E '^ *(set|#)' "$folder/found" &&
        ! kernels/cuda/find.sh hopper >"$folder/found" 2>"$folder/said" && [ ! -s "$folder/found" ] && grep "'hopper': architectures are numbers" "$folder/said"
}
# A CUDA_HOME without nvcc is passed over, and said.
passed_over() {
    suitable && CUDA_HOME=$folder/none PATH=$tools/bin:$PATH kernels/cuda/find.sh >"$folder/found" 2>"$folder/said" && has nvcc "$tools/bin/nvcc" &&
        grep "CUDA_HOME has no nvcc ($folder/none/bin/nvcc)" "$folder/said" && find_it 2>"$folder/said" && [ ! -s "$folder/said" ]
}
# refuses WHAT REASON CHANGE...: a toolkit that suits, but for the change.
refuses() { check "$1" changed "${@:2}"; }
changed() { suitable && "${@:2}" && refused "$1"; }

none() { suitable && rm -r "$tools/bin" && PATH=/usr/bin:/bin refused 'nvcc is not found'; }
named() { suitable && NVCC=$folder/nvcc refused "there is no $folder/nvcc"; }
host_compiler() {
    suitable && nvcc 13.0 '80 90' 'echo "x.h:1: #error -- unsupported GNU version! gcc versions later than 15 are not supported!" >&2; exit 1' &&
        refused 'does not compile a trial' && refused 'gcc versions later than 15'
}
alone() {
    suitable && find_it && has cuda 13.0 && has include "$tools/include" && has cudart "$tools/lib64/libcudart.so.13" &&
        has no_nccl 'there is no nccl.h' && has no_cudnn 'there is no cudnn.h of version 9' && has rpath "$tools/lib64" &&
        grep -q -e "-isystem $tools/include .*-Xlinker $tools/lib64/libcublasLt.so.13" "$folder/asked"
}
# A link to nvcc does not move the toolkit, and libraries may be in a folder of their machine.
linked() {
    suitable && library "$tools/targets/$(uname -m)-linux/lib/libcudart.so" && rm "$tools/lib64/libcudart.so.13" &&
        mkdir "$folder/system/bin" && ln -s "$tools/bin/nvcc" "$folder/system/bin/nvcc" &&
        NVCC=$folder/system/bin/nvcc kernels/cuda/find.sh >"$folder/found" &&
        has include "$tools/include" && has cudart "$tools/targets/$(uname -m)-linux/lib/libcudart.so"
}
# What PyTorch brings for CUDA 13, without names for linkers, and NCCL and cuDNN in folders of their own.
packages() {
    local at=$folder/packages/nvidia
    suitable && script "$PYTHON" "echo $at"
    rm "$tools"/include/cublas* "$tools/lib64/libcublasLt.so.13"
    blas "$at/cu13/include" 13 && blas "$at/cublas/include" 12
    for file in cu13/lib/libcublasLt.so.13 nccl/lib/libnccl.so.2 cudnn/lib/libcudnn.so.9; do library "$at/$file"; done
    define "$at/nccl/include/nccl.h" NCCL_MAJOR 2 NCCL_MINOR 28 NCCL_PATCH 9
    define "$at/cudnn/include/cudnn.h" CUDNN_H_ 1
    define "$at/cudnn/include/cudnn_version.h" CUDNN_MAJOR 9 CUDNN_MINOR 19 CUDNN_PATCHLEVEL 0
    front_end "$folder/packages/include" 13
    find_it && has include "$tools/include" "$at/cu13/include" && has cublaslt "$at/cu13/lib/libcublasLt.so.13" &&
        has nccl_version 2.28.9 && has nccl_include "$at/nccl/include" && has nccl "$at/nccl/lib/libnccl.so.2" &&
        has cudnn_version 9.19.0 && has cudnn_include "$at/cudnn/include" "$at/../include" &&
        has rpath "$tools/lib64" "$at/cu13/lib" "$at/nccl/lib" "$at/cudnn/lib"
}
# The same for CUDA 12, whose packages have a folder for each library.
packages_12() {
    local at=$folder/packages/nvidia
    suitable && nvcc 12.8 '80 90 100 120' && rm -r "$tools/include" "$tools/lib64" && script "$PYTHON" "echo $at"
    define "$at/cuda_runtime/include/cuda_runtime_api.h" CUDART_VERSION 12080
    blas "$at/cublas/include" 12
    library "$at/cuda_runtime/lib/libcudart.so.12" && library "$at/cublas/lib/libcublasLt.so.12"
    find_it && has include "$at/cuda_runtime/include" "$at/cublas/include" && has cudart "$at/cuda_runtime/lib/libcudart.so.12" &&
        has rpath "$at/cuda_runtime/lib" "$at/cublas/lib"
}
old_nccl() {
    suitable && define "$tools/include/nccl.h" NCCL_MAJOR 2 NCCL_MINOR 16 NCCL_PATCH 2 && find_it &&
        has no_nccl "the header in $tools/include is of 2.16.2, older than 2.18"
}
old_front_end() {
    suitable && define "$tools/include/cudnn.h" CUDNN_H_ 1 && front_end "$folder/front/include" 12
    define "$tools/include/cudnn_version.h" CUDNN_MAJOR 9 CUDNN_MINOR 19 CUDNN_PATCHLEVEL 0
    CUDNN_FRONTEND=$folder/front find_it && has no_cudnn "the front end in $folder/front/include is of 1.12.0, older than 1.13"
}
words() {
    suitable && script "$folder/bin/ccache" 'exec "$@"' && PATH=$folder/bin:$PATH NVCC="ccache $tools/bin/nvcc" kernels/cuda/find.sh >"$folder/found" && has nvcc ccache "$tools/bin/nvcc"
}
# Folders of the system are where compilers look anyway. To name them again would hide headers of C++.
of_system() {
    suitable && mkdir -p "$SYSROOT/usr" && mv "$tools"/* "$SYSROOT/usr" && NVCC=$SYSROOT/usr/bin/nvcc kernels/cuda/find.sh >"$folder/found" &&
        has cudart "$SYSROOT/usr/lib64/libcudart.so.13" && ! grep '^include\|^rpath' "$folder/found"
}
all='code=[sm_90,sm_100,sm_120,compute_90]'
architectures() {
    suitable && find_it && has gencode '-gencode=arch=compute_80,code=[sm_80]' "-gencode=arch=compute_90,$all" &&
        find_it 86 && has gencode '-gencode=arch=compute_80,code=[compute_80]' &&
        find_it '80 120' && has gencode '-gencode=arch=compute_80,code=[sm_80]' '-gencode=arch=compute_90,code=[sm_120,compute_90]' &&
        nvcc 13.0 '75 80 90' && find_it &&
        has gencode '-gencode=arch=compute_80,code=[sm_80]' '-gencode=arch=compute_90,code=[sm_90,compute_90]'
}
native() {
    suitable && script "$folder/bin/nvidia-smi" 'echo 9.0; echo 9.0' && PATH=$folder/bin:$PATH find_it native &&
        has gencode '-gencode=arch=compute_90,code=[sm_90,compute_90]' &&
        script "$folder/bin/nvidia-smi" 'echo "no devices were found"; exit 6' && PATH=$folder/bin:$PATH find_it native &&
        has gencode '-gencode=arch=compute_80,code=[sm_80]' "-gencode=arch=compute_90,$all"
}
# Meson's summary has the reason, and a build that asks for CUDA ends with it.
meson_says() {
    suitable && nvcc 11.8 '80 90'
    local reason="nvcc 11.8 is older than 12.4 ($tools/bin/nvcc)" options=(-Dtests=disabled -Dsimgrid=disabled)
    NVCC=$tools/bin/nvcc meson setup "${options[@]}" "$folder/without" >"$folder/said" 2>&1 || { cat "$folder/said" && return 1; }
    grep -F "no, because $reason" "$folder/said" && ! NVCC=$tools/bin/nvcc meson setup "${options[@]}" -Dcuda=enabled "$folder/with" >"$folder/said" 2>&1 &&
        grep -F "ERROR: Feature cuda cannot be enabled: $reason" "$folder/said" &&
        ninja -C "$folder/without" exec/libexec.a.p/cuda_load.c.o && grep -aF "this build has no CUDA, because $reason" "$folder/without/exec/libexec.a.p/cuda_load.c.o"
}

# A build that asks for cuDNN ends without it.
cudnn_asked() {
    suitable && nvcc 11.8 '80 90' && ! NVCC=$tools/bin/nvcc meson setup -Dtests=disabled -Dsimgrid=disabled -Dcudnn=enabled "$folder/cudnn" >"$folder/said" 2>&1 &&
        grep -F 'ERROR: Feature cudnn cannot be enabled: CUDA is not there' "$folder/said"
}

check 'a usage' usage
check 'no nvcc' none
check 'a CUDA_HOME without nvcc' passed_over
check 'NVCC names none' named
check 'a compiler of the host that nvcc refuses' host_compiler
refuses 'an nvcc that does not run' 'does not run: libz.so.1: not found' script "$tools/bin/nvcc" 'echo "libz.so.1: not found" >&2; exit 127'
refuses 'an nvcc without a version' 'does not tell its version' script "$tools/bin/nvcc" 'exit 0'
refuses 'an nvcc that is too old' "nvcc 11.8 is older than 12.4 ($tools/bin/nvcc)" nvcc 11.8 '80 90'
refuses 'no headers' 'has no cuda_runtime_api.h' rm -r "$tools/include"
refuses 'headers of another version' "nvcc is of CUDA 13.0, the headers in $tools/include are of 12.8" define "$tools/include/cuda_runtime_api.h" CUDART_VERSION 12080
refuses 'no cuBLASLt' 'no cublasLt.h for nvcc 13.0' rm "$tools/include/cublasLt.h"
refuses 'cuBLASLt of another version' "the headers of cuBLASLt in $tools/include are of 12.1.0" blas "$tools/include" 12
for library in cublasLt cudart; do refuses "no lib$library" "no lib$library.so.13" rm "$tools/lib64/lib$library.so.13"; done
check 'a toolkit alone' alone
check 'a link to nvcc' linked
check 'packages for CUDA 13' packages
check 'packages for CUDA 12' packages_12
check 'an NCCL that is too old' old_nccl
check 'a front end of cuDNN that is too old' old_front_end
check 'a compiler of two words' words
check 'a toolkit of the system' of_system
check 'architectures' architectures
check 'the architecture of the device' native
check 'a build without CUDA' meson_says
check 'a build that needs cuDNN' cudnn_asked
end_checks
