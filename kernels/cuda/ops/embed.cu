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
    int tokens, first, width;

    template <int N> __device__ void run(int row, int column) const
    {
        pp_floats<N> v = pp_load<N>(table + (int64_t)ids[row] * width + column);

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
        float *const to = dtable + (int64_t)id * width + column;
        pp_add(sum, pp_load<N>(to));
        pp_save(to, sum);
    }
}

template <class T, int N>
void gather(cudaStream_t stream, int count, int width, const int32_t *ids, const int *order,
            const T *dy, float *dtable)
{
    const int parts = (width + 32 * N - 1) / (32 * N);
    const int64_t blocks = ((int64_t)count * parts + WARPS - 1) / WARPS;

    PP_LAUNCH((gather_kernel<T, N>), (unsigned)blocks, THREADS, 0, stream, count, width, parts, ids,
              order, dy, dtable);
}

template <class T> struct embed_backward {
    int batch, tokens, first, width;
    const T *dy;
    float *dtable, *dpositions;

    void launch(struct pp_cuda_stream *s, int stride, const int32_t *host_ids) const
    {
        const int count = batch * tokens;
        int32_t *const ids = (int32_t *)s->workspace;
        int *const place = ids + count, *const order = place + count;
        const bool is_aligned = pp_are_aligned(dy, dtable, dpositions);

        assert(3 * sizeof(int) * (size_t)count <= s->workspace_bytes);
        if (count == 0)
            return;
        pp_cuda_fetch_tokens(s, batch, tokens, first, stride, host_ids, ids);
        pp_cuda_order_tokens(s, count, ids, place, order);
        if (is_aligned && width % PP_WIDE<T> == 0)
            gather<T, PP_WIDE<T>>(s->stream, count, width, ids, order, dy, dtable);
        else
            gather<T, 1>(s->stream, count, width, ids, order, dy, dtable);
        if (dpositions)
            pp_map_rows<PP_WIDE<T>>(s, tokens, width, is_aligned,
                                    add_positions<T>{dy, dpositions, batch, tokens, first, width});
    }
};

template <class T>
void embed_rows(void *stream, int batch, int stride, const int32_t *host_ids, embed<T> e)
{
    struct pp_cuda_stream *const s = (struct pp_cuda_stream *)stream;
    int32_t *const ids = (int32_t *)s->workspace;

    assert(sizeof(int32_t) * (size_t)batch * (size_t)e.tokens <= s->workspace_bytes);
    pp_cuda_fetch_tokens(s, batch, e.tokens, e.first, stride, host_ids, ids);
    e.ids = ids;
    pp_map_rows<PP_WIDE<T>>(s, batch * e.tokens, e.width, pp_are_aligned(e.table, e.positions, e.y),
                            e);
}
} // namespace

#define EMBED(name, T)                                                                             \
    void pp_cuda_embed_forward_##name(void *stream, int batch, int tokens, int first, int stride,  \
                                      int width, const int32_t *ids, const void *table,            \
                                      const void *positions, void *y)                              \
    {                                                                                              \
        embed_rows<T>(                                                                             \
            stream, batch, stride, ids,                                                            \
            {NULL, (const T *)table, (const T *)positions, (T *)y, tokens, first, width});         \
    }                                                                                              \
    void pp_cuda_embed_backward_##name(void *stream, int batch, int tokens, int first, int stride, \
                                       int width, int vocab, const int32_t *ids, const void *dy,   \
                                       void *dtable, void *dpositions, bool add)                   \
    {                                                                                              \
        const size_t row_bytes = sizeof(float) * (size_t)width;                                    \
        if (!add)                                                                                  \
            pp_cuda_zero(stream, row_bytes *(size_t)vocab, dtable);                                \
        if (!add && dpositions)                                                                    \
            pp_cuda_zero(stream, row_bytes *(size_t)stride, dpositions);                           \
        embed_backward<T>{                                                                         \
            batch, tokens, first, width, (const T *)dy, (float *)dtable, (float *)dpositions}      \
            .launch((struct pp_cuda_stream *)stream, stride, ids);                                 \
    }
EMBED(fp32, float)
EMBED(bf16, pp_bf16)
