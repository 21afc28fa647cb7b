/* kernels/cuda/attention_flash_backward.cu — FlashAttention-2 (Dao 2023), backward, bf16: algorithm
 * 2 there, as two kernels without atomics: gradients of queries, then of keys and values. Both make
 * the scores again (7 products of tiles in place of 5).
 *
 *                    head_dim   tile that stays   tiles that go by   registers   shared
 *   flash_queries       64        128 queries        64 keys           254         64 KiB
 *   flash_queries      128        128 queries        32 keys           246         96 KiB
 *   flash_keys          64        128 keys           64 queries        242         65 KiB
 *   flash_keys         128         64 keys           64 queries        247         97 KiB
 *
 * No spills. Tiles that causality hides are not loaded, only those on the diagonal are masked. */
#include "kernels/cuda/flash.cuh"

using namespace flash;

enum { QUERIES = 64 }; /* of a tile that goes by */

/* ---- gradients of queries -------------------------------------------------------------------- */

/* p, scores, and ds, which is dp, become probabilities and the gradients of scores: p (dp - sum),
 * with rows' lse and sums in `row`. */
template <int M, int N>
static __device__ __forceinline__ void row_gradients(float p[M][N][4], float ds[M][N][4],
                                                     const pp_attention_row row[M][2], float factor)
{
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                ds[m][n][i] = exp2_of(fmaf(p[m][n][i], factor, -row[m][i / 2].x)) *
                              (ds[m][n][i] - row[m][i / 2].y);
}

template <int DIM, int M, int KEYS>
static __global__ void __launch_bounds__(THREADS, 2)
    flash_queries(struct pp_attention_shape s, struct pp_attention_splits qkv, const bf16 *dout,
                  const pp_attention_row *rows, bf16 *dqkv)
{
    enum { N = KEYS / 8, ROWS = M * 16, TILE = WARPS * ROWS };
    PP_SHARED(bf16, shared);
    bf16 *const douts = shared + TILE * DIM, *const keys = douts + TILE * DIM;
    bf16 *const values = keys + 2 * KEYS * DIM;
    const int head = (int)blockIdx.x, kv = pp_attention_kv(s);
    const int first = (int)(gridDim.z - 1 - blockIdx.z) * TILE; /* most keys first */
    const int row = (int)(threadIdx.x / LANES) * ROWS, own = (int)(threadIdx.x % LANES / 4);
    const int tiles = key_tiles<KEYS>(s, first + TILE);
    const size_t stride = pp_attention_stride(s);
    float dqueries[M][DIM / 8][4] = {}, p[M][N][4], ds[M][N][4];
    pp_attention_row of_row[M][2];
    auto load_keys = [&](int tile) {
        const struct keys k = keys_of<KEYS>(s, tile);
        const bf16 *from = (const bf16 *)qkv.of[k.split];
        const int at = tile % 2 * KEYS * DIM, valid = s.tokens - k.first;
        load<DIM, KEYS>(keys + at, from + pp_attention_key(s, kv, k.first), stride, valid);
        load<DIM, KEYS>(values + at, from + pp_attention_value(s, kv, k.first), stride, valid);
        pp_cp_async_commit();
    };

    load<DIM, TILE>(shared, (const bf16 *)qkv.of[s.split] + pp_attention_query(s, head, first),
                    stride, s.tokens - first);
    load<DIM, TILE>(douts, dout + pp_attention_out(s, head, first), (size_t)s.heads * DIM,
                    s.tokens - first);
    load_keys(0);
    for (int m = 0; m < M; m++)
        for (int half = 0; half < 2; half++)
            of_row[m][half] =
                rows[pp_attention_row_of(s, head, first + row + m * 16 + own + half * 8)];
    for (int tile = 0; tile < tiles; tile++) {
        const struct keys k = keys_of<KEYS>(s, tile);
        const bool is_diagonal = k.split == s.split;
        const int last = (is_diagonal ? first + row : s.tokens - 1) - k.first;
        const int at = tile % 2 * KEYS * DIM;
        pp_cp_async_wait<0>();
        __syncthreads(); /* this tile is there for all, and the one before is not read any more */
        if (tile + 1 < tiles)
            load_keys(tile + 1);
        if (is_diagonal && last + ROWS - 1 < 0)
            continue; /* all hidden from this warp */
        dot<DIM, M, N>(p, shared + row * DIM, keys + at);
        if (last < KEYS - 1)
            mask<M, N>(p, last, is_diagonal);
        dot<DIM, M, N>(ds, douts + row * DIM, values + at);
        row_gradients<M, N>(p, ds, of_row, s.scale * (float)M_LOG2E);
        mix<DIM, M, N>(dqueries, ds, keys + at);
    }
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int token = first + row + m * 16 + own + half * 8;
            if (token < s.tokens)
                store_row<DIM, false>(dqkv + pp_attention_query(s, head, token), dqueries[m], half,
                                      s.scale);
        }
}

