/* The choice of experts. A warp has a token, and reads its logits two to four times, from the cache
 * but for the first time. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/ops/choices.cuh"

#include <limits.h>

namespace
{
enum { THREADS = 128, WARPS = THREADS / 32 };

/* Experts by logit, the largest first, and then by index: an order in which no two are equal. NaN
 * comes last. */
struct candidate {
    float logit;
    int expert;

    __device__ __forceinline__ bool is_before(const candidate &other) const
    {
        return logit > other.logit || (logit == other.logit && expert < other.expert);
    }
};

template <class T> __device__ __forceinline__ candidate candidate_at(const T *logits, int e)
{
    const float logit = pp_widen(logits[e]);

    return {logit == logit ? logit : -INFINITY, e};
}

__device__ __forceinline__ candidate first_of_warp(candidate best)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const candidate other = {__shfl_xor_sync(0xffffffffu, best.logit, distance),
                                 __shfl_xor_sync(0xffffffffu, best.expert, distance)};
        if (other.is_before(best))
            best = other;
    }
    return best;
}

/* The first expert after `last`, in all lanes. */
template <class T>
__device__ __forceinline__ candidate next_expert(const T *logits, int experts, candidate last)
{
    candidate best = {-INFINITY, INT_MAX};

    for (int e = (int)threadIdx.x % 32; e < experts; e += 32) {
        const candidate c = candidate_at(logits, e);
        if (last.is_before(c) && c.is_before(best))
            best = c;
    }
    return first_of_warp(best);
}

/* The sum of exp(logit - max) over all experts, in all lanes. */
template <class T>
__device__ __forceinline__ float sum_of_exp(const T *logits, int experts, float max)
{
    float sum = 0;

    for (int e = (int)threadIdx.x % 32; e < experts; e += 32)
        sum += expf(pp_widen(logits[e]) - max);
    return pp_warp_sum(sum);
}

/* Lane 0 writes; the sum over chosen experts is one over their gates, in order. */
template <class T>
__global__ __launch_bounds__(THREADS) void route_forward_kernel(const struct pp_routing r,
                                                                int tokens)
{
    const int lane = (int)threadIdx.x % 32, token = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32;

    if (token >= tokens)
        return;
    const T *const logits = (const T *)r.logits + (int64_t)token * r.experts;
    const int64_t first = (int64_t)token * r.top_k;
    float *const gates = (float *)r.gates + first;
    candidate last = {INFINITY, -1};
    float max = 0, sum = 0;

    for (int k = 0; k < r.top_k; k++) {
        last = next_expert(logits, r.experts, last);
        const float logit = pp_widen(logits[last.expert]);
        max = k == 0 ? logit : max;
        const float x = expf(logit - max);
        sum += x;
        if (lane == 0) {
            r.expert[first + k] = last.expert;
            gates[k] = x;
        }
    }
    if (!r.is_normalized)
        sum = sum_of_exp(logits, r.experts, max);
    for (int k = 0; k < r.top_k && lane == 0; k++)
        gates[k] /= sum;
}

/* With p for the softmax that the gates are taken from: d logit = p (dp - sum of p dp). Other
 * experts than the chosen ones have dp = 0; if only the chosen ones count, they have p = 0. */
template <class T>
__global__ __launch_bounds__(THREADS) void route_backward_kernel(const struct pp_routing r,
                                                                 int tokens)
{
    const int lane = (int)threadIdx.x % 32, token = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32;

    if (token >= tokens)
        return;
    const int64_t at = (int64_t)token * r.experts, first = (int64_t)token * r.top_k;
    const T *const logits = (const T *)r.logits + at;
    T *const to = (T *)r.dlogits + at;
    const int32_t *const chosen = r.expert + first;
    const float *const gates = (const float *)r.gates + first;
    const float *const dgates = (const float *)r.dgates + first;
    const float max = pp_widen(logits[chosen[0]]);
    const float all = r.is_normalized ? 1 : sum_of_exp(logits, r.experts, max);
    float sum = 0;

    for (int k = 0; k < r.top_k; k++)
        sum = fmaf(gates[k], dgates[k], sum);
    __syncwarp(); /* dlogits may be logits, which other lanes have read */
    for (int e = lane; e < r.experts; e += 32) {
        float p = r.is_normalized ? 0 : expf(pp_widen(logits[e]) - max) / all, dp = 0;
        for (int k = 0; k < r.top_k; k++)
            if (chosen[k] == e) {
                p = gates[k];
                dp = dgates[k];
            }
        pp_store(to + e, p * (dp - sum));
    }
}

unsigned blocks_of(int tokens)
{
    return (unsigned)(tokens + WARPS - 1) / WARPS;
}

template <class T> void route_forward(void *stream, const struct pp_routing *r)
{
    const int tokens = r->batch * r->tokens;

    if (tokens == 0)
        return;
    PP_LAUNCH((route_forward_kernel<T>), blocks_of(tokens), THREADS, 0, pp_cuda_of(stream), *r,
              tokens);
    pp_cuda_order_choices(stream, r);
}

template <class T> void route_backward(void *stream, const struct pp_routing *r)
{
    const int tokens = r->batch * r->tokens;

    if (tokens > 0)
        PP_LAUNCH((route_backward_kernel<T>), blocks_of(tokens), THREADS, 0, pp_cuda_of(stream), *r,
                  tokens);
}
} // namespace

#define ROUTE(name, T)                                                                             \
    void pp_cuda_route_forward_##name(void *stream, const struct pp_routing *r)                    \
    {                                                                                              \
        route_forward<T>(stream, r);                                                               \
    }                                                                                              \
    void pp_cuda_route_backward_##name(void *stream, const struct pp_routing *r)                   \
    {                                                                                              \
        route_backward<T>(stream, r);                                                              \
    }
ROUTE(fp32, float)
ROUTE(bf16, pp_bf16)
