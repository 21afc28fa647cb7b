/* The optimizer, and the norm of gradients, of all tensors of a flat vector at once. A table in the
 * launch's arguments gives the tensor of an element. Bytes moved for an element by adamw: 32 in
 * fp32 (gradient, weights, m, v twice) and 34 in bf16 (gradient, master, m, v twice; weights).
 * Fixed-point gradients take 8 more. Squares take 4, or 8. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"

#include <assert.h>
#include <math.h>

namespace
{
/* Gradients: float, or fixed point. */
struct floats {
    float *x;

    template <int N> __device__ __forceinline__ pp_floats<N> load(int64_t i) const
    {
        return pp_load<N>(x + i);
    }
};

struct fixed {
    int64_t *x;
    double scale;

    template <int N> __device__ __forceinline__ pp_floats<N> load(int64_t i) const
    {
        const pp_packed<int64_t, N> from = pp_fetch<N>(x + i);
        pp_floats<N> to;

#pragma unroll
        for (int j = 0; j < N; j++)
            to.at[j] = (float)((double)from.at[j] * scale);
        return to;
    }
};

template <int N, class T> __device__ __forceinline__ void clear(T *x)
{
    *(pp_packed<T, N> *)x = {};
}

/* ---- the optimizer --------------------------------------------------------------------------- */

/* Stretches that decay, or do not: ends in units of PP_FLAT_UNIT; unused ends are beyond all. */
enum { STRETCHES = 256 };
struct stretches {
    uint32_t ends[STRETCHES], decays[STRETCHES / 32];

    __device__ __forceinline__ bool decays_at(int64_t element) const
    {
        const uint32_t unit = (uint32_t)(element / PP_FLAT_UNIT);
        int at = 0;

#pragma unroll
        for (int step = STRETCHES / 2; step > 0; step /= 2)
            at += ends[at + step - 1] <= unit ? step : 0;
        return decays[at / 32] >> (at % 32) & 1;
    }
};

struct rates {
    float beta1, rest1, beta2, rest2, epsilon;

    explicit rates(const struct pp_adamw *p)
        : beta1((float)p->beta1), rest1((float)(1 - p->beta1)), beta2((float)p->beta2),
          rest2((float)(1 - p->beta2)), epsilon((float)p->epsilon)
    {
    }
};

/* a b + c d, each operation rounded, as on CPUs: none is fused. So the update of a host has the
 * bits of a device's. */
__device__ __forceinline__ float sum_of_products(float a, float b, float c, float d)
{
    return __fadd_rn(__fmul_rn(a, b), __fmul_rn(c, d));
}

/* Rates of the running step: a launch that is recorded once runs in all steps. */
struct __align__(16) rates_now
{
    float rate1, inverse2, keep, scale;
};

/* m, v: moments. `held`: weights [T] or their master. Elements count from the launch's `first`. */
template <class T, class Gradients> struct adamw {
    rates r;
    const rates_now *now;
    Gradients grad;
    float *held, *m, *v;
    T *weights; /* NULL: weights are `held` */
    int64_t first;
    stretches of;

    template <int N> __device__ void run(int64_t j) const
    {
        const int64_t i = first + j;
        const pp_floats<N> g = grad.template load<N>(i);
        pp_floats<N> w = pp_load<N>(held + i), mean = pp_load<N>(m + i), square = pp_load<N>(v + i);
        const rates_now n = *now;
        const float keep = of.decays_at(i) ? n.keep : 1.0f;

#pragma unroll
        for (int k = 0; k < N; k++) {
            const float scaled = __fmul_rn(g.at[k], n.scale);
            mean.at[k] = sum_of_products(r.beta1, mean.at[k], r.rest1, scaled);
            square.at[k] =
                sum_of_products(r.beta2, square.at[k], r.rest2, __fmul_rn(scaled, scaled));
            const float deviation =
                __fadd_rn(__fsqrt_rn(__fmul_rn(square.at[k], n.inverse2)), r.epsilon);
            w.at[k] = __fsub_rn(__fmul_rn(keep, w.at[k]),
                                __fdiv_rn(__fmul_rn(n.rate1, mean.at[k]), deviation));
        }
        pp_save(held + i, w);
        pp_save(m + i, mean);
        pp_save(v + i, square);
        clear<N>(grad.x + i);
        if (weights)
            pp_save(weights + i, w);
    }
};

