/* Results of cuBLASLt that were made apart: whether they are those that it writes over what its
 * epilogue reads, and their way there. */
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/map.cuh"

namespace
{
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

__global__ void judge_kernel(const int *differs, int *verdict)
{
    *verdict = *differs ? PP_CUDA_OTHER : PP_CUDA_SAME;
}
} // namespace

void pp_cuda_over_judge(const struct pp_cuda_stream *stream, const struct pp_gemm *g, int *verdict)
{
    int *const differs = (int *)stream->workspace;

    cudaMemsetAsync(differs, 0, sizeof *differs, stream->stream);
    pp_map_rows<PP_WIDE<pp_bf16>>(
        (void *)stream, g->m, g->n,
        g->ldc % PP_WIDE<pp_bf16> == 0 && pp_are_aligned(g->c, g->product),
        compare{(const pp_bf16 *)g->c, (const pp_bf16 *)g->product, g->ldc, differs});
    PP_LAUNCH(judge_kernel, 1, 1, 0, stream->stream, differs, verdict);
}

void pp_cuda_over_move(const struct pp_cuda_stream *stream, const struct pp_gemm *g)
{
    pp_map_rows<PP_WIDE<pp_bf16>>((void *)stream, g->m, g->n,
                                  g->ldc % PP_WIDE<pp_bf16> == 0 &&
                                      pp_are_aligned(g->c, g->product),
                                  move{(const pp_bf16 *)g->product, (pp_bf16 *)g->c, g->ldc});
}
