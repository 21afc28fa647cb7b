/* The reference table: double precision, element by element. */
#include "kernels/cpu/balance.h"
#include "kernels/kernels.h"

typedef double element, gradient;

static double at(const void *x, size_t i)
{
    return ((const double *)x)[i];
}

static element from(double value)
{
    return value;
}

#include "kernels/cpu/plain_cached.h"
#include "kernels/cpu/plain_experts.h"
#include "kernels/cpu/plain_packed.h"

static const char *about(void)
{
    return "plain loops in double precision";
}

/* ---- products and sums over rows ------------------------------------------------------------- */

/* c = op(a) op(b), plus c unless base is NULL: without the epilogue. */
static void multiply(void *stream, const struct pp_gemm *g)
{
    const double *a = g->a, *b = g->b;
    double *c = g->c;
    const size_t a_row = g->a_transposed ? 1 : (size_t)g->lda;
    const size_t a_column = g->a_transposed ? (size_t)g->lda : 1;
    const size_t b_row = g->b_transposed ? 1 : (size_t)g->ldb;
    const size_t b_column = g->b_transposed ? (size_t)g->ldb : 1;

    (void)stream;
    for (size_t i = 0; i < (size_t)g->m; i++)
        for (size_t j = 0; j < (size_t)g->n; j++) {
            double sum = 0;
            for (size_t p = 0; p < (size_t)g->k; p++)
                sum += a[i * a_row + p * a_column] * b[p * b_row + j * b_column];
            double *to = &c[i * (size_t)g->ldc + j];
            *to = g->base != NULL ? *to + sum : sum;
        }
}

static void gemm(void *stream, const struct pp_gemm *g)
{
    pp_gemm_compose(&pp_kernels_reference, multiply, stream, g);
}

static void sum_rows(void *stream, int rows, int width, const void *dy, void *dbias, bool add)
{
    const double *from = dy;
    double *to = dbias;

    (void)stream;
    for (size_t i = 0; i < (size_t)width; i++) {
        double sum = 0;
        for (size_t r = 0; r < (size_t)rows; r++)
            sum += from[r * (size_t)width + i];
        to[i] = add ? to[i] + sum : sum;
    }
}

/* With h = (x - mean) / deviation and g = dy gamma:
 *   dx = (g - mean(g) - h mean(g h)) / deviation
 * Without a mean in the forward, mean(g) is left out. */
static void norm_inputs(const struct pp_norm *n)
{
    const double *gamma = n->gamma, *stats = n->stats;

    for (size_t r = 0; r < (size_t)n->rows; r++) {
        const size_t at = pp_norm_row(n, r);
        const double *x = (const double *)n->x + at, *dy = (const double *)n->dy + at;
        const double *base = n->base ? (const double *)n->base + at : NULL;
        double *dx = (double *)n->dx + at;
        const double mean = stats[2 * r], inverse = stats[2 * r + 1];
        double mean_g = 0, mean_gh = 0;

        for (int i = 0; i < n->width; i++) {
            const double g = dy[i] * gamma[i];
            mean_g += n->is_rms ? 0 : g / n->width;
            mean_gh += g * (x[i] - mean) * inverse / n->width;
        }
        for (int i = 0; i < n->width; i++)
            dx[i] = (base ? base[i] : 0) +
                    inverse * (dy[i] * gamma[i] - mean_g - (x[i] - mean) * inverse * mean_gh);
    }
}

static void norm_backward(void *stream, const struct pp_norm *n)
{
    const double *x = n->x, *dy = n->dy, *stats = n->stats;
    const size_t width = (size_t)n->width;
    double *to = n->dgamma;

    for (size_t i = 0; i < width; i++) {
        double sum = 0;
        for (size_t r = 0; r < (size_t)n->rows; r++)
            sum += dy[pp_norm_row(n, r) + i] * (x[pp_norm_row(n, r) + i] - stats[2 * r]) *
                   stats[2 * r + 1];
        to[i] = sum;
        if (n->dgamma_added)
            ((double *)n->dgamma_added)[i] += sum;
    }
    if (n->dbeta)
        sum_rows(stream, n->rows, n->width, n->dy, n->dbeta, false);
    if (n->dbeta_added)
        sum_rows(stream, n->rows, n->width, n->dy, n->dbeta_added, true);
    norm_inputs(n);
    if (n->dx_sum)
        sum_rows(stream, n->rows, n->width, n->dx, n->dx_sum, false);
    if (n->dx_added)
        sum_rows(stream, n->rows, n->width, n->dx, n->dx_added, true);
}

/* ---- attention, row by row of scores --------------------------------------------------------- */

/* Offsets of one query in every tensor. */
struct query {
    const struct pp_attention *a;
    size_t batch, width, key_offset, value_offset; /* width: of a token in qkv */
    size_t offset, out_offset;                     /* place of the query in qkv[split], in out */
    struct pp_keys keys;
    double scale;
    double *lse;
};

