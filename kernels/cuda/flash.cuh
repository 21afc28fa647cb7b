/* kernels/cuda/flash.cuh — what the kernels of FlashAttention-2 (Dao 2023) are made of: tiles of
 * bf16 in shared memory, and products of tiles on tensor cores.
 *
 * A tile [rows][DIM] has its 16-byte chunk c of row r at chunk c ^ (r % 8), so that the eight rows
 * that ldmatrix reads at once lie in different banks. A block has 4 warps; a warp has M * 16 rows
 * of the tile that stays, and keeps its part of the results in registers:
 *
 *   x[m][n][i]   of lane l: row m * 16 + l / 4 + 8 * (i / 2), column n * 8 + l % 4 * 2 + i % 2
 *
 * which is the accumulator of pp_mma_bf16, and, two n at a time and rounded, its operand a. So
 * probabilities never leave registers. */
#ifndef PP_KERNELS_CUDA_FLASH_CUH
#define PP_KERNELS_CUDA_FLASH_CUH

#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/mma.cuh"

namespace flash
{

typedef __nv_bfloat16 bf16;

enum { LANES = 32, WARPS = 4, THREADS = WARPS * LANES };

/* 2^x; 0 for results that are not normal. */
static __device__ __forceinline__ float exp2_of(float x)
{
#ifdef PP_CUDA_EMULATED
    const float y = exp2f(x);

    return y < 0x1p-126f ? 0.0f : y;
#else
    float y;

    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}

/* The thread in its block, read anew: what follows from it is made again where it is used, and
 * holds no register from one tile to the next. */
static __device__ __forceinline__ unsigned thread_anew()
{
#ifdef PP_CUDA_EMULATED
    return threadIdx.x;
#else
    unsigned x;

    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
    return x;
#endif
}

/* ---- tiles ----------------------------------------------------------------------------------- */

template <int DIM>
static __device__ __forceinline__ const bf16 *chunk_of(const bf16 *tile, unsigned row,
                                                       unsigned chunk)
{
    return tile + row * DIM + ((chunk ^ (row & 7)) << 3);
}

/* tile [ROWS][DIM] = from [valid][stride], zero beyond: enqueued, not waited for. All threads. */
template <int DIM, int ROWS>
static __device__ __forceinline__ void load(bf16 *tile, const bf16 *from, size_t stride, int valid)
{
    enum { CHUNKS = DIM / 8, STEP = THREADS / CHUNKS };
    const unsigned thread = thread_anew(), chunk = thread % CHUNKS, row = thread / CHUNKS;

    from += row * stride + chunk * 8;
#pragma unroll
    for (int i = 0; i < ROWS; i += STEP, from += STEP * stride)
        pp_cp_async_16((void *)chunk_of<DIM>(tile, row + i, chunk), from, (int)row + i < valid);
}

/* ---- products -------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t pack(float low, float high)
{
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);

    return *(const uint32_t *)&both;
}

/* x = rows of a . rows of b: M * 16 rows of tile a [][DIM], N * 8 rows of tile b [][DIM]. */
template <int DIM, int M, int N>
static __device__ __forceinline__ void dot(float x[M][N][4], const bf16 *a, const bf16 *b)
{
    const unsigned lane = threadIdx.x % LANES;

#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                x[m][n][i] = 0;
#pragma unroll 2
    for (int k = 0; k < DIM / 16; k++) {
        uint32_t of_a[M][4], of_b[4];
#pragma unroll
        for (int m = 0; m < M; m++)
            pp_ldmatrix_x4(of_a[m], chunk_of<DIM>(a, m * 16 + lane % 16, 2 * k + lane / 16));
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            pp_ldmatrix_x4(
                of_b, chunk_of<DIM>(b, n * 8 + lane % 8 + lane / 16 * 8, 2 * k + lane / 8 % 2));
#pragma unroll
            for (int m = 0; m < M; m++) {
                pp_mma_bf16(x[m][n], of_a[m], of_b);
                pp_mma_bf16(x[m][n + 1], of_a[m], of_b + 2);
            }
        }
    }
}

