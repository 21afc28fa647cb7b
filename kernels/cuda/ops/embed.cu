/* Embedding. Bytes moved for [tokens][width] of T in the forward: for each token a row of the
 * table, a row of positions, and y. In the backward: dy twice, once for the table and once for
 * positions. Repeated tokens add rows of float of the tables. Tables that are written, not added
 * to, are moved once more. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/ops/tokens.cuh"

#include <assert.h>

namespace
{
template <class T> struct embed {
    const int32_t *ids; /* [rows] */
    const T *table, *positions;
    T *y;
    int tokens, first, width, first_word, words;

    template <int N> __device__ void run(int row, int column) const
    {
        const int64_t word = (int64_t)ids[row] - first_word;
        pp_floats<N> v = {};

        if (word >= 0 && word < words)
            v = pp_load<N>(table + word * width + column);
        if (positions) {
            const int64_t position = first + row % tokens;
            pp_add(v, pp_load<N>(positions + position * width + column));
        }
        pp_save(y + (int64_t)row * width + column, v);
    }
};

/* Row `first + row` of dpositions += the sum over the sequences of dy [batch][tokens][width]. */
template <class T> struct add_positions {
    const T *dy;
    float *dpositions;
    int batch, tokens, first, width;

    template <int N> __device__ void run(int row, int column) const
    {
        float *const to = dpositions + (int64_t)(first + row) * width + column;
        pp_floats<N> sum = {};

        for (int b = 0; b < batch; b++)
            pp_add(sum, pp_load<N>(dy + ((int64_t)b * tokens + row) * width + column));
        pp_add(sum, pp_load<N>(to));
        pp_save(to, sum);
    }
};

/* A warp has 32 N columns of one row of the table. It starts at the first of equal ids in the
 * sorted order, and adds all tokens with that id, 32 at a time. */
enum { THREADS = 256, WARPS = THREADS / 32 };
template <class T, int N>
__global__ __launch_bounds__(THREADS) void gather_kernel(int count, int width, int parts,
                                                         int first_word, int words,
                                                         const int32_t *ids, const int *order,
                                                         const T *dy, float *dtable)
{
    const int lane = (int)threadIdx.x % 32;
    const int64_t warp = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    const int place = (int)(warp / parts), column = ((int)(warp % parts) * 32 + lane) * N;
    pp_floats<N> sum = {};

    if (place >= count || (place > 0 && ids[order[place - 1]] == ids[order[place]]))
        return;
    const int32_t id = ids[order[place]];
    if (id < first_word || id - first_word >= words)
        return;
    for (int from = place, run = 32; run == 32; from += 32) {
        const int token = from + lane < count ? order[from + lane] : 0;
        const bool is_same = from + lane < count && ids[token] == id;
        const unsigned others = ~__ballot_sync(0xffffffffu, is_same);
        run = others ? __ffs((int)others) - 1 : 32;
#pragma unroll 4
        for (int k = 0; k < run; k++) {
            const int64_t row = __shfl_sync(0xffffffffu, token, k);
            if (column < width)
                pp_add(sum, pp_load<N>(dy + row * width + column));
        }
    }
    if (column < width) {
        float *const to = dtable + (int64_t)(id - first_word) * width + column;
        pp_add(sum, pp_load<N>(to));
        pp_save(to, sum);
    }
}

template <class T, int N>
void gather(cudaStream_t stream, const struct pp_embedding *e, const int32_t *ids, const int *order)
{
    const int count = e->batch * e->tokens, parts = (e->width + 32 * N - 1) / (32 * N);
    const int64_t blocks = ((int64_t)count * parts + WARPS - 1) / WARPS;

    PP_LAUNCH((gather_kernel<T, N>), (unsigned)blocks, THREADS, 0, stream, count, e->width, parts,
              e->first_word, e->words, ids, order, (const T *)e->dy, (float *)e->dtable);
}

template <class T> void embed_backward(struct pp_cuda_stream *s, const struct pp_embedding *e)
{
    const int count = e->batch * e->tokens;
    int32_t *const ids = (int32_t *)s->workspace;
    int *const place = ids + count, *const order = place + count;
    const bool is_aligned = pp_are_aligned(e->dy, e->dtable, e->dpositions);

    assert(3 * sizeof(int) * (size_t)count <= s->workspace_bytes);
    if (count == 0)
        return;
    pp_cuda_fetch_tokens(s, e->batch, e->tokens, e->first, e->stride, e->ids, ids);
    pp_cuda_order_tokens(s, count, ids, place, order);
    if (is_aligned && e->width % PP_WIDE<T> == 0)
        gather<T, PP_WIDE<T>>(s->stream, e, ids, order);
    else
        gather<T, 1>(s->stream, e, ids, order);
    if (e->dpositions)
        pp_map_rows<PP_WIDE<T>>(s, e->tokens, e->width, is_aligned,
                                add_positions<T>{(const T *)e->dy, (float *)e->dpositions, e->batch,
                                                 e->tokens, e->first, e->width});
}

template <class T> void embed_forward(struct pp_cuda_stream *s, const struct pp_embedding *e)
{
    int32_t *const ids = (int32_t *)s->workspace;

    assert(sizeof(int32_t) * (size_t)e->batch * (size_t)e->tokens <= s->workspace_bytes);
    pp_cuda_fetch_tokens(s, e->batch, e->tokens, e->first, e->stride, e->ids, ids);
    pp_map_rows<PP_WIDE<T>>(s, e->batch * e->tokens, e->width,
                            pp_are_aligned(e->table, e->positions, e->y),
                            embed<T>{ids, (const T *)e->table, (const T *)e->positions, (T *)e->y,
                                     e->tokens, e->first, e->width, e->first_word, e->words});
}
} // namespace

#define EMBED(name, T)                                                                             \
    void pp_cuda_embed_forward_##name(void *stream, const struct pp_embedding *e)                  \
    {                                                                                              \
        embed_forward<T>((struct pp_cuda_stream *)stream, e);                                      \
    }                                                                                              \
    void pp_cuda_embed_backward_##name(void *stream, const struct pp_embedding *e)                 \
    {                                                                                              \
        const size_t row_bytes = sizeof(float) * (size_t)e->width;                                 \
        if (!e->add)                                                                               \
            pp_cuda_zero(stream, row_bytes *(size_t)e->words, e->dtable);                          \
        if (!e->add && e->dpositions)                                                              \
            pp_cuda_zero(stream, row_bytes *(size_t)e->stride, e->dpositions);                     \
        embed_backward<T>((struct pp_cuda_stream *)stream, e);                                     \
    }
EMBED(fp32, float)
EMBED(bf16, pp_bf16)
