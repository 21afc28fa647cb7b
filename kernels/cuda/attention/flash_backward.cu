/* kernels/cuda/attention/flash_backward.cu — FlashAttention-2 (Dao 2023), backward, bf16.
 *
 * Algorithm 2, as two kernels without atomics: gradients of queries, then of keys and values. Both
 * recompute the scores. This takes 7 products of tiles in place of 5, and all exponentials twice.
 * 5 products in a fixed order are possible in two ways. One has a float copy of dqueries for each
 * tile of keys. At head_dim 64 this is 64 KiB of traffic for a pair of tiles of 128, half the time
 * of its products on an H200. In the other blocks wait for each other; it hangs if some cannot run.
 *
 *                    head_dim   resident tile   tiles in the loop   registers   shared
 *   flash_queries       64       128 queries         64 keys           255       64 KiB
 *   flash_queries      128       128 queries         32 keys           252       96 KiB
 *   flash_keys          64       128 keys            64 queries        246       65 KiB
 *   flash_keys         128        64 keys            64 queries        246       97 KiB
 *
 * No spills, nor with a window. Hidden tiles are not loaded; only tiles on the diagonal or at an
 * end of a window are masked. */
#include "kernels/cuda/attention/flash.cuh"

using namespace flash;

enum { QUERIES = 64 }; /* queries of a tile in the loop */

/* ---- gradients of queries -------------------------------------------------------------------- */

/* ds, which is dp, becomes p (dp - sum), with p from scores and `row` (lse, sum) of the rows. */
template <int M, int N>
static __device__ __forceinline__ void row_gradients(float p[M][N][4], float ds[M][N][4],
                                                     const pp_attention_row row[M][2], float factor)
{
    each_element<M, N>([&](int m, int n, int i) {
        ds[m][n][i] =
            exp2_of(fmaf(p[m][n][i], factor, -row[m][i / 2].x)) * (ds[m][n][i] - row[m][i / 2].y);
    });
}

template <int DIM, int M, int KEYS, bool HAS_WINDOW>
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
    const int row = (int)(threadIdx.x / LANES) * ROWS;
    const struct key_tiles tiles = key_tiles<KEYS, HAS_WINDOW>(s, first, first + TILE);
    const size_t stride = pp_attention_stride(s);
    float dqueries[M][DIM / 8][4] = {}, p[M][N][4], ds[M][N][4];
    pp_attention_row of_row[M][2];
    struct keys k = tiles.first, next = k;
    auto load_next = [&](int tile) {
        const bf16 *from = (const bf16 *)qkv.of[next.split];
        const int at = tile % 2 * KEYS * DIM, valid = s.tokens - next.first;
        load<DIM, KEYS>(keys + at, from + pp_attention_key(s, kv, next.first), stride, valid,
                        s.head_dim);
        load<DIM, KEYS>(values + at, from + pp_attention_value(s, kv, next.first), stride, valid,
                        s.head_dim);
        pp_cp_async_commit();
    };

    load<DIM, TILE>(shared, (const bf16 *)qkv.of[s.split] + pp_attention_query(s, head, first),
                    stride, s.tokens - first, s.head_dim);
    load<DIM, TILE>(douts, dout + pp_attention_out(s, head, first), (size_t)s.heads * s.head_dim,
                    s.tokens - first, s.head_dim);
    load_next(0);
    each_row<M>([&](int m, int half, int r) {
        of_row[m][half] = rows[pp_attention_row_of(s, head, first + row + r)];
    });
    for (int tile = 0; tile < tiles.count; tile++, k = next) {
        const bool is_diagonal = k.split == s.diagonal;
        const int last = (is_diagonal ? first + row : s.tokens - 1) - k.first;
        const int low = HAS_WINDOW ? pp_attention_first_key(s, k.split, first + row) - k.first : 0;
        const int at = tile % 2 * KEYS * DIM;
        pp_cp_async_wait<0>();
        __syncthreads(); /* all threads have this tile and have read the previous one */
        next = keys_after<KEYS>(s, k);
        if (tile + 1 < tiles.count)
            load_next(tile + 1);
        if ((is_diagonal && last + ROWS - 1 < 0) || (HAS_WINDOW && low >= KEYS))
            continue; /* all are hidden from this warp */
        dot<DIM, M, N>(p, shared + row * DIM, keys + at);
        if (last < KEYS - 1)
            mask<M, N>(p, [&](int r, int c) { return c > last + (is_diagonal ? r : 0); });
        if (HAS_WINDOW && low + ROWS - 1 > 0)
            mask<M, N>(p, [&](int r, int c) { return c < low + r; });
        dot<DIM, M, N>(ds, douts + row * DIM, values + at);
        row_gradients<M, N>(p, ds, of_row, s.scale * (float)M_LOG2E);
        mix<DIM, M, N>(dqueries, ds, keys + at);
    }
    each_row<M>([&](int m, int half, int r) {
        const int token = first + row + r;
        if (token < s.tokens)
            store_row<DIM>(dqkv + pp_attention_query(s, head, token), dqueries[m], half, s.scale,
                           s.head_dim, false);
    });
}

