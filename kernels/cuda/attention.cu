/* kernels/cuda/attention.cu — causal attention: which kernels a call gets, and the rows of scratch
 * that all backwards begin with. */
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/parts.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/stream.h"

enum { WARP = 32, THREADS = 256 };

struct pp_attention_shape pp_attention_shape_of(const struct pp_attention *a)
{
    const uint64_t group = (uint64_t)(a->heads / a->kv_heads);
    struct pp_attention_shape s;

    s.tokens = a->tokens;
    s.padded = pp_attention_tiles(a->tokens, PP_ATTENTION_PADDING) * PP_ATTENTION_PADDING;
    s.heads = a->heads;
    s.kv_heads = a->kv_heads;
    s.head_dim = a->head_dim;
    s.split = a->split;
    s.inverse = (uint32_t)((((uint64_t)1 << 31) + group - 1) / group);
    s.scale = (float)(1 / sqrt((double)a->head_dim));
    return s;
}

struct pp_attention_splits pp_attention_splits_of(const struct pp_attention *a)
{
    struct pp_attention_splits splits = {};

    for (int j = 0; j <= a->split; j++)
        splits.of[j] = a->qkv[j];
    return splits;
}

/* A warp makes a row. Read: out, dout [batch * tokens][heads * head_dim], lse. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    attention_rows(struct pp_attention_shape s, size_t count, float lse_scale, const T *out,
                   const T *dout, const float *lse, pp_attention_row *rows)
{
    const size_t at = ((size_t)blockIdx.x * THREADS + threadIdx.x) / WARP;
    const int lane = (int)threadIdx.x % WARP;

    if (at >= count)
        return;
    const size_t batch = at / s.heads / s.padded;
    const int token = (int)(at / s.heads % s.padded), head = (int)(at % s.heads);
    const size_t row = batch * s.heads + head;
    float sum = 0;

    if (token < s.tokens) {
        const size_t from = ((batch * s.tokens + token) * s.heads + head) * s.head_dim;
        for (int i = lane; i < s.head_dim; i += WARP)
            sum = fmaf(pp_widen(out[from + i]), pp_widen(dout[from + i]), sum);
    }
    sum = pp_warp_sum(sum);
    if (lane == 0)
        rows[row * s.padded + token] =
            make_float2(token < s.tokens ? lse[row * s.tokens + token] * lse_scale : INFINITY, sum);
}

template <typename T>
static void make_rows(cudaStream_t stream, const struct pp_attention *a, float lse_scale)
{
    const struct pp_attention_shape s = pp_attention_shape_of(a);
    const size_t count = (size_t)a->batch * s.heads * s.padded, of_block = THREADS / WARP;

    PP_LAUNCH(attention_rows<T>, (unsigned)((count + of_block - 1) / of_block), THREADS, 0, stream,
              s, count, lse_scale, (const T *)a->out, (const T *)a->dout, (const float *)a->lse,
              (pp_attention_row *)a->scratch);
}

static bool is_aligned(const void *x)
{
    return (uintptr_t)x % 16 == 0;
}

static bool is_flash(const struct pp_attention *a)
{
    bool is = (a->head_dim == 64 || a->head_dim == 128) && is_aligned(a->out);

    for (int j = 0; j <= a->split; j++)
        is = is && is_aligned(a->qkv[j]);
    return is;
}

static bool is_flash_backward(const struct pp_attention *a)
{
    bool is = is_flash(a) && is_aligned(a->dout) && is_aligned(a->scratch);

    for (int j = 0; j <= a->split; j++)
        is = is && is_aligned(a->dqkv[j]);
    return is;
}

static cudaStream_t stream_of(void *stream)
{
    return ((struct pp_cuda_stream *)stream)->stream;
}

static size_t scratch_bytes(const struct pp_attention *a)
{
    return sizeof(pp_attention_row) * a->batch * a->heads * pp_attention_shape_of(a).padded;
}

size_t pp_cuda_attention_scratch_bytes_fp32(const struct pp_attention *a)
{
    return scratch_bytes(a);
}

size_t pp_cuda_attention_scratch_bytes_bf16(const struct pp_attention *a)
{
    return scratch_bytes(a);
}

void pp_cuda_attention_forward_fp32(void *stream, const struct pp_attention *a)
{
    pp_attention_simple_forward_fp32(stream_of(stream), a);
}

void pp_cuda_attention_forward_bf16(void *stream, const struct pp_attention *a)
{
    if (is_flash(a))
        pp_attention_flash_forward(stream_of(stream), a);
    else
        pp_attention_simple_forward_bf16(stream_of(stream), a);
}

void pp_cuda_attention_backward_fp32(void *stream, const struct pp_attention *a)
{
    make_rows<float>(stream_of(stream), a, 1);
    pp_attention_simple_backward_fp32(stream_of(stream), a);
}

void pp_cuda_attention_backward_bf16(void *stream, const struct pp_attention *a)
{
    const bool is = is_flash_backward(a);

    make_rows<__nv_bfloat16>(stream_of(stream), a, is ? (float)M_LOG2E : 1);
    if (is)
        pp_attention_flash_backward(stream_of(stream), a);
    else
        pp_attention_simple_backward_bf16(stream_of(stream), a);
}
