/* kernels/cuda/attention/flash.cu — FlashAttention-2 (Dao 2023), algorithm 1: forward, bf16.
 *
 * A block has 128 queries of a head, and each warp 32 of them. It walks over tiles of 64 keys and
 * values, and loads the next tile while it uses one. Hidden tiles are not loaded; only tiles on the
 * diagonal or at the begin of a window are masked. Softmax uses powers of 2. The scale of scores is
 * part of the exponent's factor.
 *
 *   head_dim 64: 212 registers, 48 KiB shared. 128: 255 registers, 96 KiB. No spills.
 *   With a window 128 has tiles of 32 keys: 247 registers, 64 KiB.
 *
 * Two blocks of four warps share a multiprocessor, and two warps a scheduler. For an unmasked tile
 * a warp issues about 670 instructions at head_dim 64, and 890 at 128 (SASS for sm_90). Of these,
 * 128 and 256 are products. At the rate of mma.sync, tensor cores need 830 and 1,650 cycles for
 * them. So products are the limit, not the issue of instructions. */
#include "kernels/cuda/attention/flash.cuh"

using namespace flash;

enum { M = 2, ROWS = M * 16, QUERIES = WARPS * ROWS };
enum { SLACK = 8 }; /* a power of 2 far below the limits of float and bf16 */

/* Softmax of a lane's rows, [m][half]; `sum` is of the lane's columns only. */
struct softmax {
    float max[M][2], sum[M][2];
};