/* ---- gradients of keys and values ------------------------------------------------------------ */

/* lse (x) and sum (y) of the query of an element, from `rows` of the queries, in columns. */
static __device__ __forceinline__ pp_attention_row row_of_column(const pp_attention_row *rows,
                                                                 int n, int i)
{
    const float4 two = *(const float4 *)(rows + n * 8 + threadIdx.x % 4 * 2);

    return i % 2 ? make_float2(two.z, two.w) : make_float2(two.x, two.y);
}

/* Keys of split j. qkv and dqkv belong to that split, `queries` is qkv of the queries' split.
 * COLUMNS queries of a tile are used at a time. */
template <int DIM, int M, int COLUMNS, bool HAS_WINDOW>
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
    const int row = (int)(threadIdx.x / LANES) * ROWS;
    const bool is_diagonal = j == s.diagonal;
    const int from = is_diagonal ? first / QUERIES : 0;
    const int end =
        HAS_WINDOW ? min(s.tokens, pp_attention_last_query(s, j, first + TILE)) : s.tokens;
    const int tiles = group * max(0, pp_attention_tiles(end, QUERIES) - from);
    const size_t stride = pp_attention_stride(s);
    float dkeys[M][DIM / 8][4] = {}, dvalues[M][DIM / 8][4] = {}, p[M][N][4], ds[M][N][4];
    int head = kv * group, token = from * QUERIES, next = token; /* head: of the next tile */
    auto load_next = [&](int tile) {
        const int at = tile % 2 * QUERIES, two = (int)threadIdx.x * 2;
        load<DIM, QUERIES>(of_queries + at * DIM, queries + pp_attention_query(s, head, next),
                           stride, s.tokens - next, s.head_dim);
        load<DIM, QUERIES>(of_dout + at * DIM, dout + pp_attention_out(s, head, next),
                           (size_t)s.heads * s.head_dim, s.tokens - next, s.head_dim);
        if (two < QUERIES)
            pp_cp_async_16(of_rows + at + two, rows + pp_attention_row_of(s, head, next) + two,
                           true);
        pp_cp_async_commit();
    };

    load<DIM, TILE>(shared, qkv + pp_attention_key(s, kv, first), stride, s.tokens - first,
                    s.head_dim);
    load<DIM, TILE>(values, qkv + pp_attention_value(s, kv, first), stride, s.tokens - first,
                    s.head_dim);
    load_next(0);
    for (int tile = 0; tile < tiles; tile++, token = next) {
        pp_cp_async_wait<0>();
        __syncthreads(); /* all threads have this tile and have read the previous one */
        next = token + QUERIES;
        if (next >= end) {
            next = from * QUERIES;
            head++;
        }
        if (tile + 1 < tiles)
            load_next(tile + 1);
#pragma unroll 1
        for (int at = 0; at < QUERIES; at += COLUMNS) {
            /* the warp's first key relative to the first query */
            const int key = first + row - token - at;
            const int column = tile % 2 * QUERIES + at;
            /* the last query that meets it, likewise */
            const int last = HAS_WINDOW ? pp_attention_last_query(s, j, key) : 0;
            if ((is_diagonal && key >= COLUMNS) || (HAS_WINDOW && last + ROWS - 1 < 0))
                continue; /* all are hidden from this warp */
            dot<DIM, M, N>(p, shared + row * DIM, of_queries + column * DIM);
            if (is_diagonal && key + ROWS > 0)
                mask<M, N>(p, [&](int r, int c) { return c < key + r; });
            if (HAS_WINDOW && last < COLUMNS - 1)
                mask<M, N>(p, [&](int r, int c) { return c > last + r; });
            each_element<M, N>([&](int m, int n, int i) {
                p[m][n][i] = exp2_of(fmaf(p[m][n][i], s.scale * (float)M_LOG2E,
                                          -row_of_column(of_rows + column, n, i).x));
            });
            mix<DIM, M, N>(dvalues, p, of_dout + column * DIM);
            dot<DIM, M, N>(ds, values + row * DIM, of_dout + column * DIM);
            each_element<M, N>([&](int m, int n, int i) {
                ds[m][n][i] = p[m][n][i] * (ds[m][n][i] - row_of_column(of_rows + column, n, i).y);
            });
            mix<DIM, M, N>(dkeys, ds, of_queries + column * DIM);
        }
    }
    each_row<M>([&](int m, int half, int r) {
        const int token = first + row + r;
        if (token >= s.tokens)
            return;
        store_row<DIM>(dqkv + pp_attention_key(s, kv, token), dkeys[m], half, s.scale, s.head_dim,
                       s.add);
        store_row<DIM>(dqkv + pp_attention_value(s, kv, token), dvalues[m], half, 1, s.head_dim,
                       s.add);
    });
}

