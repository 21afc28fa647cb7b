/* kernels/cuda/attention/cached.cu — attention of one query a sequence to cached keys and values
 * (kernels/cached.h).
 *
 * One query has too little work for a block to read the cache at the speed of memory. So the keys
 * are split: a block does KEYS of them, for one sequence and ROWS heads that share a key head.
 * Where there are several splits, a second kernel puts them together (Dao et al. 2023,
 * Flash-Decoding). Splits depend on the keys met alone, and nothing is added in an order of
 * arrival. So the bits of a sequence do not depend on the batch. */
#include "kernels/cuda/attention/attention.cuh"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"

#include <assert.h>

namespace
{

enum {
    KEYS = 256, /* of a split */
    LANES = 8,  /* threads of a key; they read neighbouring elements */
    THREADS = 128,
    GROUPS = THREADS / LANES,
    WARPS = THREADS / 32
};

struct shape {
    int heads, group, tiles; /* group: query heads of a key head, in tiles of ROWS */
    int head_dim, row;       /* row: elements of a position */
    int from, keys, stride;  /* first key met, and their number; positions of a sequence */
    int width;               /* elements of a row of qkv */
    float scale;
};

__device__ int least(int a, int b)
{
    return a < b ? a : b;
}

__host__ __device__ int splits_of(int keys)
{
    return (keys + KEYS - 1) / KEYS;
}

/* A part in scratch: the largest score, the sum of exp(score - max), and the mix of values. */
__host__ __device__ int part_floats(int head_dim)
{
    return head_dim + 2;
}

/* The block's heads, keys, and shared memory. */
template <class T, int ROWS, int N> struct block {
    int first, rows, keys; /* first query head; heads; keys of the split */
    const T *cache;        /* key of the block's head at the first of them */
    float *queries;        /* [ROWS][head_dim], scaled */
    float *p;              /* [KEYS][ROWS] scores, then weights */
    float *max, *sum;      /* [ROWS] */
    float *mixes;          /* [WARPS][ROWS][LANES * N] */
};

template <class T, int ROWS, int N>
__device__ block<T, ROWS, N> block_of(const shape &s, const T *cache, float *shared)
{
    const int kv = (int)blockIdx.x / s.tiles, tile = (int)blockIdx.x % s.tiles;
    const int split = (int)blockIdx.z * KEYS;
    block<T, ROWS, N> b;

    b.first = kv * s.group + tile * ROWS;
    b.rows = least(ROWS, s.group - tile * ROWS);
    b.keys = least(KEYS, s.keys - split);
    b.cache = cache + ((size_t)blockIdx.y * s.stride + s.from + split) * s.row + kv * s.head_dim;
    b.queries = shared;
    b.p = b.queries + ROWS * s.head_dim;
    b.max = b.p + KEYS * ROWS;
    b.sum = b.max + ROWS;
    b.mixes = b.sum + ROWS;
    return b;
}

template <int ROWS, int N> size_t shared_bytes(int head_dim)
{
    return sizeof(float) * (ROWS * head_dim + KEYS * ROWS + 2 * ROWS + WARPS * ROWS * LANES * N);
}

template <class T, int ROWS, int N>
__device__ void load_queries(const shape &s, const block<T, ROWS, N> &b, const T *qkv)
{
    const T *from = qkv + (size_t)blockIdx.y * s.width + (size_t)b.first * s.head_dim;

    for (int i = (int)threadIdx.x; i < ROWS * s.head_dim; i += THREADS)
        b.queries[i] = i < b.rows * s.head_dim ? pp_widen(from[i]) * s.scale : 0.0f;
}

/* p = query . key. Each group of LANES takes every GROUPS-th key. */
template <class T, int ROWS, int N>
__device__ void score(const shape &s, const block<T, ROWS, N> &b)
{
    const int lane = (int)threadIdx.x % LANES;

    for (int at = 0; at < b.keys; at += GROUPS) {
        const int key = at + (int)threadIdx.x / LANES;
        const bool is_key = key < b.keys;
        float sum[ROWS] = {};
        for (int i = lane * N; is_key && i < s.head_dim; i += LANES * N) {
            const pp_floats<N> x = pp_load<N>(b.cache + (size_t)key * s.row + i);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int j = 0; j < N; j++)
                    sum[r] += b.queries[r * s.head_dim + i + j] * x.at[j];
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            for (int distance = LANES / 2; distance > 0; distance /= 2)
                sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], distance);
            if (is_key && lane == 0)
                b.p[key * ROWS + r] = sum[r];
        }
    }
}

