/* kernels/cuda/attention/attention.cu — attention: choice of kernels, rows of scratch. */
#include "kernels/cuda/attention/attention.cuh"
#include "kernels/cuda/attention/cudnn.h"
#include "kernels/cuda/device/map.cuh"

#include <assert.h>

enum { LANES = 8, THREADS = 256, ALL_KEYS = 1 << 30 };

struct pp_attention_shape pp_attention_shape_of(const struct pp_attention *a)
{
    const uint64_t group = (uint64_t)(a->heads / a->kv_heads);
    struct pp_attention_shape s;

    assert(a->head_dim <= PP_CUDA_HEAD_DIM && a->split < PP_ATTENTION_SPLITS);
    assert(a->heads % a->kv_heads == 0);
    s.tokens = a->tokens;
    s.padded = pp_attention_tiles(a->tokens, PP_ATTENTION_PADDING) * PP_ATTENTION_PADDING;
    s.heads = a->heads;
    s.kv_heads = a->kv_heads;
    s.head_dim = a->head_dim;
    s.split = a->split;
    s.diagonal = a->is_full ? -1 : a->split;
    s.before = a->window > 0 ? a->window - 1 : ALL_KEYS;
    s.inverse = (uint32_t)((((uint64_t)1 << 31) + group - 1) / group);
    s.scale = (float)(1 / sqrt((double)a->head_dim));
    s.add = a->add;
    return s;
}

struct pp_attention_splits pp_attention_splits_of(const struct pp_attention *a)
{
    struct pp_attention_splits splits = {};

    for (int j = 0; j <= a->split; j++)
        splits.of[j] = a->qkv[j];
    return splits;
}

/* A row has LANES lanes, N elements each at a time. The rows of a token are adjacent, so a warp
 * reads one piece of memory. Grid: x rows of a batch, y batch. Reads out, dout
 * [batch * tokens][heads * head_dim], lse. */
template <typename T, int N>
static __global__ void __launch_bounds__(THREADS)
    attention_rows(struct pp_attention_shape s, float lse_scale, const T *out, const T *dout,
                   const float *lse, pp_attention_row *rows)
{
    const unsigned at = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    const int token = (int)(at / s.heads), head = (int)(at % s.heads);
    const size_t from = pp_attention_out(s, head, token);
    const bool is_token = token < s.tokens;
    float sum = 0;

    for (int i = (int)lane * N; is_token && i < s.head_dim; i += LANES * N) {
        const pp_floats<N> x = pp_load<N>(out + from + i), y = pp_load<N>(dout + from + i);
#pragma unroll
        for (int j = 0; j < N; j++)
            sum += x.at[j] * y.at[j];
    }
    for (int i = LANES / 2; i > 0; i /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, i);
    if (lane == 0)
        rows[pp_attention_row_of(s, head, token)] = make_float2(
            is_token ? lse[pp_attention_lse(s, head, token)] * lse_scale : INFINITY, sum);
}

template <typename T, int N>
static void make_rows(cudaStream_t stream, const struct pp_attention *a, float lse_scale)
{
    enum { ROWS = THREADS / LANES };
    static_assert(PP_ATTENTION_PADDING % ROWS == 0, "blocks are full");
    const struct pp_attention_shape s = pp_attention_shape_of(a);
    const dim3 grid((unsigned)(s.padded / ROWS * s.heads), (unsigned)a->batch);

    PP_LAUNCH((attention_rows<T, N>), grid, THREADS, 0, stream, s, lse_scale, (const T *)a->out,
              (const T *)a->dout, (const float *)a->lse, (pp_attention_row *)a->scratch);
}

/* ---- choice of kernels ----------------------------------------------------------------------- */

static bool is_flash(const struct pp_attention *a)
{
    bool is = a->head_dim % 8 == 0 && a->head_dim <= 128 && pp_are_aligned(a->out);

    for (int j = 0; j <= a->split; j++)
        is = is && pp_are_aligned(a->qkv[j]);
    return is;
}

static bool is_flash_backward(const struct pp_attention *a)
{
    bool is = is_flash(a) && pp_are_aligned(a->dout, a->scratch);

    for (int j = 0; j <= a->split; j++)
        is = is && pp_are_aligned(a->dqkv[j]);
    return is;
}

size_t pp_cuda_attention_scratch_bytes(const struct pp_attention *a)
{
    return sizeof(pp_attention_row) * a->batch * a->heads * pp_attention_shape_of(a).padded;
}

void pp_cuda_attention_forward_fp32(void *stream, const struct pp_attention *a)
{
    pp_attention_simple_forward<float>(pp_cuda_of(stream), a);
}

void pp_cuda_attention_forward_bf16(void *stream, const struct pp_attention *a)
{
    if (!is_flash(a))
        pp_attention_simple_forward<pp_bf16>(pp_cuda_of(stream), a);
    else if (!pp_cudnn_attention((const struct pp_cuda_stream *)stream, a, false))
        pp_attention_flash_forward(pp_cuda_of(stream), a);
}

void pp_cuda_attention_backward_fp32(void *stream, const struct pp_attention *a)
{
    make_rows<float, 1>(pp_cuda_of(stream), a, 1);
    pp_attention_simple_backward<float>(pp_cuda_of(stream), a);
}

void pp_cuda_attention_backward_bf16(void *stream, const struct pp_attention *a)
{
    if (!is_flash_backward(a)) {
        make_rows<pp_bf16, 1>(pp_cuda_of(stream), a, 1);
        pp_attention_simple_backward<pp_bf16>(pp_cuda_of(stream), a);
    } else if (!pp_cudnn_attention((const struct pp_cuda_stream *)stream, a, true)) {
        make_rows<pp_bf16, 8>(pp_cuda_of(stream), a, (float)M_LOG2E);
        pp_attention_flash_backward(pp_cuda_of(stream), a);
    }
}
