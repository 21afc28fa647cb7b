/* The table of bfloat16, kernel by kernel, against the reference on the same numbers. */
#include "tests/unit/kernels/cpu/bf16_pairs.h"

static const struct pp_kernels *const b = &pp_kernels_bf16, *const r = &pp_kernels_reference;
static const double EXACT = 1e-12; /* slack where nothing but one rounding is between both */
static struct pairs p;

static void set_up(void)
{
    p = (struct pairs){.arena = pp_arena_create(), .seed = 1};
}

static void tear_down(void)
{
    pp_arena_destroy(p.arena);
}

TestSuite(kernels_bf16, .init = set_up, .fini = tear_down);

/* ---- numbers ---------------------------------------------------------------------------------*/

Test(kernels_bf16, rounds_to_nearest_even)
{
    static const struct {
        float from;
        uint16_t to;
    } cases[] = {
        {0.0f, 0x0000},
        {-0.0f, 0x8000},
        {1.0f, 0x3f80},
        {0x1.01p0f, 0x3f80},
        {0x1.03p0f, 0x3f82},
        {0x1.010002p0f, 0x3f81},
        {-0x1.03p0f, 0xbf82},
        {0x1p-133f, 0x0001},
        {0x1p-134f, 0x0000},
        {0x1.8p-133f, 0x0002},
        {0x1.fffffep127f, 0x7f80},
        {0x1.fep127f, 0x7f7f},
        {(float)INFINITY, 0x7f80},
        {-(float)INFINITY, 0xff80},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(pp_bf16_round(cases[i].from), cases[i].to, "%a becomes %04x, not %04x",
                     (double)cases[i].from, pp_bf16_round(cases[i].from), cases[i].to);
    cr_assert(isnan(pp_bf16_value(pp_bf16_round((float)NAN))));
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const float value = pp_bf16_value((uint16_t)bits);
        cr_assert(isnan(value) ? isnan(pp_bf16_value(pp_bf16_round(value)))
                               : pp_bf16_round(value) == bits);
    }
}

/* ---- multiplication --------------------------------------------------------------------------*/

enum { BASE = 1, IN_PLACE = 2, BIAS = 4, ACTIVATED = 8, GELU_OF = 16, IS_GRADIENT = 32 };

static void gemm_case(int m, int n, int k, int transposed, int flags)
{
    const enum element element = flags & IS_GRADIENT ? OF_G : OF_T;
    struct pp_gemm g = {.m = m,
                        .n = n,
                        .k = k,
                        .a_transposed = transposed & 1,
                        .b_transposed = transposed & 2,
                        .is_gradient = flags & IS_GRADIENT,
                        .lda = (transposed & 1 ? m : k) + 2,
                        .ldb = (transposed & 2 ? k : n) + 1,
                        .ldc = n + 3};
    const size_t size = (size_t)(m * g.ldc);
    const struct pair x = pair_random(&p, OF_T, (size_t)((transposed & 1 ? k : m) * g.lda), 1),
                      y = pair_random(&p, OF_T, (size_t)((transposed & 2 ? n : k) * g.ldb), 1),
                      c = pair_random(&p, element, size, 1),
                      base = pair_random(&p, element, size, 2),
                      bias = pair_random(&p, OF_T, (size_t)n, 2),
                      slope_of = pair_random(&p, OF_T, size, 2),
                      activated = pair_random(&p, OF_T, size, 1);

    for (int is_reference = 0; is_reference < 2; is_reference++) {
#define SIDE(pair) (is_reference ? (void *)(pair).real : (pair).of)
        g.a = SIDE(x);
        g.b = SIDE(y);
        g.c = SIDE(c);
        g.base = !(flags & BASE) ? NULL : flags & IN_PLACE ? g.c : SIDE(base);
        g.bias = flags & BIAS ? SIDE(bias) : NULL;
        g.slope_of = flags & GELU_OF ? SIDE(slope_of) : NULL;
        g.activated = flags & ACTIVATED ? SIDE(activated) : NULL;
#undef SIDE
        (is_reference ? r : b)->gemm(NULL, &g);
    }
    /* gelu reads c as it is stored, so that it is off by a unit of c, too */
    pair_close(activated, flags & ACTIVATED ? 0x1p-7 : 0, "activated");
    pair_close(c, EXACT, "c");
}

