#!/usr/bin/env bash
# Builds the programs of bench/gpu.sh with compilers alone: no Meson, Criterion, SimGrid or Python.
#
#   bench/gpu/build.sh FOLDER [cuda|emulated]
#
# FOLDER gets pipeexec, pipeexec-cuda.so, kernels (bench/gpu/kernels.c) and probe (bench/probe). It also
# gets test_* (of tests/cuda, and test_nccl of tests/exec) as programs without Criterion. `emulated`
# compiles the same sources against tests/cuda's emulation of CUDA, by a C++ compiler. CC, CXX and NVCC
# are compilers. kernels/cuda/find.sh finds the toolkit. DEPS is a folder with unpacked packages of
# jansson, libcsv and zlib, if the system has none. The script does nothing if its results are of these
# very sources: so a folder of bench/gpu/pack.sh serves on a machine without libraries or compilers.
#
# The first three programs have to be built. NCCL, cuDNN, the probe and each test may fail alone. Then
# FOLDER/missing has a file with the name of the part and the reason, and the other parts are built.
#
# Packages for DEPS are downloaded on a machine with a network, of the same release:
#   apt-get download libjansson-dev libjansson4 libcsv-dev libcsv3 zlib1g-dev zlib1g
#   for package in *.deb; do dpkg -x "$package" DEPS; done
# OpenBLAS and PCRE2 are not used. A toolkit has no nccl.h: libnccl-dev is in NVIDIA's packages, and in
# PyTorch's. Attention by cuDNN is built where cudnn.h and the headers of its front end are found.
# CUDNN_FRONTEND is a folder with these: pip download --no-deps nvidia-cudnn-frontend, and unzip the package.
set -euo pipefail
shopt -s nullglob
out=$(realpath -m "$1") kind=${2:-cuda}
[ -z "${DEPS:-}" ] || DEPS=$(realpath "$DEPS")
[ -z "${CUDNN_FRONTEND:-}" ] || CUDNN_FRONTEND=$(realpath "$CUDNN_FRONTEND")
export DEPS CUDNN_FRONTEND
cd "$(dirname "$0")/../.."
mkdir -p "$out/o"
stamp=$out/built-$kind
digest=$(find core schedules traces kernels plots exec bench/gpu bench/probe tests/cuda tests/exec -type f -regex '.*\.\(c\|cc\|cu\|cuh\|h\)' -print0 |
    LC_ALL=C sort -z | xargs -0 cat meson.build bench/gpu/build.sh kernels/cuda/find.sh | sha256sum)
[ "$(cat "$stamp" 2>"$out/old")" != "$digest" ] || exit 0
rm -rf "$out"/built-* "$out"/test_* "$out/probe" "$out/missing"
mkdir "$out/missing"

