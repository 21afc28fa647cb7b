#!/usr/bin/env bash
# find.sh [ARCHITECTURES]: a toolkit of CUDA that can compile the kernels, and NCCL and cuDNN. Meson and
# bench/gpu/build.sh ask it. It prints lines of a name, a tab and a value. If there is no such toolkit,
# it prints one line with the reason, and its exit code is 1.
#
#   nvcc                            the compiler, a line for each word of its command
#   cuda                            its version
#   gencode                         an option of nvcc, a line for each
#   include                         a folder of headers, likewise; those of the system are left out
#   cudart cublaslt                 libraries, by full name
#   cublaslt_version                the version of its header
#   nccl_include nccl_version       the header of NCCL; else no_nccl, the reason
#   cudnn_include cudnn_version     the headers of cuDNN and of its front end; else no_cudnn, the reason
#   nccl cudnn                      their libraries, if they are found
#   rpath                           a folder of libraries, a line for each; likewise
#
# nvcc is NVCC, or else the first one of CUDA_HOME, of PATH, of /usr/local/cuda, and of packages of Python. A
# CUDA_HOME without nvcc is passed over, and stderr says so. The other files come from the folder of nvcc, from
# CUDA_HOME, from the system, or from packages of Python. PyTorch brings these packages. NCCL_HOME and
# CUDNN_FRONTEND name folders, PYTHON names the interpreter. SYSROOT is in front of folders of the system.
# ARCHITECTURES are numbers such as "80 90", or `native`. Usual are all of 80, 90, 100 and 120 that nvcc knows.
set -u
shopt -s nullglob
asked=${1:-80 90 100 120} system=${SYSROOT:-}
case $asked in
--help | -h) exec sed -n '2,/^set /s/^# \{0,1\}//p' "$0" ;;
*[!0-9\ ]*) [ "$asked" = native ] || { echo "find.sh: '$asked': architectures are numbers such as '80 90', or native; try --help" >&2; exit 2; } ;;
esac
oldest_cuda=12.4 oldest_nccl=2.18 oldest_front_end=1.13
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
machine=$(uname -m)
target=$machine-linux
[ "$machine" != aarch64 ] || target=sbsa-linux

