#!/usr/bin/env bash
# Builds the programs of bench/gpu.sh with compilers alone: no Meson, Criterion, SimGrid or Python.
#
#   bench/gpu/build.sh FOLDER [cuda|emulated]
#
# FOLDER gets pipeexec, pipeexec-cuda.so, kernels (bench/gpu/kernels.c) and probe (bench/probe). It also
# gets test_* (of tests/cuda, and test_nccl of tests/exec) as programs without Criterion. `emulated`
# compiles the same sources against tests/cuda's emulation of CUDA, by a C++ compiler. CC, CXX and NVCC
# are compilers, CUDA_HOME is the toolkit. DEPS is a folder with unpacked packages of jansson, libcsv and
# zlib, if the system has none. The script does nothing if its results are of these very sources: so a
# folder of bench/gpu/pack.sh serves on a machine without libraries or compilers.
#
# Packages for DEPS are downloaded on a machine with a network, of the same release:
#   apt-get download libjansson-dev libjansson4 libcsv-dev libcsv3 zlib1g-dev zlib1g
#   for package in *.deb; do dpkg -x "$package" DEPS; done
# OpenBLAS and PCRE2 are not used. NCCL's header is searched in CUDA's folder, in the system, and in
# DEPS. A toolkit has none: libnccl-dev is in NVIDIA's packages, and in PyTorch's (nvidia/nccl/include).
# Attention by cuDNN is built where cudnn.h and the headers of its front end are found. CUDNN_FRONTEND is
# a folder with these: pip download --no-deps nvidia-cudnn-frontend, and unzip the package.
set -euo pipefail
shopt -s nullglob
out=$(realpath -m "$1") kind=${2:-cuda}
[ -z "${DEPS:-}" ] || DEPS=$(realpath "$DEPS")
[ -z "${CUDNN_FRONTEND:-}" ] || CUDNN_FRONTEND=$(realpath "$CUDNN_FRONTEND")
cd "$(dirname "$0")/../.."
mkdir -p "$out/o"
stamp=$out/built-$kind
digest=$(find core schedules traces kernels plots exec bench/gpu bench/probe tests/cuda tests/exec -type f -regex '.*\.\(c\|cc\|cu\|cuh\|h\)' -print0 |
    LC_ALL=C sort -z | xargs -0 cat meson.build bench/gpu/build.sh | sha256sum)
[ "$(cat "$stamp" 2>"$out/old")" != "$digest" ] || exit 0
rm -f "$out"/built-* "$out"/test_*
cuda=${CUDA_HOME:-/usr/local/cuda}
read -ra nvcc <<<"${NVCC:-$(command -v nvcc || echo "$cuda/bin/nvcc")}"
jobs=$(nproc) links=('-Wl,-rpath,$ORIGIN/lib') # bench/gpu/pack.sh fills lib
read -ra cc <<<"${CC:-cc}"
read -ra cxx <<<"${CXX:-c++}"
version=$(sed -n "s/^project(.* version: '\([^']*\)'.*/\1/p" meson.build)

common=(-O3 -g -I. "-DPP_VERSION=\"$version\"" -DPP_BARE_TESTS -ffp-contract=off -fPIC -pthread -w -Wno-psabi)
if [ -n "${DEPS:-}" ]; then
    common+=(-isystem "$DEPS/usr/include" -isystem "$DEPS/usr/include/$(uname -m)-linux-gnu")
    mapfile -t libraries < <(find "$DEPS" -name 'lib*.so*' -printf '%h\n' | sort -u)
    for folder in "${libraries[@]}"; do links+=("-L$folder" "-Wl,-rpath,$folder"); done
fi
if [ "$kind" = emulated ]; then
    common+=(-DPP_CUDA_EMULATED -fno-strict-aliasing -Itests/cuda/include)
    device=("${cxx[@]}" -x c++ -std=gnu++17 "${common[@]}")
    cuda_links=(-lstdc++)
    emulation=(tests/cuda/emulate*.cc tests/cuda/runtime*.cc)
    link=("${cxx[@]}")
else
    command -v "${nvcc[0]}" >"$out/nvcc" || { echo "bench: error: no nvcc in PATH or CUDA_HOME" >&2; exit 1; }
    common+=(-isystem "$cuda/include")
    # Only for the device at hand, if it tells its kind: this halves the time.
    arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>"$out/arch" | head -n 1 | tr -cd 0-9 || true)
    codes=("-gencode=arch=compute_$arch,code=sm_$arch")
    [[ $arch =~ ^[0-9]{2,3}$ ]] || codes=('-gencode=arch=compute_80,code=sm_80' '-gencode=arch=compute_90,code=[sm_90,compute_90]')
    device=("${nvcc[@]}" -std=c++17 -O3 -I. -Xcompiler=-fPIC -w "${codes[@]}")
    cuda_links=(-L"$cuda/lib64" "-Wl,-rpath,$cuda/lib64" -lcublasLt -lcudart -lstdc++)
    emulation=()
    link=("${cc[@]}")
fi

# One object for each source; names of folders become part of its own.
compile() { # SOURCE COMPILER...
    local source=$1 object
    shift
    object=$out/o/$(echo "$source" | tr / -).o
    printf '%q ' "$@" -c "$source" -o "$object" >>"$out/todo"
    echo >>"$out/todo"
}
: >"$out/todo"
c=("${cc[@]}" -std=gnu11 "${common[@]}")
{
    echo '#include "exec/data/text_builtin.h"'
    text=exec/data/pride_and_prejudice.txt
    echo "const size_t pp_text_builtin_count = $(wc -c <$text);"
    echo 'const unsigned char pp_text_builtin_bytes[] = {'
    od -An -v -tu1 $text | sed 's/ *\([0-9][0-9]*\)/\1,/g'
    echo '};'
} >"$out/text_builtin.c"

