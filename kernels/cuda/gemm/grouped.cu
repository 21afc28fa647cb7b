/* Products of the rows of each expert, and sums over them. bf16 takes tensor cores if its tensors
 * are aligned. Otherwise sums are float, in the order of k. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/gemm/grouped.cuh"

#include <assert.h>

namespace
{
/* A block has a square of c, a thread a smaller one. PITCH keeps rows of `shared` at 16 bytes. */
enum { TILE = 64, DEPTH = 16, THREADS = 256, SIDE = 4, ACROSS = TILE / SIDE, PITCH = TILE + 4 };

/* to [k][row] = op(a) of TILE rows from `row`, k from `start`. Zero beyond its edges. `is_by_k`: a
 * row of memory is one of k. */
template <class T>
__device__ __forceinline__ void fetch(float (*to)[PITCH], const T *from, bool is_by_k, int ld,
                                      int row, int rows, int start, int k)
{
#pragma unroll
    for (int i = (int)threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        const int x = is_by_k ? i % TILE : i / DEPTH, y = is_by_k ? i / TILE : i % DEPTH;
        const int64_t at =
            is_by_k ? (int64_t)(start + y) * ld + row + x : (int64_t)(row + x) * ld + start + y;

        to[y][x] = row + x < rows && start + y < k ? pp_widen(from[at]) : 0.0f;
    }
}