/* y += weights b: N * 8 columns of weights, as many rows of tile b [][DIM]. */
template <int DIM, int M, int N>
static __device__ __forceinline__ void mix(float y[M][DIM / 8][4], const float weights[M][N][4],
                                           const bf16 *b)
{
    const unsigned lane = threadIdx.x % LANES;
    uint32_t of_a[N / 2][M][4];

#pragma unroll
    for (int k = 0; k < N / 2; k++)
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float *w = weights[m][2 * k + i / 2] + i % 2 * 2;
                of_a[k][m][i] = pack(w[0], w[1]);
            }
#pragma unroll
    for (int n = 0; n < DIM / 8; n += 2)
#pragma unroll
        for (int k = 0; k < N / 2; k++) {
            uint32_t of_b[4];
            pp_ldmatrix_x4_trans(of_b, chunk_of<DIM>(b, k * 16 + lane % 16, n + lane / 16));
#pragma unroll
            for (int m = 0; m < M; m++) {
                pp_mma_bf16(y[m][n], of_a[k][m], of_b);
                pp_mma_bf16(y[m][n + 1], of_a[k][m], of_b + 2);
            }
        }
}

/* ---- results --------------------------------------------------------------------------------- */

/* Two neighbours of a row of a tensor. */
static __device__ __forceinline__ void store(bf16 *to, float low, float high)
{
    *(uint32_t *)to = pack(low, high);
}

static __device__ __forceinline__ void add(bf16 *to, float low, float high)
{
    const float2 old = __bfloat1622float2(*(const __nv_bfloat162 *)to);

    store(to, old.x + low, old.y + high);
}

/* The lane's part of row m * 16 + lane / 4 + 8 half goes to `to` [DIM], times factor. */
template <int DIM, bool is_added>
static __device__ __forceinline__ void store_row(bf16 *to, const float x[DIM / 8][4], int half,
                                                 float factor)
{
    bf16 *at = to + threadIdx.x % 4 * 2;

#pragma unroll
    for (int n = 0; n < DIM / 8; n++) {
        const float low = x[n][2 * half] * factor, high = x[n][2 * half + 1] * factor;
        if (is_added)
            add(at + n * 8, low, high);
        else
            store(at + n * 8, low, high);
    }
}

/* ---- keys that go by ------------------------------------------------------------------------- */

/* Tile `tile` of the keys that a tile of queries of the split sees: which split, and where. */
struct keys {
    int split, first;
};

/* Tiles of the keys of a split. */
template <int KEYS>
static __device__ __forceinline__ unsigned tiles_of_split(struct pp_attention_shape s)
{
    return ((unsigned)s.tokens + KEYS - 1) / KEYS;
}

/* Tiles of all keys that the queries of the split before `end` see. */
template <int KEYS>
static __device__ __forceinline__ int key_tiles(struct pp_attention_shape s, int end)
{
    const unsigned of_split = tiles_of_split<KEYS>(s), own = ((unsigned)end + KEYS - 1) / KEYS;

    return (int)(s.split * of_split + (own < of_split ? own : of_split));
}

template <int KEYS>
static __device__ __forceinline__ struct keys keys_of(struct pp_attention_shape s, int tile)
{
    const unsigned of_split = tiles_of_split<KEYS>(s);

    return {(int)(tile / of_split), (int)(tile % of_split * KEYS)};
}

/* Scores of keys that a query does not see become -infinity: columns behind `last`, which is of the
 * first row, and one more in each row on the diagonal. */
template <int M, int N>
static __device__ __forceinline__ void mask(float p[M][N][4], int last, bool is_diagonal)
{
    const unsigned thread = thread_anew();
    const int row = (int)(thread % LANES / 4), column = (int)(thread % 4 * 2);

#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (n * 8 + column + i % 2 > last + (is_diagonal ? m * 16 + row + i / 2 * 8 : 0))
                    p[m][n][i] = -INFINITY;
}

} // namespace flash

#endif
