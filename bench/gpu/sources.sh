# shellcheck shell=bash disable=SC2034 # of bench/gpu/build.sh, and of tests/cuda/sources.sh
# The sources that bench/gpu/build.sh compiles, by what they become part of: the program, its module,
# tables of multiplications and of kernels, and NCCL. tests/cuda/sources.sh compares them with Meson's.
shopt -s nullglob

# Files that a build without optional parts leaves out.
is_left_out() {
    case $1 in
    exec/cuda/load.c) return 1 ;;
    kernels/cpu/blas.c | kernels/cpu/fp32/levels_x86.c | exec/data/split_pcre2.c | exec/main.c) ;;
    schedules/library/* | exec/cuda/* | exec/nccl/* | kernels/cuda/*) ;;
    *) return 1 ;;
    esac
}
sources() { find "${@:2}" -name "$1" | LC_ALL=C sort; }
host=()
for source in $(sources '*.c' core schedules traces plots kernels exec); do
    is_left_out "$source" || host+=("$source")
done
mapfile -t backend < <(sources '*.c' exec/cuda | grep -vE '/(nccl|load)')
mapfile -t multiply < <(sources '*.c' kernels/cuda | grep -v /cudnn_check)
mapfile -t kernels < <(sources '*.cu' kernels/cuda)
mapfile -t nccl_sources < <(sources '*.c' exec/nccl)
tests=(tests/cuda/test_gemm.c tests/cuda/test_kernels*.c tests/cuda/test_attention*.c)