/* ---- gradients of keys and values ------------------------------------------------------------ */

/* Scores, [keys][queries], become probabilities; `rows`: of the queries, in columns. */
template <int M, int N>
static __device__ __forceinline__ void
column_probabilities(float p[M][N][4], const pp_attention_row *rows, float factor)
{
#pragma unroll
    for (int n = 0; n < N; n++) {
        const float4 two = *(const float4 *)(rows + n * 8 + threadIdx.x % 4 * 2);
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                p[m][n][i] = exp2_of(fmaf(p[m][n][i], factor, -(i % 2 ? two.z : two.x)));
    }
}

/* ds, which is dp, becomes p (dp - sum). */
template <int M, int N>
static __device__ __forceinline__ void column_gradients(const float p[M][N][4], float ds[M][N][4],
                                                        const pp_attention_row *rows)
{
#pragma unroll
    for (int n = 0; n < N; n++) {
        const float4 two = *(const float4 *)(rows + n * 8 + threadIdx.x % 4 * 2);
#pragma unroll
        for (int m = 0; m < M; m++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                ds[m][n][i] = p[m][n][i] * (ds[m][n][i] - (i % 2 ? two.w : two.y));
    }
}

/* Queries before a key do not see it: columns before `first`, which is of the first row. */
template <int M, int N>
static __device__ __forceinline__ void mask_before(float p[M][N][4], int first)
{
    const unsigned thread = thread_anew();
    const int row = (int)(thread % LANES / 4), column = (int)(thread % 4 * 2);

#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int n = 0; n < N; n++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (n * 8 + column + i % 2 < first + m * 16 + row + i / 2 * 8)
                    p[m][n][i] = -INFINITY;
}

/* Keys of split j; qkv and dqkv: of that split; queries: qkv of the queries' split. COLUMNS queries
 * of a tile are used at a time. */
template <int DIM, int M, int COLUMNS>
static __global__ void __launch_bounds__(THREADS, 2)
    flash_keys(struct pp_attention_shape s, int j, const bf16 *qkv, const bf16 *queries,
               const bf16 *dout, const pp_attention_row *rows, bf16 *dqkv)
{
    enum { N = COLUMNS / 8, ROWS = M * 16, TILE = WARPS * ROWS };
    PP_SHARED(bf16, shared);
    bf16 *const values = shared + TILE * DIM, *const of_queries = values + TILE * DIM;
    bf16 *const of_dout = of_queries + 2 * QUERIES * DIM;
    pp_attention_row *const of_rows = (pp_attention_row *)(of_dout + 2 * QUERIES * DIM);
    const int kv = (int)blockIdx.x, first = (int)blockIdx.z * TILE, group = s.heads / s.kv_heads;
    const int row = (int)(threadIdx.x / LANES) * ROWS, own = (int)(threadIdx.x % LANES / 4);
    const bool is_diagonal = j == s.split;
    const int from = is_diagonal ? first / QUERIES : 0;
    const int of_head = (s.tokens + QUERIES - 1) / QUERIES - from, tiles = group * of_head;
    const size_t stride = pp_attention_stride(s);
    float dkeys[M][DIM / 8][4] = {}, dvalues[M][DIM / 8][4] = {}, p[M][N][4], ds[M][N][4];
    auto load_queries = [&](int tile) {
        const int head = kv * group + tile / of_head, token = (from + tile % of_head) * QUERIES;
        const int at = tile % 2 * QUERIES, two = (int)threadIdx.x * 2;
        load<DIM, QUERIES>(of_queries + at * DIM, queries + pp_attention_query(s, head, token),
                           stride, s.tokens - token);
        load<DIM, QUERIES>(of_dout + at * DIM, dout + pp_attention_out(s, head, token),
                           (size_t)s.heads * DIM, s.tokens - token);
        if (two < QUERIES)
            pp_cp_async_16(of_rows + at + two, rows + pp_attention_row_of(s, head, token) + two,
                           true);
        pp_cp_async_commit();
    };

    load<DIM, TILE>(shared, qkv + pp_attention_key(s, kv, first), stride, s.tokens - first);
    load<DIM, TILE>(values, qkv + pp_attention_value(s, kv, first), stride, s.tokens - first);
    load_queries(0);
    for (int tile = 0; tile < tiles; tile++) {
        pp_cp_async_wait<0>();
        __syncthreads(); /* this tile is there for all, and the one before is not read any more */
        if (tile + 1 < tiles)
            load_queries(tile + 1);
#pragma unroll 1
        for (int at = 0; at < QUERIES; at += COLUMNS) {
            /* of the first query; of the warp's first key, seen from there */
            const int query = (from + tile % of_head) * QUERIES + at, key = first + row - query;
            const int column = tile % 2 * QUERIES + at;
            if (is_diagonal && key >= COLUMNS)
                continue; /* all hidden from this warp */
            dot<DIM, M, N>(p, shared + row * DIM, of_queries + column * DIM);
            if (is_diagonal && key + ROWS > 0)
                mask_before<M, N>(p, key);
            column_probabilities<M, N>(p, of_rows + column, s.scale * (float)M_LOG2E);
            mix<DIM, M, N>(dvalues, p, of_dout + column * DIM);
            dot<DIM, M, N>(ds, values + row * DIM, of_dout + column * DIM);
            column_gradients<M, N>(p, ds, of_rows + column);
            mix<DIM, M, N>(dkeys, ds, of_queries + column * DIM);
        }
    }
#pragma unroll
    for (int m = 0; m < M; m++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int token = first + row + m * 16 + own + half * 8;
            if (token >= s.tokens)
                continue;
            store_row<DIM, true>(dqkv + pp_attention_key(s, kv, token), dkeys[m], half, s.scale);
            store_row<DIM, true>(dqkv + pp_attention_value(s, kv, token), dvalues[m], half, 1);
        }
}

/* ---- launches -------------------------------------------------------------------------------- */

template <int DIM, int M, int KEYS>
static void gradient_of_queries(cudaStream_t stream, const struct pp_attention *a)
{
    enum { TILE = WARPS * M * 16 };
    const dim3 grid(a->heads, a->batch, pp_attention_tiles(a->tokens, TILE));
    const size_t shared = sizeof(bf16) * (2 * TILE + 4 * KEYS) * DIM;

    cudaFuncSetAttribute(flash_queries<DIM, M, KEYS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)shared);
    PP_LAUNCH((flash_queries<DIM, M, KEYS>), grid, THREADS, shared, stream,
              pp_attention_shape_of(a), pp_attention_splits_of(a), (const bf16 *)a->dout,
              (const pp_attention_row *)a->scratch, (bf16 *)a->dqkv[a->split]);
}

