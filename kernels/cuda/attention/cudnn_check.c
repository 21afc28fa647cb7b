/* Attention by cuDNN, compared with own kernels on a small shape before it is used. */
#include "core/random.h"
#include "kernels/cuda/attention/cudnn.h"
#include "kernels/cuda/device/functions.h"
#include "kernels/numbers.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH = 2, TOKENS = 256, ROWS = BATCH * TOKENS, HEADS = 4 };
/* Sums of bf16 products, rounded to 8 bits; floats. Both relative to the largest element. */
static const double TOLERANCE_BF16 = 0.02, TOLERANCE_FLOAT = 1e-3;

/* On the device; `got` are cuDNN's. */
struct tensors {
    void *qkv, *dout, *out, *lse, *dqkv, *got_out, *got_lse, *got_dqkv, *scratch;
};

/* Memory of `bytes` with elements of bf16 in [-1, 1]. */
static bool fill(void **memory, size_t bytes)
{
    uint16_t *x = malloc(bytes);
    bool is_filled = x && cudaMalloc(memory, bytes) == cudaSuccess;

    for (size_t i = 0; is_filled && i < bytes / 2; i++)
        x[i] = pp_bf16_round((float)((double)(int64_t)pp_random_bits(7, i) * 0x1p-63));
    is_filled = is_filled && cudaMemcpy(*memory, x, bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
                cudaDeviceSynchronize() == cudaSuccess;
    free(x);
    return is_filled;
}

/* Columns begin .. end - 1 of [ROWS][width]: bf16, or floats by their bytes. */
static bool are_alike(const void *want, const void *got, int width, int begin, int end,
                      size_t element_bytes)
{
    const double tolerance = element_bytes == sizeof(float) ? TOLERANCE_FLOAT : TOLERANCE_BF16;
    double largest = 0, difference = 0;

    for (size_t i = 0; i < (size_t)ROWS * (size_t)width; i++) {
        const int column = (int)(i % (size_t)width);
        if (column < begin || column >= end)
            continue;
        const double x = pp_number_get(want, element_bytes, (int64_t)i);
        const double y = pp_number_get(got, element_bytes, (int64_t)i);
        if (!isfinite(x) || !isfinite(y))
            return false;
        largest = fmax(largest, fabs(x));
        difference = fmax(difference, fabs(x - y));
    }
    return difference <= tolerance * largest;
}

static bool have_alike(const void *want, const void *got, int width, int begin, int end,
                       size_t element_bytes)
{
    const size_t bytes = (size_t)ROWS * (size_t)width * element_bytes;
    char *x = malloc(2 * bytes);
    const bool are = x && cudaMemcpy(x, want, bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
                     cudaMemcpy(x + bytes, got, bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
                     are_alike(x, x + bytes, width, begin, end, element_bytes);

    free(x);
    return are;
}

/* Own kernels, and the call after them, on the same input: both finish. */
static const char *compute(pp_cudnn_call *call, bool is_backward, struct pp_cuda_stream *stream,
                           struct pp_attention *a, const struct tensors *t)
{
    const struct pp_cuda_stream own = {.stream = stream->stream, .sm_count = stream->sm_count};
    void *got_dqkv[] = {t->got_dqkv};

    pp_cuda_attention_forward_bf16((void *)&own, a);
    if (is_backward)
        pp_cuda_attention_backward_bf16((void *)&own, a);
    else
        a->out = t->got_out, a->lse = t->got_lse;
    a->dqkv = got_dqkv;
    if (!call(stream, a))
        return "the check was refused";
    return cudaStreamSynchronize(stream->stream) == cudaSuccess ? NULL
                                                                : "kernels failed in the check";
}

/* The first that differs; NULL = none. */
static const char *compare(bool is_backward, const struct pp_attention *a, const struct tensors *t)
{
    const int query = a->heads * a->head_dim, key = query + a->kv_heads * a->head_dim,
              width = 2 * key - query;
    const struct {
        bool is_backward;
        const void *want, *got;
        int width, begin, end;
        size_t element_bytes;
        const char *differs;
    } all[] = {
        {false, t->out, t->got_out, query, 0, query, 2, "results differ from own kernels'"},
        {false, t->lse, t->got_lse, HEADS, 0, HEADS, sizeof(float),
         "sums of exponentials differ from own kernels'"},
        {true, t->dqkv, t->got_dqkv, width, 0, query, 2,
         "gradients of queries differ from own kernels'"},
        {true, t->dqkv, t->got_dqkv, width, query, key, 2,
         "gradients of keys differ from own kernels'"},
        {true, t->dqkv, t->got_dqkv, width, key, width, 2,
         "gradients of values differ from own kernels'"},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].is_backward == is_backward &&
            !have_alike(all[i].want, all[i].got, all[i].width, all[i].begin, all[i].end,
                        all[i].element_bytes))
            return all[i].differs;
    return NULL;
}

const char *pp_cudnn_check(pp_cudnn_call *call, bool is_backward, const struct pp_cuda_stream *of,
                           const struct pp_attention *shape)
{
    const int kv_heads = shape->kv_heads < shape->heads ? HEADS / 2 : HEADS;
    struct pp_attention a = {.batch = BATCH,
                             .tokens = TOKENS,
                             .heads = HEADS,
                             .kv_heads = kv_heads,
                             .head_dim = shape->head_dim};
    const size_t row = 2 * (size_t)ROWS * (size_t)a.head_dim,
                 wide = row * (size_t)(HEADS + 2 * kv_heads);
    struct tensors t = {0};
    const char *differs = "no memory for the check";
    struct pp_cuda_stream stream = *of;
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

    cudaThreadExchangeStreamCaptureMode(&mode);
    stream.cudnn = pp_cudnn_create();
    stream.workspace_bytes = 0;
    if (stream.cudnn && cudaStreamCreateWithFlags(&stream.stream, 1) == cudaSuccess &&
        fill(&t.qkv, wide) && fill(&t.dqkv, wide) && fill(&t.got_dqkv, wide) &&
        fill(&t.dout, HEADS * row) && fill(&t.out, HEADS * row) && fill(&t.got_out, HEADS * row) &&
        fill(&t.lse, HEADS * ROWS * sizeof(float)) &&
        fill(&t.got_lse, HEADS * ROWS * sizeof(float)) &&
        fill(&t.scratch, pp_cuda_attention_scratch_bytes(&a))) {
        const void *qkv[] = {t.qkv};
        void *dqkv[] = {t.dqkv};
        a.qkv = qkv, a.dqkv = dqkv, a.out = t.out, a.lse = t.lse, a.dout = t.dout;
        a.scratch = t.scratch;
        differs = compute(call, is_backward, &stream, &a, &t);
        if (!differs)
            differs = compare(is_backward, &a, &t);
    }
    pp_cudnn_destroy(stream.cudnn);
    if (stream.stream != of->stream)
        cudaStreamDestroy(stream.stream);
    for (size_t i = 0; i < sizeof t / sizeof(void *); i++)
        cudaFree(((void **)&t)[i]);
    cudaThreadExchangeStreamCaptureMode(&mode);
    return differs;
}
