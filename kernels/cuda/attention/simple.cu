/* kernels/cuda/attention/simple.cu — attention, forward, for any head_dim. Softmax is computed
 * online, tile by tile of keys (Milakov and Gimelshein 2018), without a whole row of scores. */
#include "kernels/cuda/attention/simple.cuh"
#include "kernels/cuda/device/reduce.cuh"

using namespace simple;

/* Partial results of a warp's rows; `sum` is of the lane's keys only. */
struct softmax {
    float mix[ROWS_OF_WARP][PARTS], max[ROWS_OF_WARP], sum[ROWS_OF_WARP];
};

/* Replaces scores, in weights, by exp(score - max), and rescales sums to the new max. */
static __device__ void add_scores(struct softmax *x, float *weights)
{
    float p[ROWS_OF_WARP];

#pragma unroll
    for (int r = 0; r < ROWS_OF_WARP; r++) {
        const float before = x->max[r];
        for (int c = 0; c < COLUMNS; c++)
            x->max[r] = fmaxf(x->max[r], weights[r * COLUMNS + c]);
        const float shrink = expf(before - x->max[r]);
        p[r] = expf(weights[r * COLUMNS + (int)(threadIdx.x % LANES)] - x->max[r]);
        x->sum[r] = x->sum[r] * shrink + p[r];
#pragma unroll
        for (int i = 0; i < PARTS; i++)
            x->mix[r][i] *= shrink;
    }
    share(weights, p);
}

/* ROWS queries of the split, of one head. Reads queries once, and the keys and values that they see
 * once per block. Writes out, lse. */
template <typename T>
static __global__ void __launch_bounds__(THREADS, 2)
    attention_simple_forward(struct pp_attention_shape s, struct pp_attention_splits qkv, T *out,
                             float *lse)
{
    PP_SHARED(float, shared);
    const int head = (int)blockIdx.x, kv = pp_attention_kv(s);
    const int first = (int)(gridDim.z - 1 - blockIdx.z) * ROWS; /* most keys first */
    const int width = width_of(s.head_dim), pitch = pitch_of(width);
    const int lane = (int)(threadIdx.x % LANES);
    const int row = (int)(threadIdx.x / LANES) * ROWS_OF_WARP;
    const size_t stride = pp_attention_stride(s);
    float *queries = shared, *keys = queries + ROWS * width, *values = keys + COLUMNS * pitch;
    float *weights = values + COLUMNS * pitch + row * COLUMNS;
    struct softmax x = {};

    for (int r = 0; r < ROWS_OF_WARP; r++)
        x.max[r] = PP_ATTENTION_LOWEST;
    load(queries, ROWS, width, (const T *)qkv.of[s.split] + pp_attention_query(s, head, first),
         stride, s.tokens - first, s.head_dim);
    for (int j = 0; j <= s.split; j++) {
        const T *key = (const T *)qkv.of[j] + pp_attention_key(s, kv, 0);
        const T *value = (const T *)qkv.of[j] + pp_attention_value(s, kv, 0);
        const int low = pp_attention_first_key(s, j, first + row);
        const int seen = j != s.diagonal ? s.tokens : least(s.tokens, first + ROWS);
        for (int at = first_column(s, j, first); at < seen; at += COLUMNS) {
            float scores[ROWS_OF_WARP];
            __syncthreads();
            load(keys, COLUMNS, pitch, key + at * stride, stride, s.tokens - at, s.head_dim);
            load(values, COLUMNS, pitch, value + at * stride, stride, s.tokens - at, s.head_dim);
            __syncthreads();
            dot(scores, queries + row * width, keys + lane * pitch, width);
#pragma unroll
            for (int r = 0; r < ROWS_OF_WARP; r++) {
                const int last = j != s.diagonal ? s.tokens - 1 : first + row + r;
                const bool is_met = at + lane <= last && at + lane >= low + r;
                scores[r] = is_met ? scores[r] * s.scale : -INFINITY;
            }
            share(weights, scores);
            add_scores(&x, weights);
            mix(x.mix, weights, values, width);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS_OF_WARP; r++) {
        const int token = first + row + r;
        const float sum = pp_warp_sum(x.sum[r]);
        if (token >= s.tokens)
            continue;
        store(out + pp_attention_out(s, head, token), x.mix[r], 1 / sum, s.head_dim, false);
        if (lane == 0)
            lse[pp_attention_lse(s, head, token)] = x.max[r] + logf(sum);
    }
}

static constexpr size_t shared_bytes(int head_dim)
{
    return sizeof(float) * (ROWS * width_of(head_dim) + 2 * COLUMNS * pitch_of(width_of(head_dim)) +
                            ROWS * COLUMNS);
}
static_assert(shared_bytes(PP_CUDA_HEAD_DIM) <= PP_ATTENTION_SHARED_BYTES, "runs on every device");

template <typename T>
void pp_attention_simple_forward(cudaStream_t stream, const struct pp_attention *a)
{
    const struct pp_attention_shape s = pp_attention_shape_of(a);
    const dim3 grid(a->heads, a->batch, pp_attention_tiles(a->tokens, ROWS));
    const size_t shared = shared_bytes(a->head_dim);

    PP_LAUNCH_SHARED(attention_simple_forward<T>, shared_bytes(PP_CUDA_HEAD_DIM), grid, THREADS,
                     shared, stream, s, pp_attention_splits_of(a), (T *)a->out, (float *)a->lse);
}

template void pp_attention_simple_forward<float>(cudaStream_t, const struct pp_attention *);
template void pp_attention_simple_forward<__nv_bfloat16>(cudaStream_t, const struct pp_attention *);
