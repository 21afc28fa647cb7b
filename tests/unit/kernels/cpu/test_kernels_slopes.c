/* Gradients of the reference are derivatives: central differences of its own forward, in double. A
 * loss is the sum of the outputs with fixed random weights. */
#include "tests/unit/kernels/cpu/kernel_tables.h"

/* A function of `count` inputs: the loss, from inputs in x. */
struct function {
    void *context;
    double (*loss)(void *context, const double *x);
};

/* gradient[i] = d loss / d x[i], by differences of fourth order. */
static void check_slopes(struct function f, size_t count, double *x, const double *gradient,
                         const char *what)
{
    const double h = 1e-3;
    double largest = 0;

    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(gradient[i]));
    cr_assert_gt(largest, 0, "%s: no gradient", what);
    for (size_t i = 0; i < count; i++) {
        static const double weights[] = {1 / 12.0, -2 / 3.0, 0, 2 / 3.0, -1 / 12.0};
        const double at = x[i];
        double slope = 0;
        for (int j = 0; j < 5; j++) {
            x[i] = at + (j - 2) * h;
            slope += j == 2 ? 0 : weights[j] * f.loss(f.context, x) / h;
        }
        x[i] = at;
        cr_assert(fabs(slope - gradient[i]) <= 1e-7 * largest,
                  "%s: element %zu: %.12g is not %.12g", what, i, gradient[i], slope);
    }
}

static const struct pp_kernels *const k = &pp_kernels_reference;

static double *random_doubles(struct tables *t, size_t count, double scale)
{
    return tensor_random(t, count, scale).of[0];
}

static double weighted(size_t count, const double *y, const double *dy)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += y[i] * dy[i];
    return sum;
}

/* ---- norms ----------------------------------------------------------------------------------- */

enum { ROWS = 3, WIDTH = 7, SIZE = ROWS * WIDTH };

static double norm_loss_x(void *context, const double *x)
{
    struct pp_norm n = *(struct pp_norm *)context;

    n.x = x;
    k->norm_forward(NULL, &n);
    return weighted(SIZE, n.y, n.dy);
}

static double norm_loss_gamma(void *context, const double *gamma)
{
    struct pp_norm n = *(struct pp_norm *)context;

    n.gamma = gamma;
    k->norm_forward(NULL, &n);
    return weighted(SIZE, n.y, n.dy);
}

static double norm_loss_beta(void *context, const double *beta)
{
    struct pp_norm n = *(struct pp_norm *)context;

    n.beta = beta;
    k->norm_forward(NULL, &n);
    return weighted(SIZE, n.y, n.dy);
}

Test(kernels_slopes, norm)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int is_rms = 0; is_rms < 2; is_rms++) {
        double *x = random_doubles(&t, SIZE, 1), *gamma = random_doubles(&t, WIDTH, 1);
        double *beta = random_doubles(&t, WIDTH, 1), dx[SIZE] = {0}, dgamma[WIDTH], dbeta[WIDTH];
        struct pp_norm n = {.rows = ROWS,
                            .width = WIDTH,
                            .is_rms = is_rms,
                            .epsilon = 1e-2,
                            .x = x,
                            .gamma = gamma,
                            .beta = beta,
                            .y = random_doubles(&t, SIZE, 1),
                            .stats = random_doubles(&t, 2 * ROWS, 1),
                            .dy = random_doubles(&t, SIZE, 1),
                            .base = dx,
                            .dx = dx,
                            .dgamma = dgamma,
                            .dbeta = dbeta};
        k->norm_forward(NULL, &n);
        k->norm_backward(NULL, &n);
        check_slopes((struct function){&n, norm_loss_x}, SIZE, x, dx, "norm x");
        check_slopes((struct function){&n, norm_loss_gamma}, WIDTH, gamma, dgamma, "norm gamma");
        check_slopes((struct function){&n, norm_loss_beta}, WIDTH, beta, dbeta, "norm beta");
    }
}

/* ---- activations ----------------------------------------------------------------------------- */

static enum pp_activation f;

static double activation_loss(void *context, const double *x)
{
    double y[SIZE];

    k->activate_forward(NULL, f, SIZE, x, y);
    return weighted(SIZE, y, context);
}

static double gate_loss(void *context, const double *x)
{
    double y[SIZE];

    k->gate_forward(NULL, f, ROWS, WIDTH, x, y);
    return weighted(SIZE, y, context);
}

