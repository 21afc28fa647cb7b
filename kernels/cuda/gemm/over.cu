/* Results of cuBLASLt in scratch: comparison with results over their input, and the move to c. */
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/gemm/gemm.h"

namespace
{
enum { THREADS = 256, SAMPLES = 4096, FEW = 16 };

struct compare {
    const pp_bf16 *a, *b;
    int ld;
    int *differs;

    template <int N> __device__ void run(int row, int column) const
    {
        const size_t at = (size_t)row * (size_t)ld + (size_t)column;
        const pp_packed<uint16_t, N> x = pp_fetch<N>((const uint16_t *)a + at);
        const pp_packed<uint16_t, N> y = pp_fetch<N>((const uint16_t *)b + at);

#pragma unroll
        for (int j = 0; j < N; j++)
            if (x.at[j] != y.at[j])
                *differs = 1;
    }
};

struct move {
    const pp_bf16 *from;
    pp_bf16 *to;
    int ld;

    template <int N> __device__ void run(int row, int column) const
    {
        const size_t at = (size_t)row * (size_t)ld + (size_t)column;

        *(pp_packed<uint16_t, N> *)((uint16_t *)to + at) = pp_fetch<N>((const uint16_t *)from + at);
    }
};

/* Counts the samples, out of SAMPLES spread over all elements, that would change if the epilogue's
 * input were lost. These are nonzero numbers where the slope of GELU is neither flat nor that of
 * 0. */
__global__ __launch_bounds__(THREADS) void sample_kernel(int rows, int width, int ld,
                                                         const pp_bf16 *product, const pp_bf16 *of,
                                                         int *telling)
{
    __shared__ float shared[THREADS / 32];
    const int64_t elements = (int64_t)rows * width;
    float sum[1] = {0};

    for (int i = (int)threadIdx.x; i < SAMPLES; i += THREADS) {
        const int64_t element = elements * i / SAMPLES;
        const size_t at = (size_t)(element / width) * (size_t)ld + (size_t)(element % width);
        const float y = pp_widen(product[at]), x = fabsf(pp_widen(of[at]));
        sum[0] += isfinite(y) && y != 0 && x > 0x1p-4f && x < 4.0f ? 1.0f : 0.0f;
    }
    pp_row_sums(sum, shared);
    if (threadIdx.x == 0)
        *telling = (int)sum[0];
}

/* Few conclusive samples, as in memory without data, are no verdict. */
__global__ void judge_kernel(const int *differs, struct pp_cuda_over *over)
{
    over->verdict = *differs                         ? PP_CUDA_OTHER
                    : over->telling >= SAMPLES / FEW ? PP_CUDA_SAME
                                                     : PP_CUDA_UNTRIED;
}
bool is_aligned(const struct pp_gemm *g)
{
    return g->ldc % PP_WIDE<pp_bf16> == 0 && pp_are_aligned(g->c, g->product);
}
} // namespace

void pp_cuda_over_sample(const struct pp_cuda_stream *stream, const struct pp_gemm *g,
                         struct pp_cuda_over *over)
{
    PP_LAUNCH(sample_kernel, 1, THREADS, 0, stream->stream, g->m, g->n, g->ldc,
              (const pp_bf16 *)g->product, (const pp_bf16 *)g->c, &over->telling);
}

void pp_cuda_over_judge(const struct pp_cuda_stream *stream, const struct pp_gemm *g,
                        struct pp_cuda_over *over)
{
    int *const differs = (int *)stream->workspace;

    cudaMemsetAsync(differs, 0, sizeof *differs, stream->stream);
    pp_map_rows<PP_WIDE<pp_bf16>>(
        (void *)stream, g->m, g->n, is_aligned(g),
        compare{(const pp_bf16 *)g->c, (const pp_bf16 *)g->product, g->ldc, differs});
    PP_LAUNCH(judge_kernel, 1, 1, 0, stream->stream, differs, over);
}

void pp_cuda_over_move(const struct pp_cuda_stream *stream, const struct pp_gemm *g)
{
    pp_map_rows<PP_WIDE<pp_bf16>>((void *)stream, g->m, g->n, is_aligned(g),
                                  move{(const pp_bf16 *)g->product, (pp_bf16 *)g->c, g->ldc});
}
