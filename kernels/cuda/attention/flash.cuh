/* kernels/cuda/attention/flash.cuh — parts of the FlashAttention-2 kernels (Dao 2023): tiles of
 * bf16 in shared memory, and products of tiles on tensor cores.
 *
 * DIM is 64 or 128. Heads with fewer elements, a multiple of 8, are padded with zeros.
 *
 * A tile [rows][DIM] begins at a multiple of the bytes of a row. The 16-byte chunk c of row r is
 * stored at chunk c ^ (r % 8). So the eight rows that ldmatrix reads at once lie in different
 * banks. A lane finds its chunks by flipping bits of its first address, and rows in steps of 8 are
 * at constant distances. So one address operation serves many reads. A block has 4 warps. A warp
 * has M * 16 rows of the resident tile, and keeps its part of the results in registers:
 *
 *   x[m][n][i]   of lane l: row m * 16 + l / 4 + 8 * (i / 2), column n * 8 + l % 4 * 2 + i % 2
 *
 * This is the accumulator of pp_mma_bf16. Two n at a time and rounded, it is also operand a. So
 * probabilities never leave registers. */
#pragma once

#include "kernels/cuda/attention/attention.cuh"
#include "kernels/cuda/device/mma.cuh"

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

/* The thread in its block, read again: values derived from it are recomputed and free registers. */
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

/* tile [ROWS][DIM] = the first `width` elements of rows of from [valid][stride], zero beyond.
 * Enqueues only; all threads call it. */
template <int DIM, int ROWS>
static __device__ __forceinline__ void load(bf16 *tile, const bf16 *from, size_t stride, int valid,
                                            int width)
{
    enum { CHUNKS = DIM / 8, STEP = THREADS / CHUNKS };
    const unsigned thread = thread_anew(), chunk = thread % CHUNKS, row = thread / CHUNKS;

    if (chunk * 8 >= (unsigned)width)
        valid = 0;
    from += row * stride + chunk * 8;
#pragma unroll
    for (int i = 0; i < ROWS; i += STEP, from += STEP * stride)
        pp_cp_async_16((void *)chunk_of<DIM>(tile, row + i, chunk), from, (int)row + i < valid);
}

/* ---- elements of results of a lane ----------------------------------------------------------- */

/* Calls visit(m, n, i) for x[m][n][i], by columns. */
template <int M, int N, class V> static __device__ __forceinline__ void each_element(V visit)
{
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                visit(m, n, i);
}

/* Calls visit(m, half, row) for the rows: elements 2 half and 2 half + 1 of all x[m][n]. */
template <int M, class V> static __device__ __forceinline__ void each_row(V visit)
{
    const int row = (int)(thread_anew() % LANES / 4);

#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++)
            visit(m, half, m * 16 + half * 8 + row);
}

/* Sets scores with is_hidden(row, column) to -infinity. */
template <int M, int N, class V>
static __device__ __forceinline__ void mask(float p[M][N][4], V is_hidden)
{
    const unsigned thread = thread_anew();
    const int row = (int)(thread % LANES / 4), column = (int)(thread % 4 * 2);

    each_element<M, N>([&](int m, int n, int i) {
        if (is_hidden(m * 16 + i / 2 * 8 + row, n * 8 + i % 2 + column))
            p[m][n][i] = -INFINITY;
    });
}

/* ---- products -------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t pack(float low, float high)
{
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);

    return *(const uint32_t *)&both;
}

/* Address of a chunk, and of one `chunks` further, a multiple of a power of two above `chunk`. */
template <int DIM>
static __device__ __forceinline__ pp_shared_at address_of(const bf16 *tile, unsigned row,
                                                          unsigned chunk)
{
    return pp_shared_address(chunk_of<DIM>(tile, row, chunk));
}

static __device__ __forceinline__ pp_shared_at turn(pp_shared_at address, int chunks)
{
    return address ^ (pp_shared_at)(chunks * 16);
}

