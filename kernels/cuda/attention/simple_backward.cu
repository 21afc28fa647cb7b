/* kernels/cuda/attention/simple_backward.cu — gradients of attention for any head_dim, by tiles,
 * with the formulas of kernels/cpu/reference.c. */
#include "kernels/cuda/attention/simple.cuh"

using namespace simple;

/* Tiles of two tensors: of the block's rows, and of the columns in the loop. */
struct tiles {
    float *row_a, *row_b, *column_a, *column_b;
    float *weights;              /* [ROWS_OF_WARP][COLUMNS] of the warp */
    int width, pitch, row, lane; /* sizes of tiles; first row of the warp */
};

static __device__ struct tiles tiles_of(float *shared, int head_dim)
{
    struct tiles t;

    t.width = width_of(head_dim);
    t.pitch = pitch_of(t.width);
    t.row = (int)(threadIdx.x / LANES) * ROWS_OF_WARP;
    t.lane = (int)(threadIdx.x % LANES);
    t.row_a = shared;
    t.row_b = t.row_a + ROWS * t.width;
    t.column_a = t.row_b + ROWS * t.width;
    t.column_b = t.column_a + COLUMNS * t.pitch;
    t.weights = t.column_b + COLUMNS * t.pitch + t.row * COLUMNS;
    return t;
}

static constexpr size_t shared_bytes(int head_dim)
{
    return sizeof(float) * (2 * ROWS * width_of(head_dim) +
                            2 * COLUMNS * pitch_of(width_of(head_dim)) + ROWS * COLUMNS);
}
static_assert(shared_bytes(PP_CUDA_HEAD_DIM) <= PP_ATTENTION_SHARED_BYTES, "runs on every device");

/* s = product of row r and the lane's column of tensor a, dp = that of tensor b. */
static __device__ void dot_both(const struct tiles *t, float s[ROWS_OF_WARP],
                                float dp[ROWS_OF_WARP])
{
    dot(s, t->row_a + t->row * t->width, t->column_a + t->lane * t->pitch, t->width);
    dot(dp, t->row_b + t->row * t->width, t->column_b + t->lane * t->pitch, t->width);
}

