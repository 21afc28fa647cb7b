/* kernels/cuda/gemm/grouped.cuh — products of the rows of each expert. Bounds of rows are in the
 * memory of the device, so a grid has blocks for all rows that there can be. */
#pragma once

#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/device/vector.cuh"
#include "kernels/kernels.h"

#include <cuda_runtime_api.h>

/* grouped_gemm, or grouped_weight_grad of a range. */
struct pp_cuda_grouped {
    struct pp_row_groups groups;
    struct pp_group_range range;
    struct pp_gemm g;
};

/* grouped_mma.cu, by tensor cores: bf16, if pointers and leading dimensions are multiples of 16
 * bytes. The order of additions depends on shapes alone. */
void pp_cuda_grouped_mma(cudaStream_t stream, const struct pp_cuda_grouped *w);

/* ---- rows ------------------------------------------------------------------------------------ */

/* Rows from .. until - 1 of a tensor in rows; expert -1: they are not in use. */
struct pp_tile_rows {
    int expert, from, until;
};

/* Rows of group i: sender by sender, then by expert. */
static __device__ __forceinline__ int pp_group_rows(const struct pp_row_groups &g, int i)
{
    const int32_t *const begin = g.begin + i / g.experts * g.stride + i % g.experts;

    return begin[1] - begin[0];
}

/* Rows of an expert of the range. All threads of the block call it. */
static __device__ __forceinline__ pp_tile_rows pp_rows_of(const struct pp_row_groups &g,
                                                          const struct pp_group_range &range, int i)
{
    const int end = range.sender * g.experts + range.from + i;
    int rows = 0;

    for (int first = 0; first < end; first += 32) {
        const int before = first + (int)threadIdx.x % 32;
        rows += pp_warp_sum(before < end ? pp_group_rows(g, before) : 0);
    }
    return {range.from + i, rows, rows + pp_group_rows(g, end)};
}

/* Tiles of up to `most` rows. Those of a group come first, then those of the next. After the last
 * group come rows that are not in use, then tiles without rows. All threads of the block call it.
 */
static __device__ __forceinline__ pp_tile_rows pp_tile_of(const struct pp_row_groups &g, int tile,
                                                          int most)
{
    const int groups = g.senders * g.experts;
    int rows = 0;

    for (int first = 0; first < groups; first += 32) {
        const int i = first + (int)threadIdx.x % 32;
        const int own = i < groups ? pp_group_rows(g, i) : 0, tiles = (own + most - 1) / most;
        const int rows_end = pp_warp_sum_so_far(own), tiles_end = pp_warp_sum_so_far(tiles);
        const int number = tile - (tiles_end - tiles);
        const unsigned found = __ballot_sync(0xffffffffu, number >= 0 && number < tiles);
        if (found) {
            const int lane = __ffs((int)found) - 1;
            const int begin = rows + rows_end - own + number * most;
            const int from = __shfl_sync(0xffffffffu, begin, lane);
            const int end = __shfl_sync(0xffffffffu, rows + rows_end, lane);
            return {(first + lane) % g.experts, from, min(end, from + most)};
        }
        rows += __shfl_sync(0xffffffffu, rows_end, 31);
        tile -= __shfl_sync(0xffffffffu, tiles_end, 31);
    }
    return {-1, min(rows + tile * most, g.rows), min(rows + (tile + 1) * most, g.rows)};
}

/* For launchers: a block for each tile that there can be, with `rows` and `columns` of c. */
static inline dim3 pp_grouped_grid(const struct pp_cuda_grouped *w, int rows, int columns)
{
    const struct pp_row_groups *g = &w->groups;
    const unsigned across = (unsigned)((w->g.n + columns - 1) / columns);

    if (w->g.a_transposed)
        return dim3((unsigned)((w->g.m + rows - 1) / rows), across,
                    (unsigned)(w->range.until - w->range.from));
    return dim3((unsigned)((g->rows + rows - 1) / rows + g->senders * g->experts), across, 1);
}

/* ---- the product of a block ------------------------------------------------------------------ */

/* c = base + op(a) op(b) + bias; a block computes rows from `row` and columns from `column` on. */
template <class T, class C> struct pp_block_product {
    const T *a, *b, *bias;
    const C *base;
    C *c;
    int m, n, k, lda, ldb, ldc, row, column;
};

/* Returns false if the block has nothing to do; it clears rows that are not in use. */
template <class T, class C, bool IS_GRADIENT>
static __device__ __forceinline__ bool pp_find_product(const struct pp_cuda_grouped &w, int rows,
                                                       int columns, pp_block_product<T, C> &p)
{
    const struct pp_gemm &g = w.g;
    const pp_tile_rows in = IS_GRADIENT ? pp_rows_of(w.groups, w.range, (int)blockIdx.z)
                                        : pp_tile_of(w.groups, (int)blockIdx.x, rows);
    const int64_t from = in.from, expert = in.expert, number = blockIdx.z;
    const int64_t matrix = (int64_t)(g.b_transposed ? g.n : g.k) * g.ldb;
    const int64_t at = IS_GRADIENT ? number * g.m * g.ldc : from * g.ldc;

    p = {(const T *)g.a + from * g.lda,
         (const T *)g.b + (IS_GRADIENT ? from * g.ldb : expert * matrix),
         g.bias ? (const T *)g.bias + expert * g.n : NULL,
         g.base ? (const C *)g.base + at : NULL,
         (C *)g.c + at,
         IS_GRADIENT ? g.m : in.until - in.from,
         g.n,
         IS_GRADIENT ? in.until - in.from : g.k,
         g.lda,
         g.ldb,
         g.ldc,
         IS_GRADIENT ? (int)blockIdx.x * rows : 0,
         (int)blockIdx.y * columns};
    if (in.expert >= 0)
        return p.m > 0;
    for (int i = (int)threadIdx.x; i < p.m * columns; i += (int)blockDim.x)
        if (p.column + i % columns < p.n)
            pp_store(p.c + (int64_t)(i / columns) * p.ldc + p.column + i % columns, 0.0f);
    return false;
}

/* Stores N neighbours of op(a) op(b) that are within c. */
template <int N, class T, class C>
static __device__ __forceinline__ void pp_finish_product(const pp_block_product<T, C> &p, int row,
                                                         int column, pp_floats<N> x)
{
    const int64_t at = (int64_t)row * p.ldc + column;

    if (row >= p.m || column >= p.n)
        return;
    if (p.base)
        pp_add(x, pp_load<N>(p.base + at));
    if (p.bias)
        pp_add(x, pp_load<N>(p.bias + column));
    pp_save(p.c + at, x);
}