template <class T, class C, bool A_BY_K, bool B_BY_K>
__global__ __launch_bounds__(THREADS, 2) void multiply_kernel(const struct pp_cuda_grouped w)
{
    __shared__ __align__(16) float a[DEPTH][PITCH], b[DEPTH][PITCH];
    const int x = (int)threadIdx.x % ACROSS * SIDE, y = (int)threadIdx.x / ACROSS * SIDE;
    pp_block_product<T, C> p;
    pp_floats<SIDE> sums[SIDE] = {};

    if (!pp_find_product<T, C, A_BY_K>(w, TILE, TILE, p))
        return;
    for (int start = 0; start < p.k; start += DEPTH) {
        fetch(a, p.a, A_BY_K, p.lda, p.row, p.m, start, p.k);
        fetch(b, p.b, B_BY_K, p.ldb, p.column, p.n, start, p.k);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            const pp_floats<SIDE> of_a = pp_load<SIDE>(&a[i][y]), of_b = pp_load<SIDE>(&b[i][x]);
#pragma unroll
            for (int r = 0; r < SIDE; r++)
#pragma unroll
                for (int c = 0; c < SIDE; c++)
                    sums[r].at[c] = fmaf(of_a.at[r], of_b.at[c], sums[r].at[c]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < SIDE; r++)
#pragma unroll
        for (int c = 0; c < SIDE; c++)
            pp_finish_product<1>(p, p.row + y + r, p.column + x + c, pp_floats<1>{{sums[r].at[c]}});
}

/* A block has 32 columns of an expert. Thread (x, y) adds rows y, y + HEIGHT, ... of column x. */
enum { WIDTH = 32, HEIGHT = 8 };
template <class T>
__global__ __launch_bounds__(WIDTH *HEIGHT) void sum_rows_kernel(const struct pp_row_groups groups,
                                                                 const struct pp_group_range range,
                                                                 int width, const T *dy,
                                                                 float *dbias, bool add)
{
    __shared__ float parts[HEIGHT][WIDTH];
    const int x = (int)threadIdx.x % WIDTH, y = (int)threadIdx.x / WIDTH;
    const int column = (int)blockIdx.x * WIDTH + x;
    const pp_tile_rows in = pp_rows_of(groups, range, (int)blockIdx.y);
    float sum = 0;

    for (int row = in.from + y; row < in.until && column < width; row += HEIGHT)
        sum += pp_widen(dy[(int64_t)row * width + column]);
    parts[y][x] = sum;
    __syncthreads();
    if (y > 0 || column >= width)
        return;
    for (int i = 1; i < HEIGHT; i++)
        sum += parts[i][x];
    float *const to = dbias + (int64_t)blockIdx.y * width + column;
    *to = add ? *to + sum : sum;
}

template <class T, class C, bool A_BY_K, bool B_BY_K>
void launch(cudaStream_t stream, const struct pp_cuda_grouped *w)
{
    PP_LAUNCH((multiply_kernel<T, C, A_BY_K, B_BY_K>), pp_grouped_grid(w, TILE, TILE), THREADS, 0,
              stream, *w);
}

/* Pointers and rows of 16 bytes. */
template <class T> bool is_for_tensor_cores(const struct pp_gemm *g)
{
    enum { UNIT = 8 };

    return PP_IS_BF16<T> && pp_are_aligned(g->a, g->b, g->c, g->base, g->bias) &&
           g->lda % UNIT == 0 && g->ldb % UNIT == 0 && g->ldc % UNIT == 0 && g->n % UNIT == 0 &&
           (g->a_transposed ? g->m : g->k) % UNIT == 0;
}

template <class T> void multiply(void *stream, const struct pp_cuda_grouped *w)
{
    const cudaStream_t on = pp_cuda_of(stream);

    if (is_for_tensor_cores<T>(&w->g))
        pp_cuda_grouped_mma(on, w);
    else if (w->g.a_transposed)
        launch<T, float, true, true>(on, w);
    else if (w->g.b_transposed)
        launch<T, T, false, false>(on, w);
    else
        launch<T, T, false, true>(on, w);
}

/* f and its slope at 0 times 0 are 0, so rows that are not in use stay 0. */
template <class T>
void grouped_gemm(const struct pp_kernels *k, void *stream, const struct pp_row_groups *groups,
                  const struct pp_gemm *g)
{
    const struct pp_cuda_grouped w = {*groups, {0, 0, 0}, *g};
    const int64_t count = (int64_t)groups->rows * g->n;

    assert(!g->a_transposed && !g->base && g->ldc == g->n);
    if (count == 0)
        return;
    multiply<T>(stream, &w);
    if (g->activated)
        k->activate_forward(stream, g->activation, count, g->c, g->activated);
    if (g->slope_of)
        k->activate_backward(stream, g->activation, count, g->slope_of, g->c, g->c);
}

template <class T>
void grouped_weight_grad(void *stream, const struct pp_row_groups *groups,
                         const struct pp_group_range *range, const struct pp_gemm *g)
{
    const struct pp_cuda_grouped w = {*groups, *range, *g};

    assert(g->a_transposed && !g->b_transposed && g->is_gradient && !g->bias);
    multiply<T>(stream, &w);
}

template <class T>
void grouped_sum_rows(void *stream, const struct pp_row_groups *groups,
                      const struct pp_group_range *range, int width, const void *dy, void *dbias,
                      bool add)
{
    const dim3 grid((unsigned)((width + WIDTH - 1) / WIDTH),
                    (unsigned)(range->until - range->from));

    PP_LAUNCH((sum_rows_kernel<T>), grid, WIDTH * HEIGHT, 0, pp_cuda_of(stream), *groups, *range,
              width, (const T *)dy, (float *)dbias, add);
}
} // namespace

#define GROUPED(name, T)                                                                           \
    void pp_cuda_grouped_gemm_##name(const struct pp_kernels *k, void *stream,                     \
                                     const struct pp_row_groups *groups, const struct pp_gemm *g)  \
    {                                                                                              \
        grouped_gemm<T>(k, stream, groups, g);                                                     \
    }                                                                                              \
    void pp_cuda_grouped_weight_grad_##name(const struct pp_kernels *, void *stream,               \
                                            const struct pp_row_groups *groups,                    \
                                            struct pp_group_range range, const struct pp_gemm *g)  \
    {                                                                                              \
        grouped_weight_grad<T>(stream, groups, &range, g);                                         \
    }                                                                                              \
    void pp_cuda_grouped_sum_rows_##name(                                                          \
        const struct pp_kernels *, void *stream, const struct pp_row_groups *groups,               \
        struct pp_group_range range, int width, const void *dy, void *dbias, bool add)             \
    {                                                                                              \
        grouped_sum_rows<T>(stream, groups, &range, width, dy, dbias, add);                        \
    }
GROUPED(fp32, float)
GROUPED(bf16, pp_bf16)