/* Fetches rates from host memory once, for every thread of the optimizer. */
__global__ void fetch_step_kernel(const struct pp_adamw_step *from, double decay, rates_now *to)
{
    const struct pp_adamw_step step = *from;

    *to = {(float)(step.rate / step.correction1), (float)(1 / step.correction2),
           (float)(1 - __dmul_rn(step.rate, decay)), (float)step.grad_scale};
}

/* Fills stretches from tensor *t on. Returns the first element, from f->from, that does not fit. */
int64_t fill(const struct pp_flat *f, int *t, stretches *of)
{
    int count = 0;

    *of = {};
    for (int i = 0; i < STRETCHES; i++)
        of->ends[i] = UINT32_MAX;
    while (*t < f->tensor_count && f->tensors[*t].from < f->until) {
        const bool decays = f->tensors[*t].decays;
        if (count == STRETCHES)
            return f->tensors[*t].from - f->from;
        while (*t < f->tensor_count && f->tensors[*t].decays == decays)
            ++*t;
        if (*t < f->tensor_count && f->tensors[*t].from <= f->from)
            continue; /* all of it is before f->from */
        of->decays[count / 32] |= (uint32_t)decays << count % 32;
        if (*t < f->tensor_count)
            of->ends[count] = (uint32_t)((f->tensors[*t].from - f->from) / PP_FLAT_UNIT);
        count++;
    }
    return f->until - f->from;
}

template <class T, class Gradients>
void update(void *stream, const struct pp_flat *f, const struct pp_adamw *p,
            const struct pp_adamw_step *step, adamw<T, Gradients> a, bool is_aligned)
{
    const struct pp_cuda_stream *const s = (const struct pp_cuda_stream *)stream;
    rates_now *const now = (rates_now *)s->workspace;

    assert(s->workspace_bytes >= sizeof *now);
    assert((f->until - f->from) / PP_FLAT_UNIT < UINT32_MAX && f->from % PP_FLAT_UNIT == 0);
    a.now = now;
    PP_LAUNCH(fetch_step_kernel, 1, 1, 0, s->stream, step, p->decay, now);
    for (int t = 0; a.first < f->until - f->from;) {
        const int64_t end = fill(f, &t, &a.of);
        pp_map<4>(stream, end - a.first, is_aligned, a);
        a.first = end;
    }
}

template <class T>
void update_any(void *stream, const struct pp_flat *f, const struct pp_adamw *p,
                const struct pp_adamw_step *step, float *held, void *m, void *v, T *weights)
{
    const bool is_aligned = pp_are_aligned(f->grad, f->fixed, held, m, v, weights);
    float *const mean = (float *)m, *const square = (float *)v;

    if (f->fixed)
        update<T, fixed>(
            stream, f, p, step,
            {rates(p), NULL, {f->fixed, ldexp(1, -f->bits)}, held, mean, square, weights, 0, {}},
            is_aligned);
    else
        update<T, floats>(stream, f, p, step,
                          {rates(p), NULL, {(float *)f->grad}, held, mean, square, weights, 0, {}},
                          is_aligned);
}

/* ---- the norm -------------------------------------------------------------------------------- */

/* Tensors by their first block of this launch; unused entries have none. */
enum { THREADS = 256, TENSORS = 128 };
struct squared {
    uint32_t first_block[TENSORS];
    uint32_t from[TENSORS]; /* begin of that block, in units of PP_FLAT_UNIT */
    int64_t until[TENSORS];

    __device__ __forceinline__ int tensor_of(uint32_t block) const
    {
        int at = 0;

#pragma unroll
        for (int step = TENSORS / 2; step > 0; step /= 2)
            at += first_block[at + step] <= block ? step : 0;
        return at;
    }
};