/* Replaces scores by exp(score - max); a warp has a row. */
template <class T, int ROWS, int N> __device__ void softmax(const block<T, ROWS, N> &b)
{
    const int lane = (int)threadIdx.x % 32;

    for (int r = (int)threadIdx.x / 32; r < ROWS; r += WARPS) {
        float max = PP_ATTENTION_LOWEST, sum = 0;
        for (int key = lane; key < b.keys; key += 32)
            max = fmaxf(max, b.p[key * ROWS + r]);
        for (int distance = 16; distance > 0; distance /= 2)
            max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, distance));
        for (int key = lane; key < b.keys; key += 32) {
            const float e = expf(b.p[key * ROWS + r] - max);
            b.p[key * ROWS + r] = e;
            sum += e;
        }
        sum = pp_warp_sum(sum);
        if (lane == 0) {
            b.max[r] = max;
            b.sum[r] = sum;
        }
    }
}

/* mixes = the sums of p value of each warp, for the elements from `chunk` on. */
template <class T, int ROWS, int N>
__device__ void mix(const shape &s, const block<T, ROWS, N> &b, int chunk)
{
    const int lane = (int)threadIdx.x % LANES, i = chunk + lane * N;
    float sum[ROWS][N] = {};

    for (int key = (int)threadIdx.x / LANES; key < b.keys && i < s.head_dim; key += GROUPS) {
        const pp_floats<N> x = pp_load<N>(b.cache + (size_t)key * s.row + s.row / 2 + i);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int j = 0; j < N; j++)
                sum[r][j] += b.p[key * ROWS + r] * x.at[j];
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int j = 0; j < N; j++) {
            for (int distance = LANES; distance < 32; distance *= 2)
                sum[r][j] += __shfl_xor_sync(0xffffffffu, sum[r][j], distance);
            if (threadIdx.x % 32 < LANES)
                b.mixes[(((int)threadIdx.x / 32) * ROWS + r) * LANES * N + lane * N + j] =
                    sum[r][j];
        }
}

/* Writes the elements from `chunk` on: a part, or, of the only split, the result. */
template <class T, int ROWS, int N>
__device__ void put(const shape &s, const block<T, ROWS, N> &b, int chunk, float *parts, T *out)
{
    const int splits = (int)gridDim.z;

    for (int i = (int)threadIdx.x; i < b.rows * LANES * N; i += THREADS) {
        const int r = i / (LANES * N), at = chunk + i % (LANES * N);
        const size_t row = (size_t)blockIdx.y * s.heads + b.first + r;
        float *part = parts + (row * splits + blockIdx.z) * part_floats(s.head_dim);
        float sum = 0;
        if (at >= s.head_dim)
            continue;
        for (int warp = 0; warp < WARPS; warp++)
            sum += b.mixes[(warp * ROWS + r) * LANES * N + i % (LANES * N)];
        if (splits == 1)
            pp_store(out + row * s.head_dim + at, sum / b.sum[r]);
        else
            part[2 + at] = sum;
        if (splits > 1 && at == 0) {
            part[0] = b.max[r];
            part[1] = b.sum[r];
        }
    }
}

