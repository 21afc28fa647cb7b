/* Multiplications that cuBLASLt does not do, and epilogues that it does not. T is the type of a, b,
 * bias, activated and gelu_of; C that of c and base, float for gradients. Sums are float. */
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/gemm.h"

enum { TILE = 16, FINISH_THREADS = 256 };

/* What stands behind base + op(a) op(b), and the stores. */
template <typename T, typename C>
static __device__ void finish_element(const struct pp_gemm &g, size_t row, size_t column, float x)
{
    const size_t at = row * (size_t)g.ldc + column;
    C *c = (C *)g.c;

    if (g.bias)
        x += pp_widen(((const T *)g.bias)[column]);
    if (g.gelu_of)
        x *= pp_gelu_slope(pp_widen(((const T *)g.gelu_of)[at]));
    pp_store(&c[at], x);
    if (g.activated)
        pp_store(&((T *)g.activated)[at], pp_gelu(pp_widen(c[at])));
}

/* A block makes a tile of c, from tiles of op(a) and op(b) in shared memory: those of op(a) as
 * [row][k], those of op(b) as [k][column], zero beyond the edges. */
template <typename T, typename C>
static __global__ void __launch_bounds__(TILE *TILE) multiply(const struct pp_gemm g)
{
    __shared__ float a[TILE][TILE + 1], b[TILE][TILE + 1];
    const int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    const size_t row = (size_t)blockIdx.y * TILE + y, column = (size_t)blockIdx.x * TILE + x;
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
    finish_element<T, C>(g, row, column, sum);
}

/* A block finishes a row. */
template <typename T, typename C>
static __global__ void __launch_bounds__(FINISH_THREADS) finish(const struct pp_gemm g)
{
    const size_t row = blockIdx.x;

    for (size_t column = threadIdx.x; column < (size_t)g.n; column += FINISH_THREADS)
        finish_element<T, C>(g, row, column,
                             pp_widen(((const C *)g.c)[row * (size_t)g.ldc + column]));
}

template <typename T, typename C>
static void launch_multiply(const struct pp_cuda_stream *s, const struct pp_gemm *g)
{
    const dim3 grid((unsigned)((g->n + TILE - 1) / TILE), (unsigned)((g->m + TILE - 1) / TILE));

    PP_LAUNCH((multiply<T, C>), grid, TILE * TILE, 0, s->stream, *g);
}

template <typename T, typename C>
static void launch_finish(const struct pp_cuda_stream *s, const struct pp_gemm *g)
{
    PP_LAUNCH((finish<T, C>), (unsigned)g->m, FINISH_THREADS, 0, s->stream, *g);
}

/* By is_bf16 and is_gradient: gradients of float are as all float. */
typedef void launch(const struct pp_cuda_stream *s, const struct pp_gemm *g);

void pp_cuda_gemm_own(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g)
{
    static launch *const LAUNCHES[2][2] = {
        {launch_multiply<float, float>, launch_multiply<float, float>},
        {launch_multiply<__nv_bfloat16, __nv_bfloat16>, launch_multiply<__nv_bfloat16, float>}};

    LAUNCHES[is_bf16][g->is_gradient](stream, g);
}

void pp_cuda_gemm_finish(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g)
{
    static launch *const LAUNCHES[2][2] = {
        {launch_finish<float, float>, launch_finish<float, float>},
        {launch_finish<__nv_bfloat16, __nv_bfloat16>, launch_finish<__nv_bfloat16, float>}};

    LAUNCHES[is_bf16][g->is_gradient](stream, g);
}
