/* The loss of balance of experts, in double. A warp has a token, or a block an expert; sums over
 * tokens are in a fixed order. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"

#include <assert.h>
#include <string.h>

namespace
{
enum { THREADS = 256, WARPS = THREADS / 32 };

/* Sums may begin at a multiple of 4 bytes. */
__device__ __forceinline__ double sum_at(const struct pp_balance &b, int i)
{
    double sum;

    memcpy(&sum, (const char *)b.sums + sizeof sum * (size_t)i, sizeof sum);
    return sum;
}

__device__ __forceinline__ void add_at(const struct pp_balance &b, int i, double value)
{
    const double sum = sum_at(b, i) + value;

    memcpy((char *)b.sums + sizeof sum * (size_t)i, &sum, sizeof sum);
}

/* The softmax of a token's logits. */
struct odds {
    double max, sum;
};

template <class T> struct tokens_of {
    struct pp_balance b;

    __device__ __forceinline__ double logit(int token, int expert) const
    {
        return (double)pp_widen(((const T *)b.logits)[(int64_t)token * b.experts + expert]);
    }

    __device__ __forceinline__ double probability(int token, int expert, const odds &o) const
    {
        return exp(logit(token, expert) - o.max) / o.sum;
    }

    /* All lanes of a warp call it. */
    __device__ __forceinline__ odds of(int token) const
    {
        odds o = {(double)-INFINITY, 0};

        for (int e = (int)threadIdx.x % 32; e < b.experts; e += 32)
            o.max = fmax(o.max, logit(token, e));
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2)
            o.max = fmax(o.max, __shfl_xor_sync(0xffffffffu, o.max, distance));
        for (int e = (int)threadIdx.x % 32; e < b.experts; e += 32)
            o.sum += exp(logit(token, e) - o.max);
        o.sum = pp_warp_sum(o.sum);
        return o;
    }
};

__device__ __forceinline__ int token_of_warp()
{
    return (int)blockIdx.x * WARPS + (int)threadIdx.x / 32;
}

template <class T>
__global__ __launch_bounds__(THREADS) void odds_kernel(const tokens_of<T> t, odds *to)
{
    const int token = token_of_warp();

    if (token >= t.b.tokens)
        return;
    const odds o = t.of(token);
    if (threadIdx.x % 32 == 0)
        to[token] = o;
}

/* A block has an expert. */
template <class T>
__global__ __launch_bounds__(THREADS) void sums_kernel(const tokens_of<T> t, const odds *of)
{
    __shared__ double shared[WARPS * 2];
    const int e = (int)blockIdx.x;
    double sums[2] = {0, 0};

    for (int i = (int)threadIdx.x; i < t.b.tokens * t.b.top_k; i += THREADS)
        sums[0] += t.b.expert[i] == e;
    for (int i = (int)threadIdx.x; i < t.b.tokens; i += THREADS)
        sums[1] += t.probability(i, e, of[i]);
    pp_row_sums(sums, shared);
    if (threadIdx.x > 0)
        return;
    add_at(t.b, e, sums[0]);
    add_at(t.b, t.b.experts + e, sums[1]);
}

/* Choices do not change with the logits: the gradient of expert e is p (choices - the mean of
 * choices by p). */
template <class T>
__global__ __launch_bounds__(THREADS) void grad_kernel(const tokens_of<T> t, float *grad)
{
    const int token = token_of_warp(), lane = (int)threadIdx.x % 32;
    double mean = 0;

    if (token >= t.b.tokens)
        return;
    const odds o = t.of(token);
#pragma unroll 1
    for (int e = lane; e < t.b.experts; e += 32)
        mean += t.probability(token, e, o) * sum_at(t.b, e);
    mean = pp_warp_sum(mean);
#pragma unroll 1
    for (int e = lane; e < t.b.experts; e += 32)
        grad[(int64_t)token * t.b.experts + e] =
            (float)(t.b.factor * t.probability(token, e, o) * (sum_at(t.b, e) - mean));
}

/* Every thread finds the sum, which is short, by itself. */
struct add_loss {
    struct pp_balance b;
    double *loss;

    template <int N> __device__ void run(int64_t i) const
    {
        double sum = 0;

        for (int e = 0; e < b.experts; e++)
            sum += sum_at(b, e) * sum_at(b, b.experts + e);
        loss[i] += b.factor * sum;
    }
};

unsigned blocks_of(const struct pp_balance *b)
{
    return (unsigned)(b->tokens + WARPS - 1) / WARPS;
}

template <class T> void add_sums(struct pp_cuda_stream *s, const struct pp_balance *b)
{
    odds *const of = (odds *)s->workspace;

    assert(sizeof(odds) * (size_t)b->tokens <= s->workspace_bytes);
    PP_LAUNCH((odds_kernel<T>), blocks_of(b), THREADS, 0, s->stream, tokens_of<T>{*b}, of);
    PP_LAUNCH((sums_kernel<T>), (unsigned)b->experts, THREADS, 0, s->stream, tokens_of<T>{*b}, of);
}

template <class T> void make_grad(void *stream, const struct pp_balance *b, void *grad)
{
    PP_LAUNCH((grad_kernel<T>), blocks_of(b), THREADS, 0, pp_cuda_of(stream), tokens_of<T>{*b},
              (float *)grad);
}

template <class T> void add(void *stream, int64_t count, const void *grad, void *x)
{
    pp_map<4>(stream, count, pp_are_aligned(grad, x), pp_add_to<T>{(const float *)grad, (T *)x});
}

bool is_bf16(const struct pp_balance *b)
{
    return b->element_bytes == sizeof(pp_bf16);
}
} // namespace

void pp_cuda_balance_sums(void *stream, const struct pp_balance *b)
{
    struct pp_cuda_stream *const s = (struct pp_cuda_stream *)stream;

    if (b->tokens > 0)
        (is_bf16(b) ? add_sums<pp_bf16> : add_sums<float>)(s, b);
}

void pp_cuda_balance_grad(void *stream, const struct pp_balance *b, void *grad)
{
    if (b->tokens > 0)
        (is_bf16(b) ? make_grad<pp_bf16> : make_grad<float>)(stream, b, grad);
}

void pp_cuda_balance_add(void *stream, const struct pp_balance *b, const void *grad, void *x)
{
    (is_bf16(b) ? add<pp_bf16> : add<float>)(stream, (int64_t)b->tokens * b->experts, grad, x);
}

void pp_cuda_balance_loss(void *stream, const struct pp_balance *b, int64_t count, double *loss)
{
    pp_map<1>(stream, count, true, add_loss{*b, loss});
}