/* ---- launches -------------------------------------------------------------------------------- */

template <int DIM, int M, int KEYS, bool HAS_WINDOW>
static void gradient_of_queries(cudaStream_t stream, const struct pp_attention *a)
{
    enum { TILE = WARPS * M * 16 };
    const dim3 grid(a->heads, a->batch, pp_attention_tiles(a->tokens, TILE));
    constexpr size_t shared = sizeof(bf16) * (2 * TILE + 4 * KEYS) * DIM;
    static_assert(shared <= PP_ATTENTION_SHARED_BYTES, "runs on every device");

    PP_LAUNCH_SHARED((flash_queries<DIM, M, KEYS, HAS_WINDOW>), shared, grid, THREADS, shared,
                     stream, pp_attention_shape_of(a), pp_attention_splits_of(a),
                     (const bf16 *)a->dout, (const pp_attention_row *)a->scratch,
                     (bf16 *)a->dqkv[a->split]);
}

template <int DIM, int M, int COLUMNS, bool HAS_WINDOW>
static void gradient_of_keys(cudaStream_t stream, const struct pp_attention *a)
{
    enum { TILE = WARPS * M * 16 };
    const dim3 grid(a->kv_heads, a->batch, pp_attention_tiles(a->tokens, TILE));
    constexpr size_t shared =
        sizeof(bf16) * (2 * TILE + 4 * QUERIES) * DIM + sizeof(pp_attention_row) * 2 * QUERIES;
    static_assert(shared <= PP_ATTENTION_SHARED_BYTES, "runs on every device");

    for (int j = 0; j <= a->split; j++)
        PP_LAUNCH_SHARED((flash_keys<DIM, M, COLUMNS, HAS_WINDOW>), shared, grid, THREADS, shared,
                         stream, pp_attention_shape_of(a), j, (const bf16 *)a->qkv[j],
                         (const bf16 *)a->qkv[a->split], (const bf16 *)a->dout,
                         (const pp_attention_row *)a->scratch, (bf16 *)a->dqkv[j]);
}

template <bool HAS_WINDOW> static void backward(cudaStream_t stream, const struct pp_attention *a)
{
    if (a->head_dim <= 64) {
        gradient_of_queries<64, 2, 64, HAS_WINDOW>(stream, a);
        gradient_of_keys<64, 2, 32, HAS_WINDOW>(stream, a);
    } else {
        gradient_of_queries<128, 2, 32, HAS_WINDOW>(stream, a);
        gradient_of_keys<128, 1, 64, HAS_WINDOW>(stream, a);
    }
}

void pp_attention_flash_backward(cudaStream_t stream, const struct pp_attention *a)
{
    (a->window > 0 ? backward<true> : backward<false>)(stream, a);
}
