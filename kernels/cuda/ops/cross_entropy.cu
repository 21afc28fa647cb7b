/* Softmax and cross entropy of logits [rows][vocab] of T in rows of ld, in place. A block has a
 * row. Its first pass computes maximum and sum together (Milakov and Gimelshein 2018). The second
 * pass runs from the end to the begin and writes, so that its first reads are in the cache. Bytes
 * moved: all logits twice, from memory, if the rows in progress fit into the cache. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/ops/row.cuh"
#include "kernels/cuda/ops/tokens.cuh"

#include <assert.h>
#include <float.h>

namespace
{
/* The largest x so far, and the sum of exp(x - max). */
struct softmax {
    float max, sum;

    template <int N> __device__ __forceinline__ void take(const pp_floats<N> &x)
    {
        float larger = max;

#pragma unroll
        for (int j = 0; j < N; j++)
            larger = fmaxf(larger, x.at[j]);
        sum *= __expf(max - larger);
#pragma unroll
        for (int j = 0; j < N; j++)
            sum += __expf(x.at[j] - larger);
        max = larger;
    }

    __device__ __forceinline__ void join(float other_max, float other_sum)
    {
        const float larger = fmaxf(max, other_max);

        sum = sum * __expf(max - larger) + other_sum * __expf(other_max - larger);
        max = larger;
    }
};

__device__ __forceinline__ softmax nothing()
{
    return {-FLT_MAX, 0};
}

__device__ __forceinline__ softmax join_warp(softmax s)
{
#ifdef PP_CUDA_EMULATED
    if (pp_emulated_folds)
        return pp_emulated_fold(s, [](softmax a, softmax b) { return a.join(b.max, b.sum), a; });
#endif
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const float max = __shfl_xor_sync(0xffffffffu, s.max, distance);
        s.join(max, __shfl_xor_sync(0xffffffffu, s.sum, distance));
    }
    return s;
}

/* The softmax of all threads of the block, the same bits in each. */
__device__ __forceinline__ softmax join_block(softmax s)
{
    __shared__ softmax of_warps[PP_ROW_WARPS];
    const int lane = (int)threadIdx.x % 32;

    s = join_warp(s);
    if (lane == 0)
        of_warps[threadIdx.x / 32] = s;
    __syncthreads();
    return join_warp(lane < PP_ROW_WARPS ? of_warps[lane] : nothing());
}

template <class T, int N>
__global__ __launch_bounds__(PP_ROW_THREADS, PP_ROW_BLOCKS) void cross_entropy_kernel(
    int vocab, int ld, const int32_t *targets, float scale, T *logits, double *loss)
{
    const pp_row<T, N> r(logits + (int64_t)blockIdx.x * ld, vocab);
    const int32_t id = targets[blockIdx.x];
    T *const body = r.row + r.head, *const target = r.row + (id < 0 ? 0 : id);
    const float target_logit = pp_widen(*target);
    const int single = r.single();
    softmax s = nothing();

    if (id < 0) {
        for (int i = (int)threadIdx.x; i < ld; i += PP_ROW_THREADS)
            pp_store(r.row + i, 0.0f);
        if (threadIdx.x == 0)
            loss[blockIdx.x] = 0;
        return;
    }
    if (single >= 0)
        s.take(pp_load<1>(r.row + single));
#pragma unroll 4
    for (int v = (int)threadIdx.x; v < r.vectors; v += PP_ROW_THREADS)
        s.take(pp_load<N>(body + (int64_t)v * N));
    s = join_block(s);
    const float factor = scale / s.sum;
    const int last =
        (r.vectors - 1 - (int)threadIdx.x) / PP_ROW_THREADS * PP_ROW_THREADS + (int)threadIdx.x;
#pragma unroll 4
    for (int v = (int)threadIdx.x < r.vectors ? last : -1; v >= 0; v -= PP_ROW_THREADS) {
        pp_floats<N> x = pp_load<N>(body + (int64_t)v * N);
#pragma unroll
        for (int j = 0; j < N; j++)
            x.at[j] = __expf(x.at[j] - s.max) * factor;
        pp_save(body + (int64_t)v * N, x);
    }
    if (single >= 0)
        pp_store(r.row + single, __expf(pp_widen(r.row[single]) - s.max) * factor);
    for (int i = vocab + (int)threadIdx.x; i < ld; i += PP_ROW_THREADS)
        pp_store(r.row + i, 0.0f);
    __syncthreads(); /* the target's element is written last, and rounded once */
    if (threadIdx.x == 0) {
        pp_store(target, __expf(target_logit - s.max) * factor - scale);
        loss[blockIdx.x] = (double)s.max + log((double)s.sum) - (double)target_logit;
    }
}

template <class T>
void cross_entropy(void *stream, int batch, int tokens, int first, int stride, int vocab, int ld,
                   const int32_t *host_targets, double scale, T *x, double *loss)
{
    struct pp_cuda_stream *const s = (struct pp_cuda_stream *)stream;
    int32_t *const targets = (int32_t *)s->workspace;
    const unsigned rows = (unsigned)batch * (unsigned)tokens;

    assert(sizeof(int32_t) * rows <= s->workspace_bytes);
    if (rows == 0)
        return;
    pp_cuda_fetch_tokens(s, batch, tokens, first, stride, host_targets, targets);
    PP_LAUNCH((cross_entropy_kernel<T, PP_WIDE<T>>), rows, PP_ROW_THREADS, 0, s->stream, vocab, ld,
              targets, (float)scale, x, loss);
}
} // namespace

#define CROSS_ENTROPY(name, T)                                                                     \
    void pp_cuda_cross_entropy_##name(void *stream, int batch, int tokens, int first, int stride,  \
                                      int vocab, int ld, const int32_t *targets, double scale,     \
                                      void *x, double *loss)                                       \
    {                                                                                              \
        cross_entropy<T>(stream, batch, tokens, first, stride, vocab, ld, targets, scale, (T *)x,  \
                         loss);                                                                    \
    }
CROSS_ENTROPY(fp32, float)
CROSS_ENTROPY(bf16, pp_bf16)
