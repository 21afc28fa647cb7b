/* Multiplications and epilogues that cuBLASLt does not do. T is the type of a, b, bias, activated
 * and slope_of; C that of c and base, float for gradients. Sums are float. */
#include "kernels/cuda/device/activations.cuh"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/gemm/gemm.h"

enum { TILE = 16 };

/* Adds the terms to base + op(a) op(b), and stores N neighbours. */
template <int N, typename T, typename C, class Activation>
static __device__ __forceinline__ void finish_elements(const struct pp_gemm &g, size_t row,
                                                       size_t column, pp_floats<N> x)
{
    const size_t at = row * (size_t)g.ldc + column;
    C *const c = (C *)g.c + at;

    if (g.bias)
        pp_add(x, pp_load<N>((const T *)g.bias + column));
    if (g.slope_of) {
        const pp_floats<N> of = pp_load<N>((const T *)g.slope_of + at);
#pragma unroll
        for (int j = 0; j < N; j++) {
            const pp_activation_point f = Activation::at(of.at[j]);
            x.at[j] *= f.common * f.slope;
        }
    }
    pp_save(c, x);
    if (g.activated) {
#pragma unroll
        for (int j = 0; j < N; j++) {
            C rounded;
            pp_store(&rounded, x.at[j]);
            const pp_activation_point f = Activation::at(pp_widen(rounded));
            x.at[j] = f.value * f.common;
        }
        pp_save((T *)g.activated + at, x);
    }
}

/* Grid: x tiles of rows, of which a device has 2^31 - 1, y tiles of columns, at most 65,535. A
 * block computes a tile of c from tiles of op(a) and op(b) in shared memory. Tiles of op(a) are
 * [row][k], those of op(b) [k][column]. Both are zero beyond the edges. */
template <typename T, typename C, class Activation>
static __global__ void __launch_bounds__(TILE *TILE) multiply(const struct pp_gemm g)
{
    __shared__ float a[TILE][TILE + 1], b[TILE][TILE + 1];
    const int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    const size_t row = (size_t)blockIdx.x * TILE + y, column = (size_t)blockIdx.y * TILE + x;
    const bool is_inside = row < (size_t)g.m && column < (size_t)g.n;
    const T *from_a = (const T *)g.a, *from_b = (const T *)g.b;
    float sum = 0;

    for (size_t start = 0; start < (size_t)g.k; start += TILE) {
        const size_t at_a = start + x, at_b = start + y;
        const size_t a_index = g.a_transposed ? at_a * g.lda + row : row * g.lda + at_a;
        const size_t b_index = g.b_transposed ? column * g.ldb + at_b : at_b * g.ldb + column;

        a[y][x] = row < (size_t)g.m && at_a < (size_t)g.k ? pp_widen(from_a[a_index]) : 0.0f;
        b[y][x] = column < (size_t)g.n && at_b < (size_t)g.k ? pp_widen(from_b[b_index]) : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum = fmaf(a[y][i], b[i][x], sum);
        __syncthreads();
    }
    if (!is_inside)
        return;
    if (g.base)
        sum += pp_widen(((const C *)g.base)[row * (size_t)g.ldc + column]);
    finish_elements<1, T, C, Activation>(g, row, column, {{sum}});
}

template <typename T, typename C, class Activation> struct finish {
    struct pp_gemm g;

    template <int N> __device__ void run(int row, int column) const
    {
        const size_t at = (size_t)row * (size_t)g.ldc + (size_t)column;

        finish_elements<N, T, C, Activation>(g, (size_t)row, (size_t)column,
                                             pp_load<N>((const C *)g.c + at));
    }
};

template <typename T, typename C>
static void launch_multiply(const struct pp_cuda_stream *s, const struct pp_gemm *g)
{
    const dim3 grid((unsigned)((g->m + TILE - 1) / TILE), (unsigned)((g->n + TILE - 1) / TILE));

    pp_with_activation(g->activation, [=](auto activation) {
        PP_LAUNCH((multiply<T, C, decltype(activation)>), grid, TILE * TILE, 0, s->stream, *g);
    });
}

template <typename T, typename C>
static void launch_finish(const struct pp_cuda_stream *s, const struct pp_gemm *g)
{
    const bool is_aligned =
        g->ldc % PP_WIDE<T> == 0 && pp_are_aligned(g->c, g->bias, g->slope_of, g->activated);

    pp_with_activation(g->activation, [=](auto activation) {
        pp_map_rows<PP_WIDE<T>>((void *)s, g->m, g->n, is_aligned,
                                finish<T, C, decltype(activation)>{*g});
    });
}

/* Launches by is_bf16 and is_gradient; fp32 has one type for both. */
typedef void launch(const struct pp_cuda_stream *s, const struct pp_gemm *g);

void pp_cuda_gemm_own(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g)
{
    static launch *const LAUNCHES[2][2] = {
        {launch_multiply<float, float>, launch_multiply<float, float>},
        {launch_multiply<pp_bf16, pp_bf16>, launch_multiply<pp_bf16, float>}};

    LAUNCHES[is_bf16][g->is_gradient](stream, g);
}

void pp_cuda_gemm_finish(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g)
{
    static launch *const LAUNCHES[2][2] = {
        {launch_finish<float, float>, launch_finish<float, float>},
        {launch_finish<pp_bf16, pp_bf16>, launch_finish<pp_bf16, float>}};

    LAUNCHES[is_bf16][g->is_gradient](stream, g);
}
