/* A cache of keys and values on a device: appended in two parts, then attended to; both types. The
 * bits of a sequence do not depend on how many there are. */
#include "tests/cuda/table_case.h"

struct shape {
    int batch, heads, kv_heads, head_dim, context, stride, window;
};

enum { QKV, CACHE, LAST, OUT, TENSORS };
static void *scratch;

static struct pp_attention_cached attention_of(const struct shape *s)
{
    return (struct pp_attention_cached){.batch = s->batch,
                                        .heads = s->heads,
                                        .kv_heads = s->kv_heads,
                                        .head_dim = s->head_dim,
                                        .context = s->context,
                                        .stride = s->stride,
                                        .window = s->window};
}

static void call(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct shape *s = what;
    const int half = s->context / 2;
    const size_t width = (size_t)((s->heads + 2 * s->kv_heads) * s->head_dim) * k->element_bytes;
    struct pp_cache_append append = {.batch = s->batch,
                                     .tokens = half,
                                     .heads = s->heads,
                                     .kv_heads = s->kv_heads,
                                     .head_dim = s->head_dim,
                                     .stride = s->stride,
                                     .qkv = x[QKV],
                                     .cache = x[CACHE]};
    struct pp_attention_cached a = attention_of(s);
    double host[2048];

    k->cache_append(stream, &append);
    append.qkv = (const char *)x[QKV] + (size_t)(s->batch * half) * width;
    append.first = half;
    append.tokens = s->context - half;
    k->cache_append(stream, &append);
    a.qkv = x[LAST];
    a.cache = x[CACHE];
    a.out = x[OUT];
    a.scratch = k == &pp_kernels_reference ? host : scratch;
    k->attention_cached(stream, &a);
}

static struct kernel_case case_of(const struct shape *s)
{
    const size_t dim = (size_t)s->head_dim, batch = (size_t)s->batch;
    const size_t width = (size_t)(s->heads + 2 * s->kv_heads) * dim;

    return (struct kernel_case){
        "attention_cached",
        call,
        s,
        .tolerance = 1e-6,
        .floor = 3e-6,
        .tensors = TENSORS,
        .tensor = {[QKV] = {batch * (size_t)s->context * width, OF_T, 1},
                   [CACHE] = {batch * (size_t)(s->stride * 2 * s->kv_heads) * dim, OF_T, 1},
                   [LAST] = {batch * width, OF_T, 1},
                   [OUT] = {batch * (size_t)s->heads * dim, OF_T, 1}}};
}

static void try_shape(const struct shape *s)
{
    const struct kernel_case c = case_of(s);
    const struct pp_attention_cached a = attention_of(s);

    scratch = device_bytes(pp_kernels_cuda_fp32.attention_cached_scratch_bytes(&a));
    kernel_try_both(&c);
    device_must(cudaFree(scratch));
}

Test(cuda_kernels, attention_cached)
{
    static const struct shape shapes[] = {
        {1, 1, 1, 1, 1, 1, 0},      {2, 2, 2, 64, 1, 3, 0},      {1, 3, 3, 64, 70, 80, 0},
        {2, 4, 2, 16, 33, 33, 0},   {1, 5, 1, 64, 300, 301, 0},  {3, 2, 1, 7, 20, 25, 0},
        {1, 6, 2, 40, 600, 600, 0}, {1, 1, 1, 256, 257, 260, 0}, {2, 8, 1, 128, 31, 32, 0},
        {1, 2, 2, 80, 256, 256, 0},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        try_shape(&shapes[i]);
}

Test(cuda_kernels, attention_cached_windows)
{
    static const struct shape shapes[] = {
        {2, 2, 1, 16, 40, 44, 1},
        {1, 2, 2, 64, 600, 610, 300},
        {1, 4, 2, 20, 50, 50, 50},
        {1, 2, 1, 64, 270, 300, 4096},
    };

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        try_shape(&shapes[i]);
}

/* Each sequence alone has the bits that it has among all. */
static void check_batch(const struct pp_kernels *k, const struct shape *s)
{
    const bool is_bf16 = k->element_bytes == sizeof(uint16_t);
    const size_t dim = (size_t)s->head_dim, batch = (size_t)s->batch, e = k->element_bytes;
    const size_t width = (size_t)(s->heads + 2 * s->kv_heads) * dim, out = (size_t)s->heads * dim;
    const size_t sequence = (size_t)(s->stride * 2 * s->kv_heads) * dim;
    struct drawn_tensor q = drawn_tensor(batch * width, is_bf16, 1, 0),
                        cache = drawn_tensor(batch * sequence, is_bf16, 1, 0),
                        all = drawn_tensor(batch * out, is_bf16, 1, 0),
                        each = drawn_tensor(batch * out, is_bf16, 1, 0);
    struct pp_attention_cached a = attention_of(s);
    double *x[] = {doubles(batch * out), doubles(batch * out)};

    a.scratch = device_bytes(k->attention_cached_scratch_bytes(&a));
    a.qkv = q.device;
    a.cache = cache.device;
    a.out = all.device;
    k->attention_cached(device_stream(), &a);
    a.batch = 1;
    for (size_t b = 0; b < batch; b++) {
        a.qkv = (const char *)q.device + b * width * e;
        a.cache = (const char *)cache.device + b * sequence * e;
        a.out = (char *)each.device + b * out * e;
        k->attention_cached(device_stream(), &a);
    }
    device_finish();
    device_read(all.device, x[0], batch * out, is_bf16);
    device_read(each.device, x[1], batch * out, is_bf16);
    for (size_t i = 0; i < batch * out; i++)
        cr_assert(x[0][i] == x[1][i], "%s: element %zu: %a, %a", k->name, i, x[0][i], x[1][i]);
    device_must(cudaFree(a.scratch));
    drawn_tensor_free(&q);
    drawn_tensor_free(&cache);
    drawn_tensor_free(&all);
    drawn_tensor_free(&each);
    free(x[0]);
    free(x[1]);
}

Test(cuda_kernels, attention_cached_of_one)
{
    static const struct shape shapes[] = {{3, 4, 2, 64, 300, 320, 0}, {3, 2, 2, 24, 40, 40, 9}};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        check_batch(&pp_kernels_cuda_fp32, &shapes[i]);
        check_batch(&pp_kernels_cuda_bf16, &shapes[i]);
    }
}