/* Grid: x tiles of heads, y batch, z splits. Reads a split of keys once, then of values. */
template <class T, int ROWS, int N>
__global__ void __launch_bounds__(THREADS)
    attention_cached_split(shape s, const T *qkv, const T *cache, float *parts, T *out)
{
    PP_SHARED(float, shared);
    const block<T, ROWS, N> b = block_of<T, ROWS, N>(s, cache, shared);

    load_queries(s, b, qkv);
    __syncthreads();
    score(s, b);
    __syncthreads();
    softmax(b);
    for (int chunk = 0; chunk < s.head_dim; chunk += LANES * N) {
        __syncthreads();
        mix(s, b, chunk);
        __syncthreads();
        put(s, b, chunk, parts, out);
    }
}

/* Puts the parts of a head together, in order. Grid: x heads, y batch. */
template <class T>
__global__ void __launch_bounds__(THREADS)
    attention_cached_join(int head_dim, int splits, const float *parts, T *out)
{
    const size_t row = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
    const int pitch = part_floats(head_dim);
    const float *of_row = parts + row * splits * pitch;
    float max = PP_ATTENTION_LOWEST, sum = 0;

    for (int j = 0; j < splits; j++)
        max = fmaxf(max, of_row[j * pitch]);
    for (int j = 0; j < splits; j++)
        sum += of_row[j * pitch + 1] * expf(of_row[j * pitch] - max);
    for (int i = (int)threadIdx.x; i < head_dim; i += THREADS) {
        float mix = 0;
        for (int j = 0; j < splits; j++)
            mix += of_row[j * pitch + 2 + i] * expf(of_row[j * pitch] - max);
        pp_store(out + row * head_dim + i, mix / sum);
    }
}

template <class T, int ROWS, int N>
void attend(cudaStream_t stream, const struct pp_attention_cached *a)
{
    const int group = a->heads / a->kv_heads, tiles = (group + ROWS - 1) / ROWS;
    const int from = pp_cached_from(a), splits = splits_of(a->context - from);
    const shape s = {a->heads,
                     group,
                     tiles,
                     a->head_dim,
                     2 * a->kv_heads * a->head_dim,
                     from,
                     a->context - from,
                     a->stride,
                     (a->heads + 2 * a->kv_heads) * a->head_dim,
                     (float)(1 / sqrt((double)a->head_dim))};
    const dim3 grid((unsigned)(a->kv_heads * tiles), (unsigned)a->batch, (unsigned)splits),
        heads((unsigned)a->heads, (unsigned)a->batch);

    PP_LAUNCH((attention_cached_split<T, ROWS, N>), grid, THREADS,
              (shared_bytes<ROWS, N>(a->head_dim)), stream, s, (const T *)a->qkv,
              (const T *)a->cache, (float *)a->scratch, (T *)a->out);
    if (splits > 1)
        PP_LAUNCH(attention_cached_join<T>, heads, THREADS, 0, stream, a->head_dim, splits,
                  (const float *)a->scratch, (T *)a->out);
}

template <class T> void attend_by(void *stream, const struct pp_attention_cached *a)
{
    const bool is_wide = a->head_dim % PP_WIDE<T> == 0 && pp_are_aligned(a->cache);
    const bool is_alone = a->heads == a->kv_heads;

    assert(a->head_dim <= PP_CUDA_HEAD_DIM && a->heads % a->kv_heads == 0);
    if (is_wide && is_alone)
        attend<T, 1, PP_WIDE<T>>(pp_cuda_of(stream), a);
    else if (is_wide)
        attend<T, 4, PP_WIDE<T>>(pp_cuda_of(stream), a);
    else if (is_alone)
        attend<T, 1, 1>(pp_cuda_of(stream), a);
    else
        attend<T, 4, 1>(pp_cuda_of(stream), a);
}

} // namespace

size_t pp_cuda_attention_cached_scratch_bytes(const struct pp_attention_cached *a)
{
    return sizeof(float) * a->batch * a->heads * splits_of(a->context) * part_floats(a->head_dim);
}

#define CACHED(name, T)                                                                            \
    void pp_cuda_attention_cached_##name(void *stream, const struct pp_attention_cached *a)        \
    {                                                                                              \
        attend_by<T>(stream, a);                                                                   \
    }
CACHED(fp32, float)
CACHED(bf16, pp_bf16)