Test(kernels_bf16, gemm)
{
    static const int sizes[][3] = {
        {1, 1, 1}, {5, 1, 9}, {16, 64, 64}, {17, 65, 66}, {40, 130, 200}};
    static const int combinations[] = {
        0,    BASE,        BASE | IN_PLACE,  IS_GRADIENT, BASE | IN_PLACE | IS_GRADIENT,
        BIAS, BASE | BIAS, BIAS | ACTIVATED, GELU_OF};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int transposed = 0; transposed < 4; transposed++)
            for (size_t j = 0; j < sizeof combinations / sizeof *combinations; j++)
                gemm_case(sizes[i][0], sizes[i][1], sizes[i][2], transposed, combinations[j]);
}

/* ---- rows ------------------------------------------------------------------------------------*/

static const int widths[] = {1, 2, 7, 64, 65, 200};
enum { WIDTHS = sizeof widths / sizeof *widths };

Test(kernels_bf16, biases_and_their_sums)
{
    for (int i = 0; i < 2 * WIDTHS; i++) {
        const int width = widths[i / 2], rows = pairs_int(&p, 1, 40);
        const struct pair x = pair_random(&p, OF_T, (size_t)(rows * width), 1),
                          bias = pair_random(&p, OF_T, (size_t)width, 1),
                          sum = pair_random(&p, OF_G, (size_t)width, 1);
        b->sum_rows(NULL, rows, width, x.of, sum.of, i % 2);
        r->sum_rows(NULL, rows, width, x.real, sum.real, i % 2);
        b->add_bias(NULL, rows, width, bias.of, x.of);
        r->add_bias(NULL, rows, width, bias.real, x.real);
        pair_close(sum, EXACT, "sum_rows");
        pair_close(x, EXACT, "add_bias");
    }
}

static void norm_case(int width, bool is_rms, bool has_beta, bool add)
{
    const int rows = pairs_int(&p, 1, 20);
    const size_t size = (size_t)(rows * width), columns = (size_t)width;
    const struct pair x = pair_random(&p, OF_T, size, 3), y = pair_random(&p, OF_T, size, 1),
                      dy = pair_random(&p, OF_T, size, 1), dx = pair_random(&p, OF_T, size, 1),
                      gamma = pair_random(&p, OF_T, columns, 1),
                      beta = pair_random(&p, OF_T, columns, 1),
                      stats = pair_random(&p, OF_G, 2 * (size_t)rows, 1),
                      dgamma = pair_random(&p, OF_G, columns, 1),
                      dbeta = pair_random(&p, OF_G, columns, 1),
                      gamma_sum = pair_random(&p, OF_G, columns, 1),
                      beta_sum = pair_random(&p, OF_G, columns, 1);
    const struct pp_norm shape = {.rows = rows, .width = width, .is_rms = is_rms, .epsilon = 1e-2};
    struct pp_norm n = shape, m = shape;

    n.x = x.of, n.y = y.of, n.gamma = gamma.of, n.beta = has_beta ? beta.of : NULL;
    n.stats = stats.of, n.dy = dy.of, n.dx = dx.of;
    n.base = is_rms ? dx.of : NULL, m.base = is_rms ? dx.real : NULL;
    m.x = x.real, m.y = y.real, m.gamma = gamma.real, m.beta = has_beta ? beta.real : NULL;
    m.stats = stats.real, m.dy = dy.real, m.dx = dx.real;
    n.dgamma = dgamma.of, n.dbeta = has_beta ? dbeta.of : NULL;
    m.dgamma = dgamma.real, m.dbeta = has_beta ? dbeta.real : NULL;
    n.dgamma_added = add ? gamma_sum.of : NULL,
    n.dbeta_added = add && has_beta ? beta_sum.of : NULL;
    m.dgamma_added = add ? gamma_sum.real : NULL;
    m.dbeta_added = add && has_beta ? beta_sum.real : NULL;
    b->norm_forward(NULL, &n);
    r->norm_forward(NULL, &m);
    pair_close(y, 1e-6, "norm_forward"); /* statistics are floats */
    pair_close(stats, EXACT, "stats");
    b->norm_backward(NULL, &n);
    r->norm_backward(NULL, &m);
    pair_close(dx, EXACT, "norm_backward");
    pair_close(dgamma, EXACT, "dgamma");
    pair_close(dbeta, EXACT, "dbeta");
    pair_close(gamma_sum, 1e-6, "sum of dgamma");
    pair_close(beta_sum, 1e-6, "sum of dbeta");
}