static struct query query_of(const struct pp_attention *a, int b, int h, int t)
{
    const size_t dim = (size_t)a->head_dim, row = (size_t)b * (size_t)a->tokens + (size_t)t;
    const size_t key_head = (size_t)(h / (a->heads / a->kv_heads));
    const size_t width = (size_t)(a->heads + 2 * a->kv_heads) * dim;

    return (struct query){
        .a = a,
        .batch = (size_t)b,
        .width = width,
        .key_offset = ((size_t)a->heads + key_head) * dim,
        .value_offset = ((size_t)(a->heads + a->kv_heads) + key_head) * dim,
        .offset = row * width + (size_t)h * dim,
        .out_offset = (row * (size_t)a->heads + (size_t)h) * dim,
        .keys = pp_keys_met(a, t),
        .scale = 1 / sqrt(a->head_dim),
        .lse = (double *)a->lse + ((size_t)(b * a->heads + h) * (size_t)a->tokens + (size_t)t),
    };
}

/* Offset of token `key` of the query's sequence in qkv[key / tokens]. */
static size_t token_offset(const struct query *q, int key)
{
    const size_t tokens = (size_t)q->a->tokens;

    return (q->batch * tokens + (size_t)key % tokens) * q->width;
}

static const double *values_at(const struct query *q, int key, size_t offset)
{
    return (const double *)q->a->qkv[key / q->a->tokens] + token_offset(q, key) + offset;
}

static double *gradients_at(const struct query *q, int key, size_t offset)
{
    return (double *)q->a->dqkv[key / q->a->tokens] + token_offset(q, key) + offset;
}

static double dot(int count, const double *x, const double *y)
{
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

static double score(const struct query *q, int key)
{
    const double *x = (const double *)q->a->qkv[q->a->split] + q->offset;

    return q->scale * dot(q->a->head_dim, x, values_at(q, key, q->key_offset));
}

static void forward(const struct query *q)
{
    double *out = (double *)q->a->out + q->out_offset, max = -INFINITY, sum = 0;

    for (int key = q->keys.from; key < q->keys.until; key++)
        max = fmax(max, score(q, key));
    for (int key = q->keys.from; key < q->keys.until; key++)
        sum += exp(score(q, key) - max);
    *q->lse = max + log(sum);
    for (int i = 0; i < q->a->head_dim; i++)
        out[i] = 0;
    for (int key = q->keys.from; key < q->keys.until; key++) {
        const double p = exp(score(q, key) - *q->lse);
        for (int i = 0; i < q->a->head_dim; i++)
            out[i] += p * values_at(q, key, q->value_offset)[i];
    }
}

/* d score = p (dp - sum of p dp), and that sum is dout . out (Dao et al. 2022). */
static void backward(const struct query *q)
{
    const double *dout = (const double *)q->a->dout + q->out_offset;
    const double *x = (const double *)q->a->qkv[q->a->split] + q->offset;
    double *dx = (double *)q->a->dqkv[q->a->split] + q->offset;
    const double sum = dot(q->a->head_dim, dout, (const double *)q->a->out + q->out_offset);

    for (int i = 0; i < q->a->head_dim; i++)
        dx[i] = 0;
    for (int key = q->keys.from; key < q->keys.until; key++) {
        const double p = exp(score(q, key) - *q->lse);
        const double dp = dot(q->a->head_dim, dout, values_at(q, key, q->value_offset));
        const double ds = p * (dp - sum) * q->scale;
        for (int i = 0; i < q->a->head_dim; i++) {
            dx[i] += ds * values_at(q, key, q->key_offset)[i];
            gradients_at(q, key, q->key_offset)[i] += ds * x[i];
            gradients_at(q, key, q->value_offset)[i] += p * dout[i];
        }
    }
}

static void each_query(const struct pp_attention *a, void (*visit)(const struct query *))
{
    for (int b = 0; b < a->batch; b++)
        for (int h = 0; h < a->heads; h++)
            for (int t = 0; t < a->tokens; t++) {
                const struct query q = query_of(a, b, h, t);
                visit(&q);
            }
}

static size_t attention_scratch_bytes(const struct pp_attention *a)
{
    (void)a;
    return 0;
}

static void attention_forward(void *stream, const struct pp_attention *a)
{
    (void)stream;
    each_query(a, forward);
}

static void attention_backward(void *stream, const struct pp_attention *a)
{
    (void)stream;
    pp_attention_clear(a, sizeof(double));
    each_query(a, backward);
}

/* ---- flat vectors ---------------------------------------------------------------------------- */

static void add(void *stream, int64_t count, const void *x, void *y)
{
    (void)stream;
    for (int64_t i = 0; i < count; i++)
        ((double *)y)[i] += ((const double *)x)[i];
}

static void max_parts(void *stream, int64_t count, int parts, const void *const *x, void *y)
{
    (void)stream;
    for (size_t i = 0; i < (size_t)count; i++) {
        double max = at(x[0], i);
        for (int p = 1; p < parts; p++)
            max = fmax(max, at(x[p], i));
        ((double *)y)[i] = max;
    }
}

static void adamw_part(int64_t count, const struct pp_adamw *p, const struct pp_adamw_step *step,
                       const void *grad, void *weights, void *master, void *first, void *second)
{
    double *w = weights, *m = first, *v = second;

    (void)master;
    for (int64_t i = 0; i < count; i++) {
        const double g = ((const double *)grad)[i] * step->grad_scale;
        m[i] = p->beta1 * m[i] + (1 - p->beta1) * g;
        v[i] = p->beta2 * v[i] + (1 - p->beta2) * g * g;
        const double by = m[i] / step->correction1 / (sqrt(v[i] / step->correction2) + p->epsilon);
        w[i] -= step->rate * (by + p->decay * w[i]);
    }
}

static double squares_part(int64_t count, const void *x)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += ((const double *)x)[i] * ((const double *)x)[i];
    return sum;
}