no() {
    printf '%s\n' "$*"
    exit 1
}
tell() { printf '%s\t%s\n' "$1" "$2"; }
is_older() { [ "$1" != "$2" ] && [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }
# What a command said that failed: its first line with an error, or its first line.
complaint() { { grep -i -m 1 'error\|unsupported\|not found' "$1" || head -n 1 "$1"; } | tr -d '\t' | cut -c 1-200; }
defined() { sed -n "s/^#define $2 *\([0-9][0-9]*\).*/\1/p" "$1" 2>>"$scratch/log" | head -n 1; } # FILE NAME

# ---- the compiler ----------------------------------------------------------------------------
mapfile -t packages < <("${PYTHON:-python3}" -c 'import nvidia; print(*nvidia.__path__, sep="\n")' 2>>"$scratch/log")
find_nvcc() {
    local file
    [ -z "${CUDA_HOME:-}" ] || [ -x "$CUDA_HOME/bin/nvcc" ] ||
        echo "CUDA_HOME has no nvcc ($CUDA_HOME/bin/nvcc): it is looked for in PATH, /usr/local/cuda and packages of Python" >&2
    for file in ${CUDA_HOME:+"$CUDA_HOME/bin/nvcc"} "$(command -v nvcc)" "$system/usr/local/cuda/bin/nvcc" "${packages[@]/%//cu13/bin/nvcc}"; do
        [ ! -x "$file" ] || { nvcc=("$file") && return; }
    done
    no 'nvcc is not found in CUDA_HOME, PATH, /usr/local/cuda and packages of Python'
}
if [ -n "${NVCC:-}" ]; then read -ra nvcc <<<"$NVCC"; else find_nvcc; fi
file=$(command -v "${nvcc[-1]}") || no "there is no ${nvcc[-1]}, which NVCC names"
"${nvcc[@]}" --version >"$scratch/version" 2>&1 || no "$file does not run: $(complaint "$scratch/version")"
cuda=$(sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p' "$scratch/version" | head -n 1)
[ -n "$cuda" ] || no "$file does not tell its version"
! is_older "$cuda" $oldest_cuda || no "nvcc $cuda is older than $oldest_cuda ($file)"
major=${cuda%%.*}

# ---- architectures ---------------------------------------------------------------------------
# Devices from 9.0 on get code from the PTX of 9.0, which needs no second front end, and spills nothing.
# That PTX also serves devices without code of their own.
"${nvcc[@]}" --list-gpu-code >"$scratch/codes" 2>&1 || no "$file lists no architectures: $(complaint "$scratch/codes")"
is_known() { grep -qxF "sm_$1" "$scratch/codes"; }
if [ "$asked" = native ]; then
    asked=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>>"$scratch/log" | head -n 1 | tr -cd 0-9)
    [[ $asked =~ ^[0-9]{2,3}$ ]] || asked='80 90 100 120'
fi
codes_of() { # PTX LEAST BELOW: an option for the architectures from LEAST on
    local number codes=()
    for number in $asked; do
        if [ "$number" -ge "$2" ] && [ "$number" -lt "$3" ] && is_known "$number"; then codes+=("sm_$number"); fi
    done
    [ "$1" -lt 90 ] && [ "${asked##* }" -ge 90 ] || codes+=("compute_$1")
    [ ${#codes[@]} -eq 0 ] || (IFS=, && echo "-gencode=arch=compute_$1,code=[${codes[*]}]")
}
gencode=()
[ "${asked%% *}" -ge 90 ] || gencode+=("$(codes_of 80 80 90)")
[ "${asked##* }" -lt 90 ] || gencode+=("$(codes_of 90 90 1000)")

# ---- headers and libraries -------------------------------------------------------------------
root=$(dirname "$(dirname "$(readlink -f "$file")")")
roots=("$root" ${CUDA_HOME:+"$CUDA_HOME"})
includes=() libraries=()
for folder in "${roots[@]}"; do
    includes+=("$folder/include" "$folder/targets/$target/include")
    libraries+=("$folder/lib64" "$folder/lib" "$folder/targets/$target/lib" "$folder/lib/$machine-linux-gnu")
done
includes+=(${NCCL_HOME:+"$NCCL_HOME/include"} ${DEPS:+"$DEPS/usr/include"} "$system/usr/include" "$system/usr/local/include")
libraries+=(${NCCL_HOME:+"$NCCL_HOME/lib"} "$system/usr/lib/$machine-linux-gnu" "$system"/usr/{lib64,lib,local/lib})
for folder in "${packages[@]}"; do
    includes+=("$folder/cu$major/include" "$folder"/*/include)
    libraries+=("$folder/cu$major/lib" "$folder"/*/lib)
done

of_front_end=(${CUDNN_FRONTEND:+"$CUDNN_FRONTEND/include" "$CUDNN_FRONTEND"} "${packages[@]/%//../include}")

# of HEADER CHECK...: the first folder with a header that passes the check. Else `other` is one that does not.
of() {
    local folder
    other='' found=''
    for folder in "${includes[@]}"; do
        [ -r "$folder/$1" ] || continue
        if "${@:2}" "$folder"; then found=$folder && return; fi
        : "${other:=$folder}"
    done
    return 1
}
library() { # NAME MAJOR: the file of that version, or the file that linkers take
    local folder
    for folder in "${libraries[@]}"; do
        for found in "$folder/lib$1.so.$2" "$folder/lib$1.so"; do [ ! -r "$found" ] || return 0; done
    done
    return 1
}
runtime_version() {
    local number
    number=$(defined "$1/cuda_runtime_api.h" CUDART_VERSION)
    version=$((${number:-0} / 1000)).$((${number:-0} % 1000 / 10))
}
version_of() { # FILE PREFIX [PATCH [SUFFIX]], of the names that it defines
    version=$(defined "$1" "$2_MAJOR${4:-}").$(defined "$1" "$2_MINOR${4:-}").$(defined "$1" "$2_${3:-PATCH}${4:-}")
}
is_runtime() { runtime_version "$1" && [ "$version" = "$cuda" ]; }
is_blas() { version_of "$1/cublas_api.h" CUBLAS_VER && [ "${version%%.*}" = "$major" ]; }
is_nccl() { version_of "$1/nccl.h" NCCL && ! is_older "${version%.*}" $oldest_nccl; }
is_front_end() { version_of "$1/cudnn_frontend_version.h" CUDNN_FRONTEND PATCH _VERSION && ! is_older "${version%.*}" $oldest_front_end; }
is_cudnn() { version_of "$1/cudnn_version.h" CUDNN PATCHLEVEL && [ "${version%%.*}" = 9 ]; }

if ! of cuda_runtime_api.h is_runtime; then
    [ -n "$other" ] || no "nvcc $cuda has no cuda_runtime_api.h ($file)"
    runtime_version "$other"
    no "nvcc is of CUDA $cuda, the headers in $other are of $version"
fi
include=("$found")
if ! of cublasLt.h is_blas; then
    [ -n "$other" ] || no "there is no cublasLt.h for nvcc $cuda ($file)"
    version_of "$other/cublas_api.h" CUBLAS_VER
    no "nvcc is of CUDA $cuda, the headers of cuBLASLt in $other are of $version"
fi
blas_version=$version
[ "$found" = "${include[0]}" ] || include+=("$found")
library cudart "$major" || no "there is no libcudart.so.$major for nvcc $cuda ($file)"
cudart=$found
library cublasLt "$major" || no "there is no libcublasLt.so.$major for nvcc $cuda ($file)"
cublaslt=$found
options=()
for folder in "${include[@]}"; do [ "$folder" = "$system/usr/include" ] || options+=(-isystem "$folder"); done

# ---- a trial of all that -----------------------------------------------------------------------
cat >"$scratch/trial.cu" <<'END'
#include <cublasLt.h>
#include <cuda_bf16.h>
__global__ void one(__nv_bfloat16 *x) { *x = __float2bfloat16(1); }
int main()
{
    cublasLtHandle_t blas;
    one<<<1, 1>>>(nullptr);
    return cublasLtCreate(&blas);
}
END
(cd "$scratch" && "${nvcc[@]}" -std=c++17 "${gencode[@]}" "${options[@]}" -cudart none trial.cu -Xlinker "$cudart" -Xlinker "$cublaslt" -o trial) \
    >"$scratch/trial.log" 2>&1 || no "nvcc $cuda does not compile a trial ($file): $(complaint "$scratch/trial.log")"

# ---- what was found ----------------------------------------------------------------------------
for word in "${nvcc[@]}"; do tell nvcc "$word"; done
tell cuda "$cuda"
for option in "${gencode[@]}"; do tell gencode "$option"; done
for folder in "${include[@]}"; do [ "$folder" = "$system/usr/include" ] || tell include "$folder"; done
tell cudart "$cudart"
tell cublaslt "$cublaslt"
tell cublaslt_version "$blas_version"
used=("$cudart" "$cublaslt")
if of nccl.h is_nccl; then
    tell nccl_include "$found"
    tell nccl_version "$version"
    library nccl 2 && tell nccl "$found" && used+=("$found")
elif [ -n "$other" ]; then
    version_of "$other/nccl.h" NCCL
    tell no_nccl "the header in $other is of $version, older than $oldest_nccl"
else
    tell no_nccl 'there is no nccl.h'
fi
if ! of cudnn.h is_cudnn; then
    tell no_cudnn "there is no cudnn.h of version 9"
elif cudnn=$found && cudnn_version=$version && includes=("${of_front_end[@]}" "${includes[@]}") && of cudnn_frontend_version.h is_front_end; then
    tell cudnn_include "$cudnn"
    [ "$found" = "$cudnn" ] || tell cudnn_include "$found"
    tell cudnn_version "$cudnn_version"
    library cudnn 9 && tell cudnn "$found" && used+=("$found")
elif [ -n "$other" ]; then
    version_of "$other/cudnn_frontend_version.h" CUDNN_FRONTEND PATCH _VERSION
    tell no_cudnn "the front end in $other is of $version, older than $oldest_front_end"
else
    tell no_cudnn 'there is no cudnn_frontend_version.h: CUDNN_FRONTEND names its folder'
fi
printf '%s\n' "${used[@]%/*}" | grep -vE "^$system(/usr)?/lib(64|/$machine-linux-gnu)?\$" | awk '!seen[$0]++ { print "rpath\t" $0 }'
exit 0