Test(kernels_bf16, norm)
{
    for (int i = 0; i < 8 * WIDTHS; i++)
        norm_case(widths[i / 8], i & 1, i & 2, i & 4);
}

Test(kernels_bf16, activations)
{
    for (int i = 0; i < WIDTHS * PP_ACTIVATIONS; i++) {
        const enum pp_activation f = (enum pp_activation)(i % PP_ACTIVATIONS);
        const int width = widths[i / PP_ACTIVATIONS], rows = 3;
        const size_t size = (size_t)(rows * width);
        const struct pair x = pair_random(&p, OF_T, 2 * size, i % 2 ? 1 : 12),
                          y = pair_random(&p, OF_T, size, 1), dy = pair_random(&p, OF_T, size, 1),
                          dx = pair_random(&p, OF_T, 2 * size, 1);
        b->gate_forward(NULL, f, rows, width, x.of, y.of);
        r->gate_forward(NULL, f, rows, width, x.real, y.real);
        pair_close(y, EXACT, "gate_forward");
        b->gate_backward(NULL, f, rows, width, x.of, dy.of, dx.of);
        r->gate_backward(NULL, f, rows, width, x.real, dy.real, dx.real);
        pair_close(dx, EXACT, "gate_backward");
        b->activate_forward(NULL, f, (int64_t)size, x.of, y.of);
        r->activate_forward(NULL, f, (int64_t)size, x.real, y.real);
        pair_close(y, EXACT, "activate_forward");
        b->activate_backward(NULL, f, (int64_t)size, x.of, dy.of, dy.of);
        r->activate_backward(NULL, f, (int64_t)size, x.real, dy.real, dy.real);
        pair_close(dy, EXACT, "activate_backward");
        b->gate_backward(NULL, f, rows, width, x.of, y.of, x.of);
        r->gate_backward(NULL, f, rows, width, x.real, y.real, x.real);
        pair_close(x, EXACT, "gate_backward in place");
    }
}

/* ---- attention -------------------------------------------------------------------------------*/

enum { MOST_SPLITS = 3 };
struct scene {
    struct pp_attention shape;
    struct pair qkv[MOST_SPLITS], dqkv[MOST_SPLITS], out[MOST_SPLITS], dout[MOST_SPLITS];
    struct pair lse[MOST_SPLITS];
};

static void attend(const struct scene *s, int split, bool is_backward, bool add)
{
    const void *qkv[2][MOST_SPLITS];
    void *dqkv[2][MOST_SPLITS];

    for (int j = 0; j <= split; j++) {
        qkv[0][j] = s->qkv[j].of;
        qkv[1][j] = s->qkv[j].real;
        dqkv[0][j] = s->dqkv[j].of;
        dqkv[1][j] = s->dqkv[j].real;
    }
    for (int side = 0; side < 2; side++) {
        const struct pp_kernels *k = side ? r : b;
        struct pp_attention a = s->shape;
        a.split = split;
        a.qkv = qkv[side];
        a.dqkv = dqkv[side];
        a.add = add;
        a.out = side ? s->out[split].real : s->out[split].of;
        a.dout = side ? s->dout[split].real : s->dout[split].of;
        a.lse = side ? s->lse[split].real : s->lse[split].of;
        a.scratch = pp_arena_alloc(p.arena, k->attention_scratch_bytes(&a) + 1);
        (is_backward ? k->attention_backward : k->attention_forward)(NULL, &a);
    }
}