template <class Gradients>
__global__ __launch_bounds__(THREADS) void squares_kernel(squared of, Gradients x, bool is_wide,
                                                          double *blocks)
{
    __shared__ double shared[THREADS / 32];
    const int tensor = of.tensor_of(blockIdx.x);
    const int64_t first = (int64_t)of.from[tensor] * PP_FLAT_UNIT +
                          (int64_t)(blockIdx.x - of.first_block[tensor]) * PP_SQUARES_BLOCK;
    const int64_t left = of.until[tensor] - first;
    const int rest = left < PP_SQUARES_BLOCK ? (int)left : PP_SQUARES_BLOCK;
    double sum[1] = {0};

#pragma unroll
    for (int v = 0; v < PP_SQUARES_BLOCK / THREADS / 4; v++) {
        const int i = 4 * (v * THREADS + (int)threadIdx.x);
        pp_floats<4> values = {};
        if (is_wide && i + 4 <= rest)
            values = x.template load<4>(first + i);
        else
            for (int j = 0; j < 4 && i + j < rest; j++)
                values.at[j] = x.template load<1>(first + i + j).at[0];
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum[0] += (double)values.at[j] * (double)values.at[j];
    }
    pp_row_sums(sum, shared);
    if (threadIdx.x == 0)
        blocks[blockIdx.x] = sum[0];
}

/* The first block of a tensor that begins at `element` or after it, as an element. */
int64_t block_from(const struct pp_flat_tensor *t, int64_t element)
{
    const int64_t before = element > t->from ? element - t->from : 0;

    return t->from + (before + PP_SQUARES_BLOCK - 1) / PP_SQUARES_BLOCK * PP_SQUARES_BLOCK;
}

/* Fills in tensors from *t on that have blocks, up to the limit; returns the number of blocks. */
uint32_t fill(const struct pp_flat *f, int *t, squared *of)
{
    uint32_t blocks = 0;
    int count = 0;

    for (int i = 0; i < TENSORS; i++)
        of->first_block[i] = UINT32_MAX;
    for (; *t < f->tensor_count && count < TENSORS; ++*t) {
        const struct pp_flat_tensor *tensor = &f->tensors[*t];
        const int64_t first = block_from(tensor, f->from), end = block_from(tensor, f->until);
        const int64_t until = end < tensor->until ? end : tensor->until;
        if (first >= until)
            continue;
        of->first_block[count] = blocks;
        of->from[count] = (uint32_t)((first - f->from) / PP_FLAT_UNIT);
        of->until[count++] = tensor->until - f->from;
        blocks += (uint32_t)((until - first + PP_SQUARES_BLOCK - 1) / PP_SQUARES_BLOCK);
    }
    return blocks;
}

template <class Gradients>
void squares(void *stream, const struct pp_flat *f, Gradients x, bool is_aligned, double *blocks)
{
    for (int t = 0; t < f->tensor_count;) {
        squared of;
        const uint32_t count = fill(f, &t, &of);
        if (count)
            PP_LAUNCH((squares_kernel<Gradients>), count, THREADS, 0, pp_cuda_of(stream), of, x,
                      is_aligned, blocks);
        blocks += count;
    }
}
} // namespace

extern "C" {

void pp_cuda_adamw_fp32(void *stream, const struct pp_flat *f, const struct pp_adamw *p,
                        const struct pp_adamw_step *step, void *weights, void *master, void *m,
                        void *v)
{
    assert(master == NULL);
    update_any<float>(stream, f, p, step, (float *)weights, m, v, NULL);
}

void pp_cuda_adamw_bf16(void *stream, const struct pp_flat *f, const struct pp_adamw *p,
                        const struct pp_adamw_step *step, void *weights, void *master, void *m,
                        void *v)
{
    update_any<pp_bf16>(stream, f, p, step, (float *)master, m, v, (pp_bf16 *)weights);
}

void pp_cuda_squares(void *stream, const struct pp_flat *f, double *blocks)
{
    if (f->fixed)
        squares(stream, f, fixed{f->fixed, ldexp(1, -f->bits)}, pp_are_aligned(f->fixed), blocks);
    else
        squares(stream, f, floats{(float *)f->grad}, pp_are_aligned(f->grad), blocks);
}

} // extern "C"