template <int DIM, int M, int COLUMNS>
static void gradient_of_keys(cudaStream_t stream, const struct pp_attention *a)
{
    enum { TILE = WARPS * M * 16 };
    const dim3 grid(a->kv_heads, a->batch, pp_attention_tiles(a->tokens, TILE));
    const size_t shared =
        sizeof(bf16) * (2 * TILE + 4 * QUERIES) * DIM + sizeof(pp_attention_row) * 2 * QUERIES;

    cudaFuncSetAttribute(flash_keys<DIM, M, COLUMNS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int)shared);
    for (int j = 0; j <= a->split; j++)
        PP_LAUNCH((flash_keys<DIM, M, COLUMNS>), grid, THREADS, shared, stream,
                  pp_attention_shape_of(a), j, (const bf16 *)a->qkv[j],
                  (const bf16 *)a->qkv[a->split], (const bf16 *)a->dout,
                  (const pp_attention_row *)a->scratch, (bf16 *)a->dqkv[j]);
}

void pp_attention_flash_backward(cudaStream_t stream, const struct pp_attention *a)
{
    if (a->head_dim == 64) {
        gradient_of_queries<64, 2, 64>(stream, a);
        gradient_of_keys<64, 2, 32>(stream, a);
    } else {
        gradient_of_queries<128, 2, 32>(stream, a);
        gradient_of_keys<128, 1, 64>(stream, a);
    }
}