# ---- compilers -------------------------------------------------------------------------------
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
facts() { sed -n "s/^$1\t//p" "$out/found"; } # NAME: what kernels/cuda/find.sh says of it, a line each
front_end=() emulation=() stub=()
if [ "$kind" = emulated ]; then
    common+=(-DPP_CUDA_EMULATED -fno-strict-aliasing -Itests/cuda/include)
    device=("${cxx[@]}" -x c++ -std=gnu++17 "${common[@]}")
    emulation=(tests/cuda/emulate*.cc tests/cuda/runtime*.cc) stub=(tests/cuda/nccl/*.cc)
    cuda_links=("-L$out" "-Wl,-rpath,$out" -lemulation -lstdc++) # one device for all code in a process
    link=("${cxx[@]}")
    nccl_include=tests/cuda/include
else
    # Only for the device at hand, if it tells its kind: this halves the time.
    kernels/cuda/find.sh native >"$out/found" || { echo "bench: error: $(cat "$out/found")" >&2; exit 1; }
    sed 's/^/bench: found /' "$out/found"
    mapfile -t device < <(facts nvcc)
    mapfile -t codes < <(facts gencode)
    device+=(-std=c++17 -O3 -I. -Xcompiler=-fPIC -w "${codes[@]}")
    while read -r folder; do common+=(-isystem "$folder") device+=(-isystem "$folder"); done < <(facts include)
    while read -r folder; do front_end+=(-isystem "$folder"); done < <(facts cudnn_include)
    cuda_links=("$(facts cublaslt)" "$(facts cudart)" -lstdc++)
    while read -r folder; do cuda_links+=("-Wl,-rpath,$folder"); done < <(facts rpath)
    link=("${cc[@]}")
    nccl_include=$(facts nccl_include)
    [ ${#front_end[@]} -ne 0 ] || echo "bench: without cuDNN: $(facts no_cudnn)"
fi

# ---- an object for each source ---------------------------------------------------------------
object() { echo "$out/o/${1//\//-}.o"; } # names of folders become part of its own
objects() { for source; do object "$source"; done; }
compile() { # SOURCE COMPILER...
    rm -f "$(object "$1")"
    {
        printf '%q ' "${@:2}" -c "$1" -o "$(object "$1")"
        printf '>%q 2>&1\n' "$(object "$1").log"
    } >>"$out/todo"
}
: >"$out/todo"
text=exec/data/pride_and_prejudice.txt text_c=$out/text_builtin.c
{
    echo '#include "exec/data/text_builtin.h"'
    echo "const size_t pp_text_builtin_count = $(wc -c <$text);"
    echo 'const unsigned char pp_text_builtin_bytes[] = {'
    od -An -v -tu1 $text | sed 's/ *\([0-9][0-9]*\)/\1,/g'
    echo '};'
} >"$text_c"
. bench/gpu/sources.sh
nccl=() cudnn=()
if [ -n "$nccl_include" ]; then
    nccl=(exec/cuda/nccl.c "${nccl_sources[@]}")
    # Not for the emulation: gcc ignores -I for a folder that it is to search as one of the system, too.
    [ "$kind" = emulated ] || { tests+=(tests/exec/test_nccl.c) && common+=(-idirafter "$nccl_include"); }
else
    echo "bench: without --transport nccl: $(facts no_nccl)"
fi
if [ ${#front_end[@]} -ne 0 ]; then # the front end takes half an hour at -O3 -g
    cudnn=(kernels/cuda/attention/cudnn_check.c kernels/cuda/attention/cudnn.cc)
    compile "${cudnn[1]}" "${cxx[@]}" -std=gnu++17 "${common[@]}" -fvisibility=hidden -O1 -g0 "${front_end[@]}"
fi
c=("${cc[@]}" -std=gnu11 "${common[@]}")
for source in "${host[@]}" exec/main.c "$text_c" "${backend[@]}" exec/cuda/nccl_none.c "${nccl[@]}" "${multiply[@]}" \
    "${cudnn[@]:0:1}" bench/gpu/*.c bench/probe/*.c "${tests[@]}"; do
    case $source in
    kernels/cpu/fp32/*.c) compile "$source" "${c[@]}" -fno-math-errno -fno-trapping-math -DPP_LEVEL=base \
        -DPP_TILE_ROWS=4 -DPP_TILE_VECTORS=2 -DPP_TILE_WIDTH=4 ;;
    *) compile "$source" "${c[@]}" ;;
    esac
done
for source in "${kernels[@]}"; do compile "$source" "${device[@]}"; done
for source in "${emulation[@]}" "${stub[@]}"; do compile "$source" "${cxx[@]}" -std=gnu++17 "${common[@]}"; done
xargs -a "$out/todo" -d '\n' -P "$jobs" -I{} bash -c '{}' || echo 'bench: some sources do not compile'

# ---- programs of objects ---------------------------------------------------------------------
# part NAME SOURCES... -- COMMAND...: runs the command if the sources have objects. Else, or if it fails,
# FOLDER/missing/NAME has the reason, and the exit code is 1.
part() {
    local name=$1 log=$out/missing/$1 is_built=yes
    while shift && [ "$1" != -- ]; do
        [ -e "$(object "$1")" ] || { { echo "$1:" && cat "$(object "$1").log"; } >>"$log" && is_built=no; }
    done
    shift
    if [ $is_built = yes ] && "$@" >>"$log" 2>&1; then rm -f "$log" && return; fi
    echo "bench: not built: $name"
    sed 's/^/    /' "$log"
    return 1
}
archive() { rm -f "$out/libhost.a" && ar rcs "$@"; }
system=(-ljansson -lcsv -lz -lm -ldl -pthread)
mapfile -t host_o < <(objects "${host[@]}" "$text_c")
mapfile -t emulation_o < <(objects "${emulation[@]}")
mapfile -t stub_o < <(objects "${stub[@]}")
[ "$kind" = cuda ] || part emulation "${emulation[@]}" -- "${link[@]}" -shared -o "$out/libemulation.so" "${emulation_o[@]}" -pthread -ldl
part pipeexec "${host[@]}" "$text_c" -- archive "$out/libhost.a" "${host_o[@]}"
part pipeexec exec/main.c -- "${cc[@]}" -o "$out/pipeexec" "$(object exec/main.c)" "$out/libhost.a" "${links[@]}" "${system[@]}"

# NCCL and cuDNN have stand-ins.
if [ ${#nccl[@]} -ne 0 ] && part nccl "${nccl[@]}" -- true; then
    backend+=(exec/cuda/nccl.c)
else
    backend+=(exec/cuda/nccl_none.c) nccl_sources=() tests=("${tests[@]/#*test_nccl.c/}")
fi
if [ ${#cudnn[@]} -ne 0 ] && part cudnn "${cudnn[@]}" -- true; then
    multiply=("${multiply[@]/%cudnn_none.c/cudnn_check.c}" "${cudnn[1]}")
fi
device_sources=("${multiply[@]}" "${kernels[@]}" "${nccl_sources[@]}")
# program NAME SOURCES... -- OPTIONS...: with all code for the device.
program() {
    local name=$1 sources=() files
    while shift && [ "$1" != -- ]; do sources+=("$1"); done
    shift
    sources+=("${device_sources[@]}")
    mapfile -t files < <(objects "${sources[@]}")
    part "$name" "${sources[@]}" -- "${link[@]}" "$@" -o "$out/$name" "${files[@]}" "$out/libhost.a" \
        "${links[@]}" "${cuda_links[@]}" "${system[@]}"
}
program pipeexec-cuda.so "${backend[@]}" -- -shared -Wl,--no-undefined
program kernels bench/gpu/*.c --
program probe bench/probe/*.c "${backend[@]}" -- || true
for source in "${tests[@]}"; do
    [ -z "$source" ] || program "$(basename "$source" .c)" "$source" -- || true
done
[ "$kind" = cuda ] || part stub "${stub[@]}" -- "${link[@]}" -shared -o "$out/libnccl_stub.so" "${stub_o[@]}" "${links[@]}" "${cuda_links[@]}" -pthread || true
echo "$digest" >"$stamp"