/* Writes dqueries [tokens][stride] of ROWS queries of one head. */
template <typename T>
static __global__ void __launch_bounds__(THREADS, 2)
    attention_simple_queries(struct pp_attention_shape s, struct pp_attention_splits qkv,
                             const T *dout, const pp_attention_row *rows, T *dqkv)
{
    PP_SHARED(float, shared);
    const struct tiles t = tiles_of(shared, s.head_dim);
    const int head = (int)blockIdx.x, kv = pp_attention_kv(s);
    const int first = (int)(gridDim.z - 1 - blockIdx.z) * ROWS; /* most keys first */
    const size_t stride = pp_attention_stride(s), wide = (size_t)s.heads * s.head_dim;
    const size_t query = pp_attention_query(s, head, first);
    float dqueries[ROWS_OF_WARP][PARTS] = {};
    pp_attention_row row[ROWS_OF_WARP];

    for (int r = 0; r < ROWS_OF_WARP; r++)
        row[r] = rows[pp_attention_row_of(s, head, first + t.row + r)];
    load(t.row_a, ROWS, t.width, (const T *)qkv.of[s.split] + query, stride, s.tokens - first,
         s.head_dim);
    load(t.row_b, ROWS, t.width, dout + pp_attention_out(s, head, first), wide, s.tokens - first,
         s.head_dim);
    for (int j = 0; j <= s.split; j++) {
        const T *key = (const T *)qkv.of[j] + pp_attention_key(s, kv, 0);
        const T *value = (const T *)qkv.of[j] + pp_attention_value(s, kv, 0);
        const int low = pp_attention_first_key(s, j, first + t.row);
        const int seen = j != s.diagonal ? s.tokens : least(s.tokens, first + ROWS);
        for (int at = first_column(s, j, first); at < seen; at += COLUMNS) {
            float p[ROWS_OF_WARP], dp[ROWS_OF_WARP];
            __syncthreads();
            load(t.column_a, COLUMNS, t.pitch, key + at * stride, stride, s.tokens - at,
                 s.head_dim);
            load(t.column_b, COLUMNS, t.pitch, value + at * stride, stride, s.tokens - at,
                 s.head_dim);
            __syncthreads();
            dot_both(&t, p, dp);
#pragma unroll
            for (int r = 0; r < ROWS_OF_WARP; r++) {
                const int last = j != s.diagonal ? s.tokens - 1 : first + t.row + r;
                const bool is_met = at + t.lane <= last && at + t.lane >= low + r;
                p[r] = is_met ? expf(p[r] * s.scale - row[r].x) : 0.0f;
                dp[r] = p[r] * (dp[r] - row[r].y);
            }
            share(t.weights, dp);
            mix(dqueries, t.weights, t.column_a, t.width);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS_OF_WARP; r++)
        if (first + t.row + r < s.tokens)
            store(dqkv + query + (t.row + r) * stride, dqueries[r], s.scale, s.head_dim, false);
}

/* ROWS keys of one head of keys in split j, with the queries of all heads that read it. Writes
 * gradients of keys and values, or adds to them. qkv and dqkv belong to split j, `queries` is qkv
 * of the split. */
template <typename T>
static __global__ void __launch_bounds__(THREADS, 2)
    attention_simple_keys(struct pp_attention_shape s, int j, const T *qkv, const T *queries,
                          const T *dout, const pp_attention_row *rows, T *dqkv)
{
    PP_SHARED(float, shared);
    const struct tiles t = tiles_of(shared, s.head_dim);
    const int kv = (int)blockIdx.x;
    const int first = (int)blockIdx.z * ROWS, group = s.heads / s.kv_heads;
    const int from = j != s.diagonal ? 0 : first / COLUMNS * COLUMNS;
    const int last = pp_attention_last_query(s, j, first + t.row); /* of the warp's first key */
    const int end = least(s.tokens, last - t.row + ROWS);
    const size_t stride = pp_attention_stride(s), wide = (size_t)s.heads * s.head_dim;
    const size_t key = pp_attention_key(s, kv, first);
    const size_t value = pp_attention_value(s, kv, first);
    float dkeys[ROWS_OF_WARP][PARTS] = {}, dvalues[ROWS_OF_WARP][PARTS] = {};

    load(t.row_a, ROWS, t.width, qkv + key, stride, s.tokens - first, s.head_dim);
    load(t.row_b, ROWS, t.width, qkv + value, stride, s.tokens - first, s.head_dim);
    for (int head = kv * group; head < (kv + 1) * group; head++)
        for (int at = from; at < end; at += COLUMNS) {
            const T *query = queries + pp_attention_query(s, head, at);
            const T *d = dout + pp_attention_out(s, head, at);
            const pp_attention_row row = rows[pp_attention_row_of(s, head, at + t.lane)];
            float p[ROWS_OF_WARP], dp[ROWS_OF_WARP];
            __syncthreads();
            load(t.column_a, COLUMNS, t.pitch, query, stride, s.tokens - at, s.head_dim);
            load(t.column_b, COLUMNS, t.pitch, d, wide, s.tokens - at, s.head_dim);
            __syncthreads();
            dot_both(&t, p, dp);
#pragma unroll
            for (int r = 0; r < ROWS_OF_WARP; r++) {
                const bool is_met = (j != s.diagonal || first + t.row + r <= at + t.lane) &&
                                    at + t.lane <= last + r;
                p[r] = is_met ? expf(p[r] * s.scale - row.x) : 0.0f;
                dp[r] = p[r] * (dp[r] - row.y);
            }
            share(t.weights, p);
            mix(dvalues, t.weights, t.column_b, t.width);
            share(t.weights, dp);
            mix(dkeys, t.weights, t.column_a, t.width);
        }
#pragma unroll
    for (int r = 0; r < ROWS_OF_WARP; r++)
        if (first + t.row + r < s.tokens) {
            store(dqkv + key + (t.row + r) * stride, dkeys[r], s.scale, s.head_dim, s.add);
            store(dqkv + value + (t.row + r) * stride, dvalues[r], 1, s.head_dim, s.add);
        }
}

template <typename T>
void pp_attention_simple_backward(cudaStream_t stream, const struct pp_attention *a)
{
    const struct pp_attention_shape s = pp_attention_shape_of(a);
    const int tiles = pp_attention_tiles(a->tokens, ROWS);
    const dim3 of_queries(a->heads, a->batch, tiles), of_keys(a->kv_heads, a->batch, tiles);
    const size_t shared = shared_bytes(a->head_dim), most = shared_bytes(PP_CUDA_HEAD_DIM);
    const pp_attention_row *rows = (const pp_attention_row *)a->scratch;

    PP_LAUNCH_SHARED(attention_simple_queries<T>, most, of_queries, THREADS, shared, stream, s,
                     pp_attention_splits_of(a), (const T *)a->dout, rows, (T *)a->dqkv[a->split]);
    for (int j = 0; j <= a->split; j++)
        PP_LAUNCH_SHARED(attention_simple_keys<T>, most, of_keys, THREADS, shared, stream, s, j,
                         (const T *)a->qkv[j], (const T *)a->qkv[a->split], (const T *)a->dout,
                         rows, (T *)a->dqkv[j]);
}

template void pp_attention_simple_backward<float>(cudaStream_t, const struct pp_attention *);
template void pp_attention_simple_backward<__nv_bfloat16>(cudaStream_t,
                                                          const struct pp_attention *);
