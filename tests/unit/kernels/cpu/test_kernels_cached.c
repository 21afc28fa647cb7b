/* A cache of keys and values: what is appended, and attention to it against attention of all
 * tokens, in every table. Results of a sequence do not depend on the others, to the bit. */
#include "kernels/numbers.h"
#include "tests/unit/kernels/cpu/kernel_tables.h"

struct shape {
    int batch, heads, kv_heads, head_dim, context, stride, window;
};

static size_t width_of(const struct shape *s)
{
    return (size_t)((s->heads + 2 * s->kv_heads) * s->head_dim);
}

static size_t cache_row(const struct shape *s)
{
    return (size_t)(2 * s->kv_heads * s->head_dim);
}

/* One table at work. All tensors are of its T. */
struct rig {
    const struct pp_kernels *k;
    struct shape s;
    char *qkv, *rows, *cache, *full, *out; /* qkv of all tokens; rows: of the last ones */
};

static void *tensor_of(struct pp_arena *arena, const struct pp_kernels *k, size_t count)
{
    return pp_arena_alloc(arena, count * k->element_bytes);
}

/* The same values for every table: they are bfloat16. */
static void draw(const struct pp_kernels *k, uint64_t seed, size_t count, double scale, void *x)
{
    struct tables t = {.seed = seed};

    for (size_t i = 0; i < count; i++) {
        const float value = pp_bf16_value(pp_bf16_round((float)(tables_random(&t) * scale)));
        pp_number_put(x, k->element_bytes, (int64_t)i, (double)value);
    }
}

/* Appends tokens first .. until - 1 of all sequences. */
static void append(const struct rig *r, int first, int until)
{
    const size_t row = width_of(&r->s) * r->k->element_bytes, context = (size_t)r->s.context;
    const size_t sequence = (size_t)r->s.stride * cache_row(&r->s) * r->k->element_bytes;

    for (size_t b = 0; b < (size_t)r->s.batch; b++)
        r->k->cache_append(NULL, &(struct pp_cache_append){
                                     .batch = 1,
                                     .tokens = until - first,
                                     .heads = r->s.heads,
                                     .kv_heads = r->s.kv_heads,
                                     .head_dim = r->s.head_dim,
                                     .first = first,
                                     .stride = r->s.stride,
                                     .qkv = r->qkv + (b * context + (size_t)first) * row,
                                     .cache = r->cache + b * sequence,
                                 });
}

static struct rig rig_of(struct pp_arena *arena, const struct pp_kernels *k, const struct shape *s,
                         double scale)
{
    const size_t width = width_of(s), batch = (size_t)s->batch, context = (size_t)s->context;
    const size_t out = (size_t)(s->heads * s->head_dim), row = width * k->element_bytes;
    struct rig r = {.k = k,
                    .s = *s,
                    .qkv = tensor_of(arena, k, batch * context * width),
                    .rows = tensor_of(arena, k, batch * width),
                    .cache = tensor_of(arena, k, batch * (size_t)s->stride * cache_row(s)),
                    .full = tensor_of(arena, k, batch * context * out),
                    .out = tensor_of(arena, k, batch * out)};

    draw(k, 7, batch * context * width, scale, r.qkv);
    memset(r.cache, 0xff, batch * (size_t)s->stride * cache_row(s) * k->element_bytes);
    for (size_t b = 0; b < batch; b++)
        memcpy(r.rows + b * row, r.qkv + ((b + 1) * context - 1) * row, row);
    append(&r, 0, s->context / 2);
    append(&r, s->context / 2, s->context);
    return r;
}

static void attend_to_all(struct pp_arena *arena, const struct rig *r)
{
    const void *qkv[] = {r->qkv};
    struct pp_attention a = {
        .batch = r->s.batch,
        .tokens = r->s.context,
        .heads = r->s.heads,
        .kv_heads = r->s.kv_heads,
        .head_dim = r->s.head_dim,
        .window = r->s.window,
        .qkv = qkv,
        .out = r->full,
        .lse = pp_arena_alloc(arena,
                              sizeof(double) * (size_t)(r->s.batch * r->s.heads * r->s.context)),
    };

    a.scratch = pp_arena_alloc(arena, r->k->attention_scratch_bytes(&a) + 1);
    r->k->attention_forward(NULL, &a);
}

/* Attends with `batch` sequences from `first` on. */
static void attend(struct pp_arena *arena, const struct rig *r, int first, int batch, void *out)
{
    const size_t bytes = r->k->element_bytes, at = (size_t)first;
    struct pp_attention_cached a = {
        .batch = batch,
        .heads = r->s.heads,
        .kv_heads = r->s.kv_heads,
        .head_dim = r->s.head_dim,
        .context = r->s.context,
        .stride = r->s.stride,
        .window = r->s.window,
        .qkv = r->rows + at * width_of(&r->s) * bytes,
        .cache = r->cache + at * (size_t)r->s.stride * cache_row(&r->s) * bytes,
        .out = out,
    };

    a.scratch = pp_arena_alloc(arena, r->k->attention_cached_scratch_bytes(&a));
    r->k->attention_cached(NULL, &a);
}

/* Rows of `out` are those of the last tokens. */
static void compare(const struct rig *r, double tolerance)
{
    const size_t columns = (size_t)(r->s.heads * r->s.head_dim), context = (size_t)r->s.context;

    for (size_t b = 0; b < (size_t)r->s.batch; b++)
        for (size_t i = 0; i < columns; i++) {
            const size_t last = ((b + 1) * context - 1) * columns + i;
            const double right = pp_number_get(r->full, r->k->element_bytes, (int64_t)last);
            const double got =
                pp_number_get(r->out, r->k->element_bytes, (int64_t)(b * columns + i));
            cr_assert(fabs(got - right) <= tolerance * fmax(1, fabs(right)),
                      "%s, %d of %d heads of %d, context %d, window %d: sequence %zu, element %zu: "
                      "%.17g is not %.17g",
                      r->k->name, r->s.kv_heads, r->s.heads, r->s.head_dim, r->s.context,
                      r->s.window, b, i, got, right);
        }
}