. bench/gpu/sources.sh
# Processes that share the device, if NCCL's header is found. The emulation has a stand-in for NCCL.
nccl=() stub=()
folders=("$cuda/include" /usr/include ${DEPS:+"$DEPS/usr/include"} ${NCCL_HOME:+"$NCCL_HOME/include"})
[ "$kind" = cuda ] || folders=(tests/cuda/include) stub=(tests/cuda/nccl/*.cc)
for folder in "${folders[@]}"; do
    [ ! -e "$folder/nccl.h" ] || [ ${#nccl[@]} -ne 0 ] || nccl=("${nccl_sources[@]}") common+=(-idirafter "$folder")
done
if [ ${#nccl[@]} -eq 0 ]; then
    echo "bench: no nccl.h: built without --transport nccl"
    backend+=(exec/cuda/nccl_none.c)
else
    backend+=(exec/cuda/nccl.c)
    [ "$kind" = emulated ] || tests+=(tests/exec/test_nccl.c)
fi
cudnn=()
for folder in ${CUDNN_FRONTEND:+"$CUDNN_FRONTEND/include" "$CUDNN_FRONTEND"} "$cuda/include" /usr/include; do
    [ "$kind" = emulated ] || [ ! -e "$folder/cudnn_frontend_version.h" ] || [ ${#cudnn[@]} -ne 0 ] || cudnn=(kernels/cuda/attention/cudnn.cc) frontend=$folder
done
if [ ${#cudnn[@]} -eq 0 ]; then
    echo "bench: no cudnn_frontend_version.h: built without cuDNN"
else
    multiply=("${multiply[@]/%cudnn_none.c/cudnn_check.c}")
    compile "${cudnn[0]}" "${cxx[@]}" -std=gnu++17 "${common[@]}" -fvisibility=hidden -O1 -g0 -isystem "$frontend" # at -O3 -g it takes half an hour
fi
c=("${cc[@]}" -std=gnu11 "${common[@]}")
for source in "${host[@]}" exec/main.c "$out/text_builtin.c" "${backend[@]}" "${multiply[@]}" bench/gpu/*.c \
    bench/probe/*.c "${nccl[@]}" "${tests[@]}"; do
    case $source in
    kernels/cpu/fp32/*.c) compile "$source" "${c[@]}" -fno-math-errno -fno-trapping-math -DPP_LEVEL=base \
        -DPP_TILE_ROWS=4 -DPP_TILE_VECTORS=2 -DPP_TILE_WIDTH=4 ;;
    *) compile "$source" "${c[@]}" ;;
    esac
done
for source in "${kernels[@]}"; do
    compile "$source" "${device[@]}"
done
for source in "${emulation[@]}" "${stub[@]}"; do compile "$source" "${cxx[@]}" -std=gnu++17 "${common[@]}"; done
xargs -a "$out/todo" -d '\n' -P "$jobs" -I{} sh -c '{}'

objects() { for source; do echo "$out/o/$(echo "$source" | tr / -).o"; done; }
mapfile -t host_o < <(objects "${host[@]}" "$out/text_builtin.c")
mapfile -t kernel_o < <(objects "${multiply[@]}" "${kernels[@]}" "${cudnn[@]}" "${nccl[@]}")
mapfile -t backend_o < <(objects "${backend[@]}")
mapfile -t stub_o < <(objects "${stub[@]}")
mapfile -t emulation_o < <(objects "${emulation[@]}")
# One device for all code in a process.
if [ ${#emulation[@]} -ne 0 ]; then
    "${link[@]}" -shared -o "$out/libemulation.so" "${emulation_o[@]}" -pthread -ldl
    links+=("-L$out" "-Wl,-rpath,$out") cuda_links=(-lemulation -lstdc++)
fi
rm -f "$out/libhost.a"
ar rcs "$out/libhost.a" "${host_o[@]}"
system=(-ljansson -lcsv -lz -lm -ldl -pthread)
device_o=("${kernel_o[@]}" "$out/libhost.a" "${links[@]}" "${cuda_links[@]}" "${system[@]}")
"${cc[@]}" -o "$out/pipeexec" "$(objects exec/main.c)" "$out/libhost.a" "${links[@]}" "${system[@]}"
"${link[@]}" -shared -Wl,--no-undefined -o "$out/pipeexec-cuda.so" "${backend_o[@]}" "${device_o[@]}"
mapfile -t bench_o < <(objects bench/gpu/*.c)
"${link[@]}" -o "$out/kernels" "${bench_o[@]}" "${device_o[@]}"
mapfile -t probe_o < <(objects bench/probe/*.c)
"${link[@]}" -o "$out/probe" "${probe_o[@]}" "${backend_o[@]}" "${device_o[@]}"
for source in "${tests[@]}"; do
    "${link[@]}" -o "$out/$(basename "$source" .c)" "$(objects "$source")" "${device_o[@]}"
done
[ ${#stub[@]} -eq 0 ] || "${link[@]}" -shared -o "$out/libnccl_stub.so" "${stub_o[@]}" "${links[@]}" "${cuda_links[@]}" -pthread
echo "$digest" >"$stamp"
