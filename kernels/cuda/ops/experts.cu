/* Tokens to rows of experts, and back. Bytes moved: of each row and token once; combine reads
 * tokens once for each row, from the cache if they are near. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"

namespace
{
template <class T> struct scatter {
    struct pp_routing r;
    const T *x;
    T *y;
    int width;

    template <int N> __device__ void run(int row, int column) const
    {
        const int from = r.from[row];
        pp_floats<N> v = {};

        if (from >= 0)
            v = pp_load<N>(x + (int64_t)(from / r.top_k) * width + column);
        pp_save(y + (int64_t)row * width + column, v);
    }
};

/* to = base + the rows of a token's choices, times their gates or 1, in the order of choices. */
template <class T, bool HAS_GATES> struct gather {
    struct pp_routing r;
    const T *of, *base;
    T *to;
    int width;

    template <int N> __device__ void run(int token, int column) const
    {
        const int64_t at = (int64_t)token * width + column, first = (int64_t)token * r.top_k;
        pp_floats<N> sum = {};

        if (base)
            sum = pp_load<N>(base + at);
        for (int64_t c = first; c < first + r.top_k; c++) {
            const int row = r.row[c];
            if (row < 0)
                continue;
            const float gate = HAS_GATES ? ((const float *)r.gates)[c] : 1.0f;
            const pp_floats<N> x = pp_load<N>(of + (int64_t)row * width + column);
#pragma unroll
            for (int j = 0; j < N; j++)
                sum.at[j] = fmaf(gate, x.at[j], sum.at[j]);
        }
        pp_save(to + at, sum);
    }
};

/* A warp has a choice. dx may be x. */
enum { THREADS = 256, WARPS = THREADS / 32 };
template <class T, int N>
__global__ __launch_bounds__(THREADS) void combine_backward_kernel(const struct pp_routing r,
                                                                   int choices, int width,
                                                                   const T *x, const T *dy, T *dx,
                                                                   float *dgates)
{
    const int c = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;

    if (c >= choices)
        return;
    const int row = r.row[c];
    const int64_t from = (int64_t)(c / r.top_k) * width, to = (int64_t)row * width;
    const float gate = ((const float *)r.gates)[c];
    float sum = 0;

    for (int i = lane * N; i < width && row >= 0; i += 32 * N) {
        const pp_floats<N> a = pp_load<N>(x + to + i);
        pp_floats<N> d = pp_load<N>(dy + from + i);
#pragma unroll
        for (int j = 0; j < N; j++) {
            sum = fmaf(a.at[j], d.at[j], sum);
            d.at[j] *= gate;
        }
        pp_save(dx + to + i, d);
    }
    sum = pp_warp_sum(sum);
    if (lane == 0)
        dgates[c] = sum;
}

template <class T> void dispatch_forward(void *stream, const struct pp_token_exchange *e)
{
    pp_map_rows<PP_WIDE<T>>(stream, e->routing->rows, e->width, pp_are_aligned(e->x, e->y),
                            scatter<T>{*e->routing, (const T *)e->x, (T *)e->y, e->width});
}

template <class T, bool HAS_GATES>
void gather_rows(void *stream, const struct pp_token_exchange *e, const void *of, void *to)
{
    const struct pp_routing *r = e->routing;

    pp_map_rows<PP_WIDE<T>>(
        stream, r->batch * r->tokens, e->width, pp_are_aligned(of, e->base, to),
        gather<T, HAS_GATES>{*r, (const T *)of, (const T *)e->base, (T *)to, e->width});
}

template <class T, int N> void combine_backward_by(void *stream, const struct pp_token_exchange *e)
{
    const struct pp_routing *r = e->routing;
    const int choices = r->batch * r->tokens * r->top_k;

    if (choices > 0)
        PP_LAUNCH((combine_backward_kernel<T, N>), (unsigned)(choices + WARPS - 1) / WARPS, THREADS,
                  0, pp_cuda_of(stream), *r, choices, e->width, (const T *)e->x, (const T *)e->dy,
                  (T *)e->dx, (float *)e->dgates);
}

template <class T> void combine_backward(void *stream, const struct pp_token_exchange *e)
{
    if (e->width % PP_WIDE<T> == 0 && pp_are_aligned(e->x, e->dy, e->dx))
        combine_backward_by<T, PP_WIDE<T>>(stream, e);
    else
        combine_backward_by<T, 1>(stream, e);
}
} // namespace

#define EXPERTS(name, T)                                                                           \
    void pp_cuda_dispatch_forward_##name(void *stream, const struct pp_token_exchange *e)          \
    {                                                                                              \
        dispatch_forward<T>(stream, e);                                                            \
    }                                                                                              \
    void pp_cuda_dispatch_backward_##name(void *stream, const struct pp_token_exchange *e)         \
    {                                                                                              \
        gather_rows<T, false>(stream, e, e->dy, e->dx);                                            \
    }                                                                                              \
    void pp_cuda_combine_forward_##name(void *stream, const struct pp_token_exchange *e)           \
    {                                                                                              \
        gather_rows<T, true>(stream, e, e->x, e->y);                                               \
    }                                                                                              \
    void pp_cuda_combine_backward_##name(void *stream, const struct pp_token_exchange *e)          \
    {                                                                                              \
        combine_backward<T>(stream, e);                                                            \
    }
EXPERTS(fp32, float)
EXPERTS(bf16, pp_bf16)
