/* What happens to flat vectors: bytes, additions, squares, the optimizer. Bytes moved:
 * every vector of the call once, or twice where it is read and written. For adamw these are, an
 * element: 28 in fp32 (grad; weights, m, v twice), 30 in bf16 (master, m, v twice; weights). */
#include "kernels/cuda/map.cuh"
#include "kernels/cuda/parts.h"
#include "kernels/cuda/reduce.cuh"

#include <assert.h>

namespace
{
struct add {
    const float *x;
    float *y;

    template <int N> __device__ void run(int64_t i) const
    {
        const pp_floats<N> a = pp_load<N>(x + i);
        pp_floats<N> b = pp_load<N>(y + i);

#pragma unroll
        for (int j = 0; j < N; j++)
            b.at[j] += a.at[j];
        pp_save(y + i, b);
    }
};

struct rates {
    float beta1, rest1, beta2, rest2, epsilon;
    double decay;

    explicit rates(const struct pp_adamw *p)
        : beta1((float)p->beta1), rest1((float)(1 - p->beta1)), beta2((float)p->beta2),
          rest2((float)(1 - p->beta2)), epsilon((float)p->epsilon), decay(p->decay)
    {
    }
};

/* Of the step that runs: a launch that is recorded once runs in all of them. */
struct __align__(16) rates_now
{
    float rate1, inverse2, keep, scale;
};

/* m and v are the moments; `held` is what is trained: weights [T] themselves, or their master. */
template <class T> struct adamw {
    rates r;
    const rates_now *now;
    const float *grad;
    float *held, *m, *v;
    T *weights; /* NULL: these are `held` */

    template <int N> __device__ void run(int64_t i) const
    {
        const pp_floats<N> g = pp_load<N>(grad + i);
        pp_floats<N> w = pp_load<N>(held + i), first = pp_load<N>(m + i),
                     second = pp_load<N>(v + i);
        const rates_now n = *now;

#pragma unroll
        for (int j = 0; j < N; j++) {
            const float scaled = g.at[j] * n.scale;
            first.at[j] = r.beta1 * first.at[j] + r.rest1 * scaled;
            second.at[j] = r.beta2 * second.at[j] + r.rest2 * (scaled * scaled);
            w.at[j] = n.keep * w.at[j] -
                      n.rate1 * first.at[j] / (sqrtf(second.at[j] * n.inverse2) + r.epsilon);
        }
        pp_save(held + i, w);
        pp_save(m + i, first);
        pp_save(v + i, second);
        if (weights)
            pp_save(weights + i, w);
    }
};

/* Every thread of the optimizer needs it: from the host's memory it comes once. */
__global__ void fetch_step_kernel(const struct pp_adamw_step *from, double decay, rates_now *to)
{
    const struct pp_adamw_step step = *from;

    *to = {(float)(step.rate / step.correction1), (float)(1 / step.correction2),
           (float)(1 - step.rate * decay), (float)step.grad_scale};
}

template <class T>
void update(void *stream, int64_t count, const struct pp_adamw_step *step, adamw<T> a)
{
    const struct pp_cuda_stream *const s = (const struct pp_cuda_stream *)stream;
    rates_now *const now = (rates_now *)s->workspace;

    assert(s->workspace_bytes >= sizeof *now);
    a.now = now;
    PP_LAUNCH(fetch_step_kernel, 1, 1, 0, s->stream, step, a.r.decay, now);
    pp_map<4>(stream, count, pp_are_aligned(a.grad, a.held, a.m, a.v, a.weights), a);
}

enum { THREADS = 256 };
__global__ __launch_bounds__(THREADS) void squares_kernel(int64_t count, const float *x,
                                                          bool is_wide, double *blocks)
{
    __shared__ double shared[THREADS / 32];
    const int64_t first = (int64_t)blockIdx.x * PP_SQUARES_BLOCK;
    const int rest = count - first < PP_SQUARES_BLOCK ? (int)(count - first) : PP_SQUARES_BLOCK;
    double sum[1] = {0};

#pragma unroll
    for (int v = 0; v < PP_SQUARES_BLOCK / THREADS / 4; v++) {
        const int i = 4 * (v * THREADS + (int)threadIdx.x);
        pp_floats<4> values = {};
        if (is_wide && i + 4 <= rest)
            values = pp_load<4>(x + first + i);
        else
            for (int j = 0; j < 4 && i + j < rest; j++)
                values.at[j] = x[first + i + j];
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum[0] += (double)values.at[j] * (double)values.at[j];
    }
    pp_row_sums(sum, shared);
    if (threadIdx.x == 0)
        blocks[blockIdx.x] = sum[0];
}
} // namespace

extern "C" {

void pp_cuda_copy(void *stream, size_t bytes, const void *from, void *to)
{
    if (bytes)
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, pp_cuda_of(stream));
}

void pp_cuda_zero(void *stream, size_t bytes, void *x)
{
    if (bytes)
        cudaMemsetAsync(x, 0, bytes, pp_cuda_of(stream));
}

void pp_cuda_add(void *stream, int64_t count, const void *x, void *y)
{
    pp_map<4>(stream, count, pp_are_aligned(x, y), add{(const float *)x, (float *)y});
}

void pp_cuda_squares(void *stream, int64_t count, const void *x, double *blocks)
{
    const unsigned grid = (unsigned)((count + PP_SQUARES_BLOCK - 1) / PP_SQUARES_BLOCK);

    if (count)
        PP_LAUNCH(squares_kernel, grid, THREADS, 0, pp_cuda_of(stream), count, (const float *)x,
                  pp_are_aligned(x), blocks);
}

void pp_cuda_adamw_fp32(void *stream, int64_t count, const struct pp_adamw *p,
                        const struct pp_adamw_step *step, const void *grad, void *weights,
                        void *master, void *m, void *v)
{
    assert(master == NULL);
    update<float>(
        stream, count, step,
        {rates(p), NULL, (const float *)grad, (float *)weights, (float *)m, (float *)v, NULL});
}

void pp_cuda_adamw_bf16(void *stream, int64_t count, const struct pp_adamw *p,
                        const struct pp_adamw_step *step, const void *grad, void *weights,
                        void *master, void *m, void *v)
{
    update<pp_bf16>(stream, count, step,
                    {rates(p), NULL, (const float *)grad, (float *)master, (float *)m, (float *)v,
                     (pp_bf16 *)weights});
}

} // extern "C"