/* Each sequence alone, and pairs of them. */
static void check_batches(struct pp_arena *arena, const struct rig *r)
{
    const size_t row = (size_t)(r->s.heads * r->s.head_dim) * r->k->element_bytes;

    for (int batch = 1; batch <= 2; batch++)
        for (int first = 0; first + batch <= r->s.batch; first++) {
            void *out = pp_arena_alloc(arena, (size_t)batch * row);
            attend(arena, r, first, batch, out);
            cr_assert_arr_eq(out, r->out + (size_t)first * row, (size_t)batch * row);
        }
}

/* Scores are as large as scale^2, and so are the errors that their rounding makes. */
static double tolerance_of(const struct pp_kernels *k, double scale)
{
    const double rounding = k->element_bytes == sizeof(uint16_t) ? 0x1p-8 : 0,
                 sums = k->element_bytes == sizeof(double) ? 1e-12 : 1e-6;

    return rounding + sums * scale * scale;
}

/* All tables on one shape. Levels with fused multiply-add have the same bits. */
static void try_shape(const struct shape *s, double scale)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    const size_t bytes = sizeof(float) * (size_t)(s->batch * s->heads * s->head_dim);
    const char *single = NULL;

    t.of[t.count++] = &pp_kernels_bf16;
    for (int e = 0; e < t.count; e++) {
        struct rig r = rig_of(arena, t.of[e], s, scale);
        attend_to_all(arena, &r);
        attend(arena, &r, 0, s->batch, r.out);
        compare(&r, tolerance_of(r.k, scale));
        check_batches(arena, &r);
        if (e >= 1 && e < t.fused && single)
            cr_assert_arr_eq(single, r.out, bytes);
        single = e == 1 ? r.out : single;
    }
}

Test(kernels_cached, shapes)
{
    static const struct shape shapes[] = {
        {1, 1, 1, 1, 1, 1, 0},        {1, 12, 12, 64, 1, 8, 0},    {3, 4, 2, 16, 17, 20, 0},
        {2, 3, 1, 7, 33, 33, 0},      {2, 6, 3, 40, 64, 70, 0},    {3, 2, 2, 100, 5, 9, 0},
        {1, 12, 12, 64, 300, 512, 0}, {2, 8, 2, 128, 100, 101, 0}, {2, 4, 1, 80, 31, 64, 0},
        {2, 4, 2, 16, 40, 50, 1},     {2, 4, 4, 20, 40, 41, 7},    {1, 2, 1, 64, 200, 256, 100},
        {3, 2, 1, 16, 20, 33, 20},    {3, 2, 1, 16, 20, 33, 4096},
    };

    for (size_t i = 0; i < PP_COUNT(shapes); i++)
        try_shape(&shapes[i], 1);
}

/* Scores of hundreds: a softmax without its maximum would overflow. */
Test(kernels_cached, large_scores)
{
    static const struct shape shapes[] = {{2, 4, 2, 32, 50, 64, 0}, {1, 2, 2, 64, 90, 90, 33}};

    for (size_t i = 0; i < PP_COUNT(shapes); i++)
        try_shape(&shapes[i], 16);
}

Test(kernels_cached, random_shapes)
{
    struct tables t = {.seed = 5};

    for (int i = 0; i < 60; i++) {
        const int kv = tables_int(&t, 1, 4), context = tables_int(&t, 1, 70);
        const struct shape s = {.batch = tables_int(&t, 1, 4),
                                .heads = kv * tables_int(&t, 1, 4),
                                .kv_heads = kv,
                                .head_dim = tables_int(&t, 1, 70),
                                .context = context,
                                .stride = context + tables_int(&t, 0, 9),
                                .window = i % 2 ? tables_int(&t, 1, 80) : 0};
        try_shape(&s, 1);
    }
}

/* Keys and values are found again, to the bit, and other positions stay. */
static void check_append(const struct pp_kernels *k)
{
    enum { BATCH = 3, TOKENS = 4, HEADS = 3, KV = 1, DIM = 5, FIRST = 2, STRIDE = 9 };
    enum { WIDTH = (HEADS + 2 * KV) * DIM, ROW = 2 * KV * DIM };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const size_t bytes = k->element_bytes, row = ROW * bytes;
    char *qkv = tensor_of(arena, k, BATCH * TOKENS * WIDTH),
         *cache = tensor_of(arena, k, BATCH * STRIDE * ROW), *stays = tensor_of(arena, k, ROW);

    draw(k, 3, BATCH * TOKENS * WIDTH, 1, qkv);
    memset(cache, 0x5a, BATCH * STRIDE * row);
    memset(stays, 0x5a, row);
    k->cache_append(
        NULL, &(struct pp_cache_append){BATCH, TOKENS, HEADS, KV, DIM, FIRST, STRIDE, qkv, cache});
    for (int b = 0; b < BATCH; b++)
        for (int at = 0; at < STRIDE; at++) {
            const int token = at - FIRST;
            const bool is_new = token >= 0 && token < TOKENS;
            const char *right =
                is_new ? qkv + (size_t)((b * TOKENS + token) * WIDTH + HEADS * DIM) * bytes : stays;
            cr_assert_arr_eq(cache + (size_t)(b * STRIDE + at) * row, right, row);
        }
}

Test(kernels_cached, append)
{
    check_append(&pp_kernels_reference);
    check_append(pp_kernels_fp32(false));
    check_append(&pp_kernels_bf16);
}
