/* Multiplication and attention: single precision against the reference, at odd sizes, with all
 * flags, grouped heads and splits. */
#include "tests/unit/kernels/cpu/kernel_tables.h"

static void check_fused(const struct tables *t, struct tensor x, double tolerance, int from,
                        const char *what)
{
    tensor_close(t, x, tolerance, what);
    tensor_same(x, from, t->fused, what);
}

static void gemm_case(struct tables *t, int m, int n, int k, int flags)
{
    const bool a_transposed = flags & 1, b_transposed = flags & 2, add = flags & 4;
    const int lda = (a_transposed ? m : k) + tables_int(t, 0, 3);
    const int ldb = (b_transposed ? k : n) + tables_int(t, 0, 3);
    const int ldc = n + tables_int(t, 0, 3);
    const struct tensor a = tensor_random(t, (size_t)((a_transposed ? k : m) * lda), 1);
    const struct tensor b = tensor_random(t, (size_t)((b_transposed ? n : k) * ldb), 1);
    const struct tensor c = tensor_random(t, (size_t)(m * ldc), 1);

    for (int e = 0; e < t->count; e++)
        t->of[e]->gemm(NULL, &(struct pp_gemm){.m = m,
                                               .n = n,
                                               .k = k,
                                               .a_transposed = a_transposed,
                                               .b_transposed = b_transposed,
                                               .base = add ? c.of[e] : NULL,
                                               .a = a.of[e],
                                               .b = b.of[e],
                                               .c = c.of[e],
                                               .lda = lda,
                                               .ldb = ldb,
                                               .ldc = ldc});
    check_fused(t, c, 3e-6, 2, "gemm");
}

Test(kernels_matrix, gemm)
{
    static const int sizes[][3] = {{1, 1, 1},     {1, 17, 3},     {5, 1, 9},    {3, 16, 16},
                                   {8, 32, 8},    {9, 33, 7},     {31, 47, 63}, {64, 64, 32},
                                   {70, 50, 257}, {24, 130, 520}, {13, 96, 300}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int flags = 0; flags < 8; flags++)
            gemm_case(&t, sizes[i][0], sizes[i][1], sizes[i][2], flags);
}

enum { MAX_SPLITS = 3 };
/* Tensors of all splits. */
struct scene {
    struct pp_attention shape;
    int splits;
    struct tensor qkv[MAX_SPLITS], dqkv[MAX_SPLITS], out[MAX_SPLITS], dout[MAX_SPLITS];
    struct tensor lse[MAX_SPLITS];
};

static struct scene scene_of(struct tables *t, struct pp_attention a, int splits)
{
    const size_t rows = (size_t)(a.batch * a.tokens), out = (size_t)(a.heads * a.head_dim);
    const size_t width = out + (size_t)(2 * a.kv_heads * a.head_dim);
    struct scene s = {.shape = a, .splits = splits};

    for (int i = 0; i < splits; i++) {
        s.qkv[i] = tensor_random(t, rows * width, 2);
        s.dqkv[i] = tensor_random(t, rows * width, 1);
        s.out[i] = tensor_random(t, rows * out, 1);
        s.dout[i] = tensor_random(t, rows * out, 1);
        s.lse[i] = tensor_random(t, rows * (size_t)a.heads, 1);
    }
    return s;
}

/* Forward in order, backward in reverse, with one table. */
static void run(const struct scene *s, struct tables *t, int e)
{
    const void *qkv[MAX_SPLITS];
    void *dqkv[MAX_SPLITS];

    for (int i = 0; i < s->splits; i++) {
        qkv[i] = s->qkv[i].of[e];
        dqkv[i] = s->dqkv[i].of[e];
    }
    for (int i = 0; i < 2 * s->splits; i++) {
        struct pp_attention a = s->shape;
        a.split = i < s->splits ? i : 2 * s->splits - 1 - i;
        a.qkv = qkv;
        a.dqkv = dqkv;
        a.add = a.split + 1 < s->splits;
        a.out = s->out[a.split].of[e];
        a.dout = s->dout[a.split].of[e];
        a.lse = s->lse[a.split].of[e];
        a.scratch = pp_arena_alloc(t->arena, t->of[e]->attention_scratch_bytes(&a) + 1);
        if (i < s->splits)
            t->of[e]->attention_forward(NULL, &a);
        else
            t->of[e]->attention_backward(NULL, &a);
    }
}

Test(kernels_matrix, attention)
{
    static const struct {
        struct pp_attention shape;
        int splits;
    } cases[] = {
        {{.batch = 1, .tokens = 1, .heads = 1, .kv_heads = 1, .head_dim = 1}, 1},
        {{.batch = 2, .tokens = 16, .heads = 2, .kv_heads = 2, .head_dim = 32}, 1},
        {{.batch = 2, .tokens = 64, .heads = 2, .kv_heads = 1, .head_dim = 16}, 1},
        {{.batch = 1, .tokens = 150, .heads = 2, .kv_heads = 2, .head_dim = 8}, 1},
        {{.batch = 3, .tokens = 37, .heads = 6, .kv_heads = 2, .head_dim = 7}, 1},
        {{.batch = 2, .tokens = 32, .heads = 4, .kv_heads = 4, .head_dim = 32}, 2},
        {{.batch = 2, .tokens = 19, .heads = 4, .kv_heads = 2, .head_dim = 12}, 3},
        {{.batch = 1, .tokens = 81, .heads = 1, .kv_heads = 1, .head_dim = 20}, 3},
        {{.batch = 2, .tokens = 1, .heads = 2, .kv_heads = 2, .head_dim = 5}, 2},
        {{.batch = 2, .tokens = 150, .heads = 2, .kv_heads = 1, .head_dim = 8, .window = 70}, 1},
        {{.batch = 1, .tokens = 90, .heads = 2, .kv_heads = 2, .head_dim = 20, .window = 1}, 1},
        {{.batch = 2, .tokens = 37, .heads = 4, .kv_heads = 2, .head_dim = 12, .window = 17}, 3},
        {{.batch = 1, .tokens = 81, .heads = 1, .kv_heads = 1, .head_dim = 7, .window = 100}, 3},
        {{.batch = 2, .tokens = 150, .heads = 4, .kv_heads = 2, .head_dim = 8, .is_full = true}, 1},
        {{.batch = 3, .tokens = 19, .heads = 2, .kv_heads = 2, .head_dim = 16, .is_full = true}, 1},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct scene s = scene_of(&t, cases[i].shape, cases[i].splits);
        for (int e = 0; e < t.count; e++)
            run(&s, &t, e);
        for (int j = 0; j < s.splits; j++) {
            check_fused(&t, s.out[j], 2e-6, 1, "out");
            check_fused(&t, s.lse[j], 2e-6, 1, "lse");
            check_fused(&t, s.dqkv[j], 5e-6, 1, "dqkv");
        }
    }
}