Test(kernels_slopes, activations)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    double *x = random_doubles(&t, 2 * SIZE, 3), *dy = random_doubles(&t, SIZE, 1), dx[2 * SIZE];

    for (f = 0; f < PP_ACTIVATIONS; f++) {
        k->activate_backward(NULL, f, SIZE, x, dy, dx);
        check_slopes((struct function){dy, activation_loss}, SIZE, x, dx, "activation");
        k->gate_backward(NULL, f, ROWS, WIDTH, x, dy, dx);
        check_slopes((struct function){dy, gate_loss}, 2 * SIZE, x, dx, "gate");
    }
}

/* ---- cross entropy --------------------------------------------------------------------------- */

static const int32_t targets[ROWS] = {2, 0, 6};

static double entropy_loss(void *context, const double *x)
{
    double logits[SIZE], loss[ROWS], sum = 0;

    memcpy(logits, x, sizeof logits);
    k->cross_entropy(NULL, 1, ROWS, 0, ROWS, WIDTH, WIDTH, targets, 1, logits, loss);
    for (int i = 0; i < ROWS; i++)
        sum += loss[i];
    return sum * *(double *)context;
}

Test(kernels_slopes, cross_entropy)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    double *x = random_doubles(&t, SIZE, 3), gradient[SIZE], loss[ROWS], scale = 0.25;

    memcpy(gradient, x, sizeof gradient);
    k->cross_entropy(NULL, 1, ROWS, 0, ROWS, WIDTH, WIDTH, targets, scale, gradient, loss);
    check_slopes((struct function){&scale, entropy_loss}, SIZE, x, gradient, "cross entropy");
}

/* ---- attention, in splits -------------------------------------------------------------------- */

enum { SPLITS = 2, BATCH = 2, TOKENS = 3, HEADS = 4, KV_HEADS = 2, DIM = 2 };
enum { TOKEN = (HEADS + 2 * KV_HEADS) * DIM, QKV = BATCH * TOKENS * TOKEN };
enum { OUT = BATCH * TOKENS * HEADS * DIM };

struct attention {
    int window;
    bool is_full;
    double *dout[SPLITS], out[SPLITS][OUT], lse[SPLITS][BATCH * HEADS * TOKENS];
};

static struct pp_attention attention_of(struct attention *s, int split, const void *const *qkv,
                                        void *const *dqkv)
{
    return (struct pp_attention){.batch = BATCH,
                                 .tokens = TOKENS,
                                 .heads = HEADS,
                                 .kv_heads = KV_HEADS,
                                 .head_dim = DIM,
                                 .split = s->is_full ? 0 : split,
                                 .window = s->window,
                                 .is_full = s->is_full,
                                 .qkv = s->is_full ? qkv + split : qkv,
                                 .out = s->out[split],
                                 .lse = s->lse[split],
                                 .dout = s->dout[split],
                                 .dqkv = s->is_full && dqkv ? dqkv + split : dqkv,
                                 .add = !s->is_full && split + 1 < SPLITS};
}

static double attention_loss(void *context, const double *x)
{
    struct attention *s = context;
    const void *qkv[SPLITS] = {x, x + QKV};
    double sum = 0;

    for (int i = 0; i < SPLITS; i++) {
        const struct pp_attention a = attention_of(s, i, qkv, NULL);
        k->attention_forward(NULL, &a);
        sum += weighted(OUT, s->out[i], s->dout[i]);
    }
    return sum;
}

static void attention_slopes(int window, bool is_full)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    double *x = random_doubles(&t, SPLITS * QKV, 2), dx[SPLITS * QKV] = {0};
    struct attention s = {.window = window,
                          .is_full = is_full,
                          .dout = {random_doubles(&t, OUT, 1), random_doubles(&t, OUT, 1)}};
    const void *qkv[SPLITS] = {x, x + QKV};
    void *dqkv[SPLITS] = {dx, dx + QKV};

    attention_loss(&s, x);
    for (int i = SPLITS; i-- > 0;) {
        const struct pp_attention a = attention_of(&s, i, qkv, dqkv);
        k->attention_backward(NULL, &a);
    }
    check_slopes((struct function){&s, attention_loss}, SPLITS * QKV, x, dx, "attention");
}

Test(kernels_slopes, attention)
{
    attention_slopes(0, false);
}

Test(kernels_slopes, attention_in_windows)
{
    attention_slopes(2, false);
}

/* Each split is a sequence of its own. */
Test(kernels_slopes, full_attention)
{
    attention_slopes(0, true);
}