/* The largest of x and the row's scores: 4 lanes have a row. */
template <int N>
static __device__ __forceinline__ float row_max(float x, const float p[N][4], int half)
{
#pragma unroll
    for (int n = 0; n < N; n++)
        x = fmaxf(x, fmaxf(p[n][2 * half], p[n][2 * half + 1]));
    x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

/* Replaces scores by 2^(factor (score - max)). Sums follow a new max only if a row of the warp
 * would otherwise exceed SLACK. Results differ in rounding only, and rescaling is rare. */
template <int DIM, int N>
static __device__ __forceinline__ void exponentials(float p[M][N][4], float out[M][DIM / 8][4],
                                                    struct softmax *x, float factor)
{
    bool is_beyond = false;
    float max[M][2];

    each_row<M>([&](int m, int half, int) {
        max[m][half] = row_max<N>(x->max[m][half], p[m], half);
        is_beyond = is_beyond || (max[m][half] - x->max[m][half]) * factor > SLACK;
    });
    if (__any_sync(0xffffffffu, is_beyond))
        each_row<M>([&](int m, int half, int) {
            const float shrink = exp2_of((x->max[m][half] - max[m][half]) * factor);
            x->max[m][half] = max[m][half];
            x->sum[m][half] *= shrink;
#pragma unroll
            for (int n = 0; n < DIM / 8; n++) {
                out[m][n][2 * half] *= shrink;
                out[m][n][2 * half + 1] *= shrink;
            }
        });
    each_element<M, N>([&](int m, int n, int i) {
        p[m][n][i] = exp2_of(fmaf(p[m][n][i], factor, -x->max[m][i / 2] * factor));
        x->sum[m][i / 2] += p[m][n][i];
    });
}

/* Writes out and lse of the lane's rows, of which the warp has `valid`. */
template <int DIM>
static __device__ __forceinline__ void finish(bf16 *out, size_t stride, float *lse, int valid,
                                              const float mixed[M][DIM / 8][4],
                                              const struct softmax *x, float scale, int width)
{
    each_row<M>([&](int m, int half, int row) {
        float sum = x->sum[m][half];
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        sum += __shfl_xor_sync(0xffffffffu, sum, 2);
        if (row >= valid)
            return;
        store_row<DIM>(out + row * stride, mixed[m], half, 1 / sum, width, false);
        if (threadIdx.x % 4 == 0)
            lse[row] = x->max[m][half] * scale + logf(sum);
    });
}

template <int DIM, int KEYS, bool HAS_WINDOW>
static __global__ void __launch_bounds__(THREADS, 2)
    flash_forward(struct pp_attention_shape s, struct pp_attention_splits qkv, bf16 *out,
                  float *lse)
{
    enum { N = KEYS / 8 };
    PP_SHARED(bf16, shared);
    bf16 *const keys = shared + QUERIES * DIM, *const values = keys + 2 * KEYS * DIM;
    const int head = (int)blockIdx.x, kv = pp_attention_kv(s);
    const int first = (int)(gridDim.z - 1 - blockIdx.z) * QUERIES; /* most keys first */
    const int row = (int)(threadIdx.x / LANES) * ROWS;             /* first row of the warp */
    const struct key_tiles tiles = key_tiles<KEYS, HAS_WINDOW>(s, first, first + QUERIES);
    const size_t stride = pp_attention_stride(s);
    float mixed[M][DIM / 8][4] = {}, p[M][N][4];
    struct softmax x = {
        {{PP_ATTENTION_LOWEST, PP_ATTENTION_LOWEST}, {PP_ATTENTION_LOWEST, PP_ATTENTION_LOWEST}},
        {}};
    struct keys k = tiles.first, next = k;
    auto load_next = [&](int tile) {
        const bf16 *from = (const bf16 *)qkv.of[next.split];
        const int at = tile % 2 * KEYS * DIM;
        load<DIM, KEYS>(keys + at, from + pp_attention_key(s, kv, next.first), stride,
                        s.tokens - next.first, s.head_dim);
        load<DIM, KEYS>(values + at, from + pp_attention_value(s, kv, next.first), stride,
                        s.tokens - next.first, s.head_dim);
        pp_cp_async_commit();
    };

    load<DIM, QUERIES>(shared, (const bf16 *)qkv.of[s.split] + pp_attention_query(s, head, first),
                       stride, s.tokens - first, s.head_dim);
    load_next(0);
    for (int tile = 0; tile < tiles.count; tile++, k = next) {
        const bool is_diagonal = k.split == s.diagonal;
        const int last = (is_diagonal ? first + row : s.tokens - 1) - k.first;
        const int low = HAS_WINDOW ? pp_attention_first_key(s, k.split, first + row) - k.first : 0;
        pp_cp_async_wait<0>();
        __syncthreads(); /* all threads have this tile and have read the previous one */
        next = keys_after<KEYS>(s, k);
        if (tile + 1 < tiles.count)
            load_next(tile + 1);
        if ((is_diagonal && last + ROWS - 1 < 0) || (HAS_WINDOW && low >= KEYS))
            continue; /* all are hidden from this warp */
        dot<DIM, M, N>(p, shared + row * DIM, keys + tile % 2 * KEYS * DIM);
        if (last < KEYS - 1)
            mask<M, N>(p, [&](int r, int c) { return c > last + (is_diagonal ? r : 0); });
        if (HAS_WINDOW && low + ROWS - 1 > 0)
            mask<M, N>(p, [&](int r, int c) { return c < low + r; });
        exponentials<DIM, N>(p, mixed, &x, s.scale * (float)M_LOG2E);
        mix<DIM, M, N>(mixed, p, values + tile % 2 * KEYS * DIM);
    }
    finish<DIM>(out + pp_attention_out(s, head, first + row), (size_t)s.heads * s.head_dim,
                lse + pp_attention_lse(s, head, first + row), s.tokens - first - row, mixed, &x,
                s.scale, s.head_dim);
}

template <int DIM, int KEYS, bool HAS_WINDOW>
static void forward(cudaStream_t stream, const struct pp_attention *a)
{
    const struct pp_attention_shape s = pp_attention_shape_of(a);
    const dim3 grid(a->heads, a->batch, pp_attention_tiles(a->tokens, QUERIES));
    constexpr size_t shared = sizeof(bf16) * (QUERIES + 4 * KEYS) * DIM;
    static_assert(shared <= PP_ATTENTION_SHARED_BYTES, "runs on every device");

    PP_LAUNCH_SHARED((flash_forward<DIM, KEYS, HAS_WINDOW>), shared, grid, THREADS, shared, stream,
                     s, pp_attention_splits_of(a), (bf16 *)a->out, (float *)a->lse);
}

void pp_attention_flash_forward(cudaStream_t stream, const struct pp_attention *a)
{
    if (a->head_dim <= 64)
        (a->window > 0 ? forward<64, 64, true> : forward<64, 64, false>)(stream, a);
    else
        (a->window > 0 ? forward<128, 32, true> : forward<128, 64, false>)(stream, a);
}
