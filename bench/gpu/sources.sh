# shellcheck shell=bash disable=SC2034 # of bench/gpu/build.sh, and of tests/cuda/sources.sh
# What bench/gpu/build.sh builds, by what it becomes part of: the program, its module, tables of
# multiplications and of kernels, what is linked where NCCL's header is. tests/cuda/sources.sh holds these
# against Meson's.
shopt -s nullglob

# What a build without optional parts takes.
is_left_out() {
    case $1 in
    kernels/cpu/blas.c | kernels/cpu/levels_x86.c | exec/split_pcre2.c | exec/main.c) ;;
    schedules/pipesched*) ;;
    exec/backend_cuda* | exec/cuda_ipc.c | exec/cuda_module.c | exec/cuda_nccl* | exec/nccl*) ;;
    *) return 1 ;;
    esac
}
host=()
for source in core/*.c schedules/*.c schedules/lower/*.c traces/*.c plots/*.c kernels/cpu/*.c exec/*.c; do
    is_left_out "$source" || host+=("$source")
done
backend=(exec/backend_cuda*.c exec/cuda_ipc.c exec/cuda_module.c) multiply=(kernels/cuda/*.c) kernels=(kernels/cuda/*.cu)
tests=(tests/cuda/test_gemm.c tests/cuda/test_kernels*.c tests/cuda/test_attention*.c)
nccl_sources=(exec/nccl*.c)