/* x = a b': M * 16 rows of tile a [][DIM], N * 8 rows of tile b [][DIM]. */
template <int DIM, int M, int N>
static __device__ __forceinline__ void dot(float x[M][N][4], const bf16 *a, const bf16 *b)
{
    enum { ROW_BYTES = 2 * DIM };
    const unsigned lane = threadIdx.x % LANES;
    const pp_shared_at at_a = address_of<DIM>(a, lane % 16, lane / 16);
    const pp_shared_at at_b = address_of<DIM>(b, lane % 8 + lane / 16 * 8, lane / 8 % 2);

#pragma unroll
    for (int k = 0; k < DIM / 16; k++) {
        uint32_t of_a[M][4], of_b[4];
#pragma unroll
        for (int m = 0; m < M; m++)
            pp_ldmatrix_x4(of_a[m], turn(at_a, 2 * k) + m * 16 * ROW_BYTES);
#pragma unroll
        for (int n = 0; n < N; n += 2) {
            pp_ldmatrix_x4(of_b, turn(at_b, 2 * k) + n * 8 * ROW_BYTES);
#pragma unroll
            for (int m = 0; m < M; m++)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    if (k == 0)
                        pp_mma_bf16_first(x[m][n + i], of_a[m], of_b + 2 * i);
                    else
                        pp_mma_bf16(x[m][n + i], of_a[m], of_b + 2 * i);
        }
    }
}

/* y += weights b: N * 8 columns of weights, as many rows of tile b [][DIM]. */
template <int DIM, int M, int N>
static __device__ __forceinline__ void mix(float y[M][DIM / 8][4], const float weights[M][N][4],
                                           const bf16 *b)
{
    enum { ROW_BYTES = 2 * DIM };
    const unsigned lane = threadIdx.x % LANES;
    const pp_shared_at at_b = address_of<DIM>(b, lane % 16, lane / 16);
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
            pp_ldmatrix_x4_trans(of_b, turn(at_b, n) + k * 16 * ROW_BYTES);
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

/* Writes or adds the lane's part of row m * 16 + lane / 4 + 8 half to `to` [width], times factor.
 */
template <int DIM>
static __device__ __forceinline__ void store_row(bf16 *to, const float x[DIM / 8][4], int half,
                                                 float factor, int width, bool is_added)
{
    bf16 *at = to + threadIdx.x % 4 * 2;

#pragma unroll
    for (int n = 0; n < DIM / 8; n++) {
        const float low = x[n][2 * half] * factor, high = x[n][2 * half + 1] * factor;
        if (n * 8 >= width)
            break;
        if (is_added)
            add(at + n * 8, low, high);
        else
            store(at + n * 8, low, high);
    }
}

/* ---- tiles of keys in the loop --------------------------------------------------------------- */

/* A tile of keys: its split, and its first key there. */
struct keys {
    int split, first;
};

/* Tiles that the queries first .. end - 1 of the split meet: the first one, and their number. */
struct key_tiles {
    struct keys first;
    int count;
};
template <int KEYS, bool HAS_WINDOW>
static __device__ __forceinline__ struct key_tiles key_tiles(struct pp_attention_shape s, int first,
                                                             int end)
{
    const unsigned of_split = ((unsigned)s.tokens + KEYS - 1) / KEYS;
    const unsigned own = ((unsigned)end + KEYS - 1) / KEYS;
    const int count =
        (int)(s.split * of_split + (s.diagonal == s.split && own < of_split ? own : of_split));
    const int key = pp_attention_first_key(s, 0, first), split = key / s.tokens,
              tile = key % s.tokens / KEYS;

    if (!HAS_WINDOW || key <= 0)
        return {{0, 0}, count};
    return {{split, tile * KEYS}, count - split * (int)of_split - tile};
}

template <int KEYS>
static __device__ __forceinline__ struct keys keys_after(struct pp_attention_shape s, struct keys k)
{
    const int first = k.first + KEYS;

    return first < s.tokens ? keys{k.split, first} : keys{k.split + 1, 0};
}

} // namespace flash
