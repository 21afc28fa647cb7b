/* Products of the rows of each expert by tensor cores. A block has a tile of c, and fetches the
 * next slices of k while it multiplies one. */
#include "kernels/cuda/device/mma.cuh"
#include "kernels/cuda/device/shared.cuh"
#include "kernels/cuda/gemm/grouped.cuh"

namespace
{
/* Warps are 2 x 4, each with 64 x 32 of c. Rows of shared memory are 16 bytes longer than a slice,
 * so that eight of them are in different banks. */
enum { TILE = 128, DEPTH = 32, STAGES = 3, THREADS = 256, UNIT = 8, PAD = 8 };
enum {
    ROWS = 64,
    COLUMNS = 32,
    ACROSS = TILE / COLUMNS,
    A_TILES = ROWS / 16,
    B_TILES = COLUMNS / 16
};

/* A slice of op(a) or op(b): TILE rows or columns, DEPTH of k. BY_K: a row of memory is one of k.
 */
template <bool BY_K> struct slice {
    enum {
        WIDTH = BY_K ? TILE : DEPTH,
        HEIGHT = BY_K ? DEPTH : TILE,
        PITCH = WIDTH + PAD,
        ELEMENTS = HEIGHT * PITCH
    };

    /* Zeros beyond `rows` and `k`. */
    static __device__ __forceinline__ void fetch(pp_bf16 *to, const pp_bf16 *from, int ld, int row,
                                                 int rows, int start, int k)
    {
#pragma unroll
        for (int i = (int)threadIdx.x; i < HEIGHT * WIDTH / UNIT; i += THREADS) {
            const int y = i / (WIDTH / UNIT), x = i % (WIDTH / UNIT) * UNIT;
            const int at_row = row + (BY_K ? x : y), at_k = start + (BY_K ? y : x);
            const bool is_inside = at_row < rows && at_k < k;
            const int64_t at = BY_K ? (int64_t)at_k * ld + at_row : (int64_t)at_row * ld + at_k;

            pp_cp_async_16(to + y * PITCH + x, is_inside ? from + at : from, is_inside);
        }
    }

    /* Fragments of 16 rows from `row` and 16 of k from `at_k`. For a, the second one has more rows;
     * for b, more of k: it is the other half of the first one's. */
    static __device__ __forceinline__ void load(uint32_t r[4], const pp_bf16 *from, int row,
                                                int at_k, bool is_b)
    {
        const int lane = (int)threadIdx.x % 32, low = lane / 8 % 2 * 8, high = lane / 16 * 8;
        const int more_rows = is_b ? high : low, more_k = is_b ? low : high;

        if (BY_K)
            pp_ldmatrix_x4_trans(
                r, pp_shared_address(from + (at_k + lane % 8 + more_k) * PITCH + row + more_rows));
        else
            pp_ldmatrix_x4(
                r, pp_shared_address(from + (row + lane % 8 + more_rows) * PITCH + at_k + more_k));
    }
};

template <bool A_BY_K, bool B_BY_K>
__device__ __forceinline__ void multiply_slice(float (&sums)[A_TILES][2 * B_TILES][4],
                                               const pp_bf16 *a, const pp_bf16 *b, int row,
                                               int column)
{
#pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
        uint32_t of_a[A_TILES][4], of_b[B_TILES][4];
#pragma unroll
        for (int i = 0; i < A_TILES; i++)
            slice<A_BY_K>::load(of_a[i], a, row + 16 * i, k, false);
#pragma unroll
        for (int j = 0; j < B_TILES; j++)
            slice<B_BY_K>::load(of_b[j], b, column + 16 * j, k, true);
#pragma unroll
        for (int i = 0; i < A_TILES; i++)
#pragma unroll
            for (int j = 0; j < 2 * B_TILES; j++)
                pp_mma_bf16(sums[i][j], of_a[i], &of_b[j / 2][j % 2 * 2]);
    }
}

template <class C, bool A_BY_K, bool B_BY_K>
__global__ __launch_bounds__(THREADS) void mma_kernel(const struct pp_cuda_grouped w)
{
    enum { OF_A = slice<A_BY_K>::ELEMENTS, STAGE = OF_A + slice<B_BY_K>::ELEMENTS };
    PP_SHARED(pp_bf16, shared);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int row = warp / ACROSS * ROWS, column = warp % ACROSS * COLUMNS;
    pp_block_product<pp_bf16, C> p;
    float sums[A_TILES][2 * B_TILES][4] = {};

    if (!pp_find_product<pp_bf16, C, A_BY_K>(w, TILE, TILE, p))
        return;
    const int slices = (p.k + DEPTH - 1) / DEPTH;
    for (int s = 0; s < slices + STAGES - 1; s++) {
        pp_bf16 *const to = shared + s % STAGES * STAGE;
        if (s < slices) {
            slice<A_BY_K>::fetch(to, p.a, p.lda, p.row, p.m, s * DEPTH, p.k);
            slice<B_BY_K>::fetch(to + OF_A, p.b, p.ldb, p.column, p.n, s * DEPTH, p.k);
        }
        pp_cp_async_commit();
        if (s < STAGES - 1)
            continue;
        pp_cp_async_wait<STAGES - 1>();
        __syncthreads();
        const pp_bf16 *const from = shared + (s - STAGES + 1) % STAGES * STAGE;
        multiply_slice<A_BY_K, B_BY_K>(sums, from, from + OF_A, row, column);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < A_TILES; i++)
#pragma unroll
        for (int j = 0; j < 2 * B_TILES; j++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                pp_finish_product<2>(
                    p, p.row + row + 16 * i + 8 * half + lane / 4,
                    p.column + column + 8 * j + lane % 4 * 2,
                    pp_floats<2>{{sums[i][j][2 * half], sums[i][j][2 * half + 1]}});
}

template <class C, bool A_BY_K, bool B_BY_K>
void launch(cudaStream_t stream, const struct pp_cuda_grouped *w)
{
    const size_t bytes =
        sizeof(pp_bf16) * STAGES * (slice<A_BY_K>::ELEMENTS + slice<B_BY_K>::ELEMENTS);

    PP_LAUNCH_SHARED((mma_kernel<C, A_BY_K, B_BY_K>), bytes, pp_grouped_grid(w, TILE, TILE),
                     THREADS, bytes, stream, *w);
}
} // namespace

void pp_cuda_grouped_mma(cudaStream_t stream, const struct pp_cuda_grouped *w)
{
    if (w->g.a_transposed)
        launch<float, true, true>(stream, w);
    else if (w->g.b_transposed)
        launch<pp_bf16, false, false>(stream, w);
    else
        launch<pp_bf16, false, true>(stream, w);
}
