/* Cross entropy of logits whose words several devices share, in three steps. A block has a row.
 * Bytes moved, for rows of T: each step reads the logits of the words here, and the last one writes
 * them. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/ops/row.cuh"
#include "kernels/cuda/ops/tokens.cuh"

#include <assert.h>
#include <float.h>

namespace
{
/* The part of struct pp_entropy that kernels read; targets by row. */
template <class T> struct words {
    T *x;
    float *max, *sums;
    double *loss;
    const int32_t *targets;
    int count, first, ld;
    float scale;

    /* Index of the row's target, or -1: it is elsewhere. */
    __device__ __forceinline__ int target() const
    {
        const int32_t id = targets[blockIdx.x];

        return id >= first && id - first < count ? id - first : -1;
    }
};

__device__ __forceinline__ float largest_of_warp(float x)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, distance));
    return x;
}

template <class T, int N>
__global__ __launch_bounds__(PP_ROW_THREADS, PP_ROW_BLOCKS) void max_kernel(words<T> w)
{
    __shared__ float of_warps[PP_ROW_WARPS];
    const pp_row<T, N> r(w.x + (int64_t)blockIdx.x * w.ld, w.count);
    const int single = r.single(), lane = (int)threadIdx.x % 32;
    float max = single >= 0 ? pp_widen(r.row[single]) : -FLT_MAX;

#pragma unroll 4
    for (int v = (int)threadIdx.x; v < r.vectors; v += PP_ROW_THREADS) {
        const pp_floats<N> x = pp_load<N>(r.row + r.head + (int64_t)v * N);
#pragma unroll
        for (int j = 0; j < N; j++)
            max = fmaxf(max, x.at[j]);
    }
    max = largest_of_warp(max);
    if (lane == 0)
        of_warps[threadIdx.x / 32] = max;
    __syncthreads();
    max = largest_of_warp(lane < PP_ROW_WARPS ? of_warps[lane] : -FLT_MAX);
    if (threadIdx.x == 0)
        w.max[blockIdx.x] = max;
}

template <class T, int N>
__global__ __launch_bounds__(PP_ROW_THREADS, PP_ROW_BLOCKS) void sums_kernel(words<T> w)
{
    __shared__ float of_warps[PP_ROW_WARPS];
    const pp_row<T, N> r(w.x + (int64_t)blockIdx.x * w.ld, w.count);
    const float max = w.max[blockIdx.x];
    const int single = r.single(), target = w.target();
    float sum[1] = {single >= 0 ? __expf(pp_widen(r.row[single]) - max) : 0};

#pragma unroll 4
    for (int v = (int)threadIdx.x; v < r.vectors; v += PP_ROW_THREADS) {
        const pp_floats<N> x = pp_load<N>(r.row + r.head + (int64_t)v * N);
#pragma unroll
        for (int j = 0; j < N; j++)
            sum[0] += __expf(x.at[j] - max);
    }
    pp_row_sums(sum, of_warps);
    if (threadIdx.x > 0)
        return;
    w.sums[2 * blockIdx.x] = sum[0];
    w.sums[2 * blockIdx.x + 1] = target >= 0 ? pp_widen(r.row[target]) : 0;
}

/* The target's element is rounded once. The thread that has it writes it. */
template <class T, int N>
__global__ __launch_bounds__(PP_ROW_THREADS, PP_ROW_BLOCKS) void end_kernel(words<T> w)
{
    const bool counts = w.targets[blockIdx.x] >= 0;
    const pp_row<T, N> r(w.x + (int64_t)blockIdx.x * w.ld, counts ? w.count : 0);
    const float max = w.max[blockIdx.x], sum = w.sums[2 * blockIdx.x], factor = w.scale / sum;
    const int single = r.single(), target = w.target();

    if (single >= 0)
        pp_store(r.row + single,
                 __expf(pp_widen(r.row[single]) - max) * factor - (single == target ? w.scale : 0));
#pragma unroll 4
    for (int v = (int)threadIdx.x; v < r.vectors; v += PP_ROW_THREADS) {
        const int first = r.head + v * N;
        pp_floats<N> x = pp_load<N>(r.row + first);
#pragma unroll
        for (int j = 0; j < N; j++)
            x.at[j] = __expf(x.at[j] - max) * factor - (first + j == target ? w.scale : 0);
        pp_save(r.row + first, x);
    }
    for (int i = r.width + (int)threadIdx.x; i < w.ld; i += PP_ROW_THREADS)
        pp_store(r.row + i, 0.0f);
    if (threadIdx.x == 0)
        w.loss[blockIdx.x] =
            counts ? (double)max + log((double)sum) - (double)w.sums[2 * blockIdx.x + 1] : 0;
}

template <class T>
void launch(void *stream, void (*kernel)(words<T>), const struct pp_entropy *e, bool has_targets)
{
    struct pp_cuda_stream *const s = (struct pp_cuda_stream *)stream;
    int32_t *const targets = (int32_t *)s->workspace;
    const unsigned rows = (unsigned)e->batch * (unsigned)e->tokens;
    const words<T> w = {(T *)e->x,     (float *)e->max, (float *)e->sums,
                        e->loss,       targets,         e->words,
                        e->first_word, e->ld,           (float)e->scale};

    assert(sizeof(int32_t) * rows <= s->workspace_bytes);
    if (rows == 0)
        return;
    if (has_targets)
        pp_cuda_fetch_tokens(s, e->batch, e->tokens, e->first, e->stride, e->targets, targets);
    PP_LAUNCH(kernel, rows, PP_ROW_THREADS, 0, s->stream, w);
}
} // namespace

#define ENTROPY(name, T)                                                                           \
    void pp_cuda_entropy_max_##name(void *stream, const struct pp_entropy *e)                      \
    {                                                                                              \
        launch<T>(stream, max_kernel<T, PP_WIDE<T>>, e, false);                                    \
    }                                                                                              \
    void pp_cuda_entropy_sums_##name(void *stream, const struct pp_entropy *e)                     \
    {                                                                                              \
        launch<T>(stream, sums_kernel<T, PP_WIDE<T>>, e, true);                                    \
    }                                                                                              \
    void pp_cuda_entropy_end_##name(void *stream, const struct pp_entropy *e)                      \
    {                                                                                              \
        launch<T>(stream, end_kernel<T, PP_WIDE<T>>, e, true);                                     \
    }
ENTROPY(fp32, float)
ENTROPY(bf16, pp_bf16)
