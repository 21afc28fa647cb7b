/* kernels/cuda/attention/attention.cuh — code that all attention kernels share: the shape of a
 * call, offsets of heads, and the work of each block. Tensors are those of struct pp_attention.
 *
 * The backward has no atomics. One kernel walks over the keys of each tile of queries, for
 * gradients of queries. Another walks over the queries of each tile of keys, for gradients of keys
 * and values. Both take one split of keys after the other, and recompute scores from lse. So the
 * shape alone fixes the order of all additions. */
#pragma once

#include "kernels/cuda/device/element.cuh"
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/shared.cuh"

enum {
    PP_ATTENTION_SPLITS = 256,  /* the split of an op has 8 bits */
    PP_ATTENTION_PADDING = 128, /* rows of scratch: tokens, rounded up to a multiple */
    /* Shared memory of a block that every device has. Compute capabilities 8.6, 8.9 and 12.0 have
     * the least (8.0: 163 KiB, 9.0: 227 KiB). */
    PP_ATTENTION_SHARED_BYTES = 99 << 10,
};

/* A query meets `before` keys before its own, counted over all splits. It meets no key after its
 * own in split `diagonal` (-1: of an encoder there is none), and all of other splits. */
struct pp_attention_shape {
    int tokens, padded, heads, kv_heads, head_dim, split;
    int diagonal, before;
    float scale;      /* 1 / sqrt(head_dim) */
    uint32_t inverse; /* kv_heads / heads times 2^31, rounded up: saves a division in kernels */
    bool add;         /* to gradients of keys and values */
};

/* Begin of the largest score so far: below all, and finite, for rows without keys in a tile. */
#define PP_ATTENTION_LOWEST (-1e30f)

/* qkv of all splits up to this one. */
struct pp_attention_splits {
    const void *of[PP_ATTENTION_SPLITS];
};

/* Scratch of a backward for each query, [batch][heads][padded]. x is lse, times log2(e) for flash
 * kernels. After the last token x is infinite, so that probabilities are 0. Member y is the product
 * of dout and out, the sum of p dp over the query's keys (Dao et al. 2022). */
typedef float2 pp_attention_row;

/* Key head of the block. A kernel's grid: x heads of its loop, y batch, z tiles of tokens. */
static inline __device__ int pp_attention_kv(struct pp_attention_shape s)
{
    return (int)((uint64_t)blockIdx.x * s.inverse >> 31);
}

/* Elements of a token in qkv. */
static inline __host__ __device__ size_t pp_attention_stride(struct pp_attention_shape s)
{
    return (size_t)(s.heads + 2 * s.kv_heads) * (size_t)s.head_dim;
}

/* Offsets of a head's query, key and value of a token in qkv, and of its out, dout, lse, rows. */
static inline __device__ size_t pp_attention_query(struct pp_attention_shape s, int head, int token)
{
    return ((size_t)blockIdx.y * s.tokens + token) * pp_attention_stride(s) +
           (size_t)head * s.head_dim;
}

static inline __device__ size_t pp_attention_key(struct pp_attention_shape s, int kv, int token)
{
    return pp_attention_query(s, s.heads + kv, token);
}

static inline __device__ size_t pp_attention_value(struct pp_attention_shape s, int kv, int token)
{
    return pp_attention_query(s, s.heads + s.kv_heads + kv, token);
}

static inline __device__ size_t pp_attention_out(struct pp_attention_shape s, int head, int token)
{
    return (((size_t)blockIdx.y * s.tokens + token) * s.heads + head) * s.head_dim;
}

static inline __device__ size_t pp_attention_lse(struct pp_attention_shape s, int head, int token)
{
    return ((size_t)blockIdx.y * s.heads + head) * s.tokens + token;
}

static inline __device__ size_t pp_attention_row_of(struct pp_attention_shape s, int head,
                                                    int token)
{
    return ((size_t)blockIdx.y * s.heads + head) * s.padded + token;
}

/* Returns the first key of split j that a query meets; below 0, or beyond the split. The last query
 * that meets a key of it. */
static inline __device__ int pp_attention_first_key(struct pp_attention_shape s, int j, int query)
{
    return query + (s.split - j) * s.tokens - s.before;
}
static inline __device__ int pp_attention_last_query(struct pp_attention_shape s, int j, int key)
{
    return key - (s.split - j) * s.tokens + s.before;
}

static inline __host__ __device__ int pp_attention_tiles(int tokens, int tile)
{
    return (tokens + tile - 1) / tile;
}

/* Host code of attention.cu. */
struct pp_attention_shape pp_attention_shape_of(const struct pp_attention *a);
struct pp_attention_splits pp_attention_splits_of(const struct pp_attention *a);

/* Any head_dim up to PP_CUDA_HEAD_DIM. The backward needs `rows`, with lse unscaled. */
template <typename T>
void pp_attention_simple_forward(cudaStream_t stream, const struct pp_attention *a);
template <typename T>
void pp_attention_simple_backward(cudaStream_t stream, const struct pp_attention *a);

/* bf16, head_dim a multiple of 8 up to 128, tensors aligned to 16 bytes; `rows`: lse in log2. */
void pp_attention_flash_forward(cudaStream_t stream, const struct pp_attention *a);
void pp_attention_flash_backward(cudaStream_t stream, const struct pp_attention *a);
