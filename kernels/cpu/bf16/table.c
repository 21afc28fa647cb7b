/* The table of bfloat16: T is bfloat16, G float. Each element of a result is computed in double and
 * rounded once; sums of gemm_few and attention_cached are in float. Single precision kernels of the
 * base level do the work on G. */
#define PP_LEVEL base
#include "kernels/cpu/balance.h"
#include "kernels/cpu/bf16/bf16.h"
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/plain_experts.h"

static const char *about(void)
{
    return "plain loops on bfloat16, rounded from double";
}

/* ---- multiplication -------------------------------------------------------------------------- */

/* Each element of c is one chain of additions in double over k, in order, for every shape. Tiles
 * make the inner loop vector code. */
enum { ROWS = 16, COLUMNS = 64, DEPTH = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Packs rows p .. p + depth - 1, columns j .. of op(b). */
static void pack(const struct pp_gemm *g, size_t p, size_t depth, size_t j, size_t columns,
                 double packed[DEPTH][COLUMNS])
{
    const size_t ldb = (size_t)g->ldb, row = g->b_transposed ? 1 : ldb,
                 column = g->b_transposed ? ldb : 1;

    for (size_t q = 0; q < depth; q++)
        for (size_t c = 0; c < columns; c++)
            packed[q][c] = at(g->b, (p + q) * row + (j + c) * column);
}

/* sum = op(a) op(b), a tile at row i and column j. */
static void multiply(const struct pp_gemm *g, size_t i, size_t rows, size_t j, size_t columns,
                     double sum[ROWS][COLUMNS])
{
    const size_t lda = (size_t)g->lda, k = (size_t)g->k, row = g->a_transposed ? 1 : lda,
                 column = g->a_transposed ? lda : 1;
    double packed[DEPTH][COLUMNS] = {{0}};

    for (size_t p = 0; p < k; p += DEPTH) {
        const size_t depth = least(k - p, DEPTH);
        pack(g, p, depth, j, columns, packed);
        for (size_t r = 0; r < rows; r++)
            for (size_t q = 0; q < depth; q++) {
                const double a = at(g->a, (i + r) * row + (p + q) * column);
                for (size_t c = 0; c < COLUMNS; c++)
                    sum[r][c] += a * packed[q][c];
            }
    }
}

/* Completes element `i` of c from that of the product. */
static void finish(const struct pp_gemm *g, size_t i, size_t column, double sum)
{
    const size_t element_bytes = g->is_gradient ? sizeof(float) : sizeof(uint16_t);

    if (g->base != NULL)
        sum = pp_number_get(g->base, element_bytes, (int64_t)i) + sum;
    if (g->bias != NULL)
        sum += at(g->bias, column);
    if (g->slope_of != NULL)
        sum *= activations[g->activation].slope(at(g->slope_of, i));
    pp_number_put(g->c, element_bytes, (int64_t)i, sum);
    if (g->activated != NULL)
        ((uint16_t *)g->activated)[i] = from(activations[g->activation].value(at(g->c, i)));
}

static void gemm(void *stream, const struct pp_gemm *g)
{
    const size_t m = (size_t)g->m, n = (size_t)g->n;

    (void)stream;
    for (size_t j = 0; j < n; j += COLUMNS)
        for (size_t i = 0; i < m; i += ROWS) {
            const size_t rows = least(m - i, ROWS), columns = least(n - j, COLUMNS);
            double sum[ROWS][COLUMNS] = {{0}};

            multiply(g, i, rows, j, columns, sum);
            for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < columns; c++)
                    finish(g, (i + r) * (size_t)g->ldc + j + c, j + c, sum[r][c]);
        }
}

/* ---- sums over rows -------------------------------------------------------------------------- */

static void sum_rows(void *stream, int rows, int width, const void *dy, void *dbias, bool add)
{
    float *to = dbias;

    (void)stream;
    for (size_t i = 0; i < (size_t)width; i++) {
        double sum = add ? (double)to[i] : 0;
        for (size_t r = 0; r < (size_t)rows; r++)
            sum += at(dy, r * (size_t)width + i);
        to[i] = (float)sum;
    }
}

/* Element i of row r of x, minus the mean, divided by the deviation. */
static double normal(const struct pp_norm *n, size_t r, size_t i)
{
    const float *stats = n->stats;

    return (at(n->x, pp_norm_row(n, r) + i) - (double)stats[2 * r]) * (double)stats[2 * r + 1];
}

/* dx = (g - mean(g) - h mean(g h)) / deviation, with h = normal(x); see kernels/cpu/reference.c. */
static void norm_back_row(const struct pp_norm *n, size_t r)
{
    const size_t width = (size_t)n->width;
    const uint16_t *dy = (const uint16_t *)n->dy + pp_norm_row(n, r);
    const uint16_t *base = n->base ? (const uint16_t *)n->base + pp_norm_row(n, r) : NULL;
    uint16_t *dx = (uint16_t *)n->dx + pp_norm_row(n, r);
    const double inverse = (double)((const float *)n->stats)[2 * r + 1];
    double mean_g = 0, mean_gh = 0;

    for (size_t i = 0; i < width; i++) {
        const double g = at(dy, i) * at(n->gamma, i);
        mean_g += n->is_rms ? 0 : g / n->width;
        mean_gh += g * normal(n, r, i) / n->width;
    }
    for (size_t i = 0; i < width; i++) {
        const double g = at(dy, i) * at(n->gamma, i);
        dx[i] = from((base ? at(base, i) : 0) + inverse * (g - mean_g - normal(n, r, i) * mean_gh));
    }
}