static void attention_case(struct pp_attention shape, int splits)
{
    const size_t rows = (size_t)(shape.batch * shape.tokens),
                 out = (size_t)(shape.heads * shape.head_dim),
                 width = out + (size_t)(2 * shape.kv_heads * shape.head_dim);
    struct scene s = {.shape = shape};

    for (int j = 0; j < splits; j++) {
        s.qkv[j] = pair_random(&p, OF_T, rows * width, 2);
        s.dqkv[j] = pair_random(&p, OF_T, rows * width, 0.5);
        s.out[j] = pair_random(&p, OF_T, rows * out, 1);
        s.dout[j] = pair_random(&p, OF_T, rows * out, 1);
        s.lse[j] = pair_random(&p, OF_G, rows * (size_t)shape.heads, 1);
    }
    for (int j = 0; j < splits; j++) {
        attend(&s, j, false, false);
        pair_close(s.out[j], EXACT, "out");
        pair_close(s.lse[j], EXACT, "lse");
    }
    for (int j = splits - 1; j >= 0; j--) {
        attend(&s, j, true, j + 1 < splits);
        for (int i = 0; i <= j; i++)
            pair_close(s.dqkv[i], 1e-9, "dqkv");
    }
}

Test(kernels_bf16, attention)
{
    static const struct {
        struct pp_attention shape;
        int splits;
    } cases[] = {
        {{.batch = 1, .tokens = 1, .heads = 1, .kv_heads = 1, .head_dim = 1}, 1},
        {{.batch = 2, .tokens = 16, .heads = 2, .kv_heads = 2, .head_dim = 32}, 1},
        {{.batch = 3, .tokens = 37, .heads = 6, .kv_heads = 2, .head_dim = 7}, 1},
        {{.batch = 2, .tokens = 8, .heads = 4, .kv_heads = 4, .head_dim = 16}, 2},
        {{.batch = 2, .tokens = 19, .heads = 4, .kv_heads = 1, .head_dim = 12}, 3},
        {{.batch = 2, .tokens = 19, .heads = 4, .kv_heads = 1, .head_dim = 12, .window = 23}, 3},
        {{.batch = 1, .tokens = 37, .heads = 2, .kv_heads = 2, .head_dim = 7, .window = 5}, 1},
        {{.batch = 2, .tokens = 19, .heads = 4, .kv_heads = 2, .head_dim = 8, .is_full = true}, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        attention_case(cases[i].shape, cases[i].splits);
}

Test(kernels_bf16, rotate)
{
    for (int half = 1; half < 40; half += 3)
        for (int is_inverse = 0; is_inverse < 2; is_inverse++) {
            enum { BATCH = 2, TOKENS = 9, HEADS = 3, FIRST = 1000 };
            const int head_dim = 2 * half + half % 4, stride = (HEADS + 1) * head_dim;
            const struct pair x = pair_random(&p, OF_T, (size_t)(BATCH * TOKENS * stride), 1);
            const struct pp_rotation rotation = {
                BATCH,
                TOKENS,
                HEADS,
                head_dim,
                stride,
                FIRST,
                {.dim = 2 * half, .theta = 1e4, .factor = half % 2 ? 4 : 0},
                is_inverse};
            b->rotate(NULL, &rotation, x.of);
            r->rotate(NULL, &rotation, x.real);
            pair_close(x, EXACT, "rotate");
        }
}

/* ---- both ends -------------------------------------------------------------------------------*/

static int32_t *random_ids(int count, int vocab)
{
    int32_t *ids = PP_ARRAY(p.arena, int32_t, count);

    for (int i = 0; i < count; i++)
        ids[i] = pairs_int(&p, 0, vocab - 1);
    return ids;
}

Test(kernels_bf16, embed)
{
    enum { BATCH = 3, TOKENS = 5, FIRST = 6, STRIDE = 13, VOCAB = 10 };

    for (int i = 0; i < 4 * WIDTHS; i++) {
        const int width = widths[i / 4];
        const bool has_positions = i & 1, add = i & 2;
        const int32_t *ids = random_ids(BATCH * STRIDE, VOCAB);
        const struct pair table = pair_random(&p, OF_T, (size_t)(VOCAB * width), 1),
                          places = pair_random(&p, OF_T, (size_t)(STRIDE * width), 1),
                          y = pair_random(&p, OF_T, (size_t)(BATCH * TOKENS * width), 1),
                          dtable = pair_random(&p, OF_G, table.count, 1),
                          dplaces = pair_random(&p, OF_G, places.count, 1);
        const int first_word = i % 3; /* ids before it have no row here */
        struct pp_embedding e = {BATCH,     TOKENS,
                                 FIRST,     STRIDE,
                                 width,     first_word,
                                 VOCAB - 3, ids,
                                 table.of,  has_positions ? places.of : NULL,
                                 y.of,      y.of,
                                 dtable.of, has_positions ? dplaces.of : NULL,
                                 add};
        b->embed_forward(NULL, &e);
        b->embed_backward(NULL, &e);
        e.table = table.real;
        e.positions = has_positions ? places.real : NULL;
        e.dy = e.y = y.real;
        e.dtable = dtable.real;
        e.dpositions = has_positions ? dplaces.real : NULL;
        r->embed_forward(NULL, &e);
        pair_close(y, EXACT, "embed_forward");
        r->embed_backward(NULL, &e);
        pair_close(dtable, 1e-6, "dtable"); /* sums of floats, row by row */
        pair_close(dplaces, 1e-6, "dpositions");
    }
}

Test(kernels_bf16, cross_entropy)
{
    enum { BATCH = 2, TOKENS = 3, FIRST = 4, STRIDE = 7 };

    for (int i = 0; i < WIDTHS; i++) {
        const int vocab = widths[i];
        int32_t *targets = random_ids(BATCH * STRIDE, vocab);
        const int ld = vocab + i % 3 * 5;
        const struct pair x = pair_random(&p, OF_T, (size_t)(BATCH * TOKENS * ld), 20);
        double loss[2][BATCH * TOKENS];
        targets[FIRST + i % TOKENS] = -1;
        b->cross_entropy(NULL, BATCH, TOKENS, FIRST, STRIDE, vocab, ld, targets, 0.5, x.of,
                         loss[0]);
        r->cross_entropy(NULL, BATCH, TOKENS, FIRST, STRIDE, vocab, ld, targets, 0.5, x.real,
                         loss[1]);
        pair_close(x, EXACT, "cross_entropy");
        for (int j = 0; j < BATCH * TOKENS; j++)
            cr_assert_float_eq(loss[0][j], loss[1][j], 1e-12 * (1 + loss[1][j]));
    }
}

/* ---- update ----------------------------------------------------------------------------------*/

/* Master weights are updated as weights in single precision are, to the bit. */
Test(kernels_bf16, adamw_updates_the_master_and_rounds_it)
{
    enum { COUNT = 101 };
    const struct pp_kernels *single = pp_kernels_fp32(false);
    const struct pp_adamw a = {0.9, 0.99, 1e-8, 0.1};
    const struct pp_adamw_step now = {1e-2, 0.5, 0.25, 0.5};
    const struct pp_flat_tensor tensor = {0, COUNT, true};
    float g[COUNT], used[2][COUNT], m[2][COUNT] = {{0}}, v[2][COUNT] = {{0}}, w[2][COUNT];
    uint16_t rounded[COUNT] = {0};
    const struct pp_flat flat[] = {{&tensor, 1, 0, COUNT, used[0]},
                                   {&tensor, 1, 0, COUNT, used[1]}};

    for (int i = 0; i < COUNT; i++) {
        g[i] = (float)pairs_random(&p);
        w[0][i] = w[1][i] = (float)pairs_random(&p);
    }
    for (int step = 0; step < 5; step++) {
        memcpy(used[0], g, sizeof g);
        memcpy(used[1], g, sizeof g);
        b->adamw(NULL, &flat[0], &a, &now, rounded, w[0], m[0], v[0]);
        single->adamw(NULL, &flat[1], &a, &now, w[1], NULL, m[1], v[1]);
        cr_assert_eq(memcmp(w[0], w[1], sizeof w[0]), 0);
        cr_assert_eq(memcmp(m[0], m[1], sizeof m[0]), 0);
        cr_assert_eq(memcmp(v[0], v[1], sizeof v[0]), 0);
        for (int i = 0; i < COUNT; i++)
            cr_assert_eq(rounded[i], pp_bf16_round(w[0][i]));
    }
}