static void fixed_add(void *stream, int64_t count, const void *x, int bits, int64_t *sum,
                      int *status)
{
    const double scale = ldexp(1, bits);

    (void)stream;
    for (int64_t i = 0; i < count; i++)
        pp_fixed_add_one(((const double *)x)[i], scale, &sum[i], status);
}

static void fixed_read_part(int64_t count, const int64_t *sum, int bits, void *x)
{
    const double scale = ldexp(1, -bits);

    for (int64_t i = 0; i < count; i++)
        ((double *)x)[i] = (double)sum[i] * scale;
}

static const struct pp_flat_parts parts = {.element_bytes = sizeof(double),
                                           .gradient_bytes = sizeof(double),
                                           .fixed_read = fixed_read_part,
                                           .adamw = adamw_part,
                                           .squares = squares_part};

static void adamw(void *stream, const struct pp_flat *flat, const struct pp_adamw *p,
                  const struct pp_adamw_step *step, void *weights, void *master, void *m, void *v)
{
    (void)stream;
    pp_flat_adamw(&parts, flat, p, step, weights, master, m, v);
}

static void squares(void *stream, const struct pp_flat *flat, double *blocks)
{
    (void)stream;
    pp_flat_squares(&parts, flat, blocks);
}

const struct pp_kernels pp_kernels_reference = {
    .name = "reference",
    .is_immediate = true,
    .element_bytes = sizeof(double),
    .gradient_bytes = sizeof(double),
    .vocab_multiple = 1,
    .about = about,
    .gemm = gemm,
    .add_bias = add_bias,
    .sum_rows = sum_rows,
    .norm_forward = norm_forward,
    .norm_backward = norm_backward,
    .activate_forward = activate_forward,
    .activate_backward = activate_backward,
    .gate_forward = gate_forward,
    .gate_backward = gate_backward,
    .rotate = rotate,
    .attention_scratch_bytes = attention_scratch_bytes,
    .attention_forward = attention_forward,
    .attention_backward = attention_backward,
    .gemm_few = gemm,
    .cache_append = cache_append,
    .attention_cached_scratch_bytes = attention_cached_scratch_bytes,
    .attention_cached = attention_cached,
    .embed_forward = embed_forward,
    .embed_backward = embed_backward,
    .cross_entropy = cross_entropy,
    .entropy_max = entropy_max,
    .entropy_sums = entropy_sums,
    .entropy_end = entropy_end,
    .quantise = quantise,
    .restore = restore,
    .scale = scale,
    .route_forward = route_forward,
    .route_backward = route_backward,
    .route_count = pp_routes_count,
    .balance_sums = pp_balance_sums,
    .balance_grad = pp_balance_grad,
    .balance_add = pp_balance_add,
    .balance_loss = pp_balance_loss,
    .dispatch_forward = dispatch_forward,
    .dispatch_backward = dispatch_backward,
    .combine_forward = combine_forward,
    .combine_backward = combine_backward,
    .grouped_gemm = pp_grouped_gemm,
    .grouped_weight_grad = pp_grouped_weight_grad,
    .grouped_sum_rows = pp_grouped_sum_rows,
    .sum = sum_parts,
    .sum_of_g = sum_parts,
    .max_of_g = max_parts,
    .copy = pp_bytes_copy,
    .zero = pp_bytes_zero,
    .add = add,
    .adamw = adamw,
    .squares = squares,
    .fixed_add = fixed_add,
    .fixed_merge = pp_fixed_merge,
    .fixed_fits = pp_fixed_fits,
};