/* The last query of a window does not depend on keys before it. With full attention, the first one
 * meets as many keys as the last one of causal attention. */
Test(kernels_matrix, attention_of_a_window_is_that_of_its_keys)
{
    enum { TOKENS = 40, WINDOW = 21, DIM = 16, WIDTH = 3 * DIM };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    struct pp_attention a = {
        .batch = 1, .tokens = TOKENS, .heads = 1, .kv_heads = 1, .head_dim = DIM};
    struct scene causal = scene_of(&t, a, 1), window = scene_of(&t, a, 1),
                 full = scene_of(&t, a, 1);

    window.shape.window = WINDOW;
    full.shape.is_full = true;
    for (int e = 0; e < t.count; e++) {
        const size_t size = t.of[e]->element_bytes;
        char *x = full.qkv[0].of[e], *cut = window.qkv[0].of[e];
        memcpy(x, x + (TOKENS - 1) * WIDTH * size, DIM * size); /* the same query */
        memcpy(causal.qkv[0].of[e], x, TOKENS * WIDTH * size);
        memcpy(cut, x, TOKENS * WIDTH * size);
        run(&causal, &t, e);
        run(&full, &t, e);
        cr_assert_eq(memcmp(full.out[0].of[e],
                            (char *)causal.out[0].of[e] + (TOKENS - 1) * DIM * size, DIM * size),
                     0);
        run(&window, &t, e);
        char *last = pp_arena_alloc(arena, DIM * size);
        memcpy(last, (char *)window.out[0].of[e] + (TOKENS - 1) * DIM * size, DIM * size);
        memset(cut, 0, (TOKENS - WINDOW) * WIDTH * size); /* what it does not meet */
        run(&window, &t, e);
        cr_assert_eq(
            memcmp(last, (char *)window.out[0].of[e] + (TOKENS - 1) * DIM * size, DIM * size), 0);
        memset(cut + (TOKENS - WINDOW) * WIDTH * size, 0,
               WIDTH * size); /* the first that it meets */
        run(&window, &t, e);
        cr_assert_neq(
            memcmp(last, (char *)window.out[0].of[e] + (TOKENS - 1) * DIM * size, DIM * size), 0);
    }
}

/* Rows of split j of whole sequences. */
static void cut(const struct tables *t, struct tensor whole, struct tensor part, int batch,
                int splits, int j)
{
    for (int e = 0; e < t->count; e++) {
        const size_t bytes = part.count / (size_t)batch * t->of[e]->element_bytes;
        for (int b = 0; b < batch; b++)
            memcpy((char *)part.of[e] + (size_t)b * bytes,
                   (const char *)whole.of[e] + (size_t)(b * splits + j) * bytes, bytes);
    }
}

/* Sequences cut into splits give the same outputs to the bit. Gradients are the same except for the
 * order of sums for keys and values. */
Test(kernels_matrix, splits_do_not_change_attention)
{
    enum { SPLITS = 3, TOKENS = 30, BATCH = 2 };
    const struct pp_attention shape = {
        .batch = BATCH, .tokens = TOKENS, .heads = 4, .kv_heads = 2, .head_dim = 12};
    struct pp_attention whole_shape = shape;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    whole_shape.tokens *= SPLITS;
    const struct scene whole = scene_of(&t, whole_shape, 1), parts = scene_of(&t, shape, SPLITS);
    for (int j = 0; j < SPLITS; j++) {
        cut(&t, whole.qkv[0], parts.qkv[j], BATCH, SPLITS, j);
        cut(&t, whole.dout[0], parts.dout[j], BATCH, SPLITS, j);
    }
    for (int e = 0; e < t.count; e++) {
        run(&whole, &t, e);
        run(&parts, &t, e);
    }
    for (int j = 0; j < SPLITS; j++) {
        const struct tensor out = tensor_random(&t, parts.out[j].count, 1);
        const struct tensor grad = tensor_random(&t, parts.dqkv[j].count, 1);
        cut(&t, whole.out[0], out, BATCH, SPLITS, j);
        cut(&t, whole.dqkv[0], grad, BATCH, SPLITS, j);
        for (int e = 1; e < t.count; e++) {
            cr_assert_eq(memcmp(out.of[e], parts.out[j].of[e], sizeof(float) * out.count), 0);
            for (size_t i = 0; i < grad.count; i++)
                cr_assert_float_eq((double)((float *)grad.of[e])[i],
                                   (double)((float *)parts.dqkv[j].of[e])[i], 1e-5);
        }
    }
}