static void norm_backward(void *stream, const struct pp_norm *n)
{
    const size_t width = (size_t)n->width;
    float *dgamma = n->dgamma, *dbeta = n->dbeta;

    for (size_t i = 0; i < width; i++) {
        double gain = 0, bias = 0;
        for (size_t r = 0; r < (size_t)n->rows; r++) {
            gain += at(n->dy, pp_norm_row(n, r) + i) * normal(n, r, i);
            bias += at(n->dy, pp_norm_row(n, r) + i);
        }
        dgamma[i] = (float)gain;
        if (dbeta)
            dbeta[i] = (float)bias;
    }
    if (n->dgamma_added)
        PP_AT(add)(stream, n->width, dgamma, n->dgamma_added);
    if (n->dbeta_added)
        PP_AT(add)(stream, n->width, dbeta, n->dbeta_added);
    for (size_t r = 0; r < (size_t)n->rows; r++)
        norm_back_row(n, r);
    if (n->dx_sum)
        sum_rows(stream, n->rows, n->width, n->dx, n->dx_sum, false);
    if (n->dx_added)
        PP_AT(add)(stream, n->width, n->dx_sum, n->dx_added);
}

/* ---- vector code of the best level -------------------------------------------------------------
 */

static void few(const struct pp_few *f)
{
    pp_level_best()->bf16->few(f);
}

static void finish_few(const struct pp_gemm *g, const struct pp_few *f, size_t i, size_t j)
{
    for (size_t r = 0; r < f->m; r++)
        for (size_t c = 0; c < f->n; c++)
            finish(g, (i + r) * (size_t)g->ldc + j + c, j + c, (double)f->c[r * f->ldc + c]);
}

static void gemm_few(void *stream, const struct pp_gemm *g)
{
    (void)stream;
    pp_few_pieces(g, sizeof(uint16_t), few, finish_few);
}

static void cache_append(void *stream, const struct pp_cache_append *a)
{
    (void)stream;
    pp_cache_rows(a, sizeof(uint16_t));
}

static size_t attention_cached_scratch_bytes(const struct pp_attention_cached *a)
{
    return pp_level_best()->bf16->attention_cached_scratch_bytes(a);
}

static void attention_cached(void *stream, const struct pp_attention_cached *a)
{
    pp_level_best()->bf16->attention_cached(stream, a);
}

static void quantise(void *stream, int bits, int64_t count, const void *x, void *packed)
{
    pp_level_best()->bf16->quantise(stream, bits, count, x, packed);
}

static void restore(void *stream, int bits, int64_t count, const void *packed, void *x)
{
    pp_level_best()->bf16->restore(stream, bits, count, packed, x);
}

/* ---- the update ------------------------------------------------------------------------------ */

static void adamw_part(int64_t count, const struct pp_adamw *p, const struct pp_adamw_step *step,
                       const void *grad, void *weights, void *master, void *m, void *v)
{
    PP_AT(flat_parts).adamw(count, p, step, grad, master, NULL, m, v);
    for (int64_t i = 0; i < count; i++)
        ((uint16_t *)weights)[i] = pp_bf16_round(((const float *)master)[i]);
}

static void adamw(void *stream, const struct pp_flat *flat, const struct pp_adamw *p,
                  const struct pp_adamw_step *step, void *weights, void *master, void *m, void *v)
{
    struct pp_flat_parts parts = PP_AT(flat_parts);

    (void)stream;
    parts.element_bytes = sizeof(uint16_t);
    parts.adamw = adamw_part;
    pp_flat_adamw(&parts, flat, p, step, weights, master, m, v);
}

const struct pp_kernels pp_kernels_bf16 = {
    .name = "bf16",
    .is_immediate = true,
    .element_bytes = sizeof(uint16_t),
    .gradient_bytes = sizeof(float),
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
    .attention_scratch_bytes = pp_bf16_attention_scratch_bytes,
    .attention_forward = pp_bf16_attention_forward,
    .attention_backward = pp_bf16_attention_backward,
    .gemm_few = gemm_few,
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
    .sum_of_g = PP_AT(sum),
    .max_of_g = PP_AT(max),
    .copy = pp_bytes_copy,
    .zero = pp_bytes_zero,
    .add = PP_AT(add),
    .adamw = adamw,
    .squares = PP_AT(squares),
    .fixed_add = PP_AT(fixed_add),
    .fixed_merge = pp_fixed_merge,
    .fixed_fits = pp_fixed_fits,
};
