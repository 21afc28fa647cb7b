/* Common functions of the CPU's tables: epilogues, bytes, fixed point, flat vectors, token rows. */
#include "kernels/cpu/shared.h"

#include <math.h>
#include <string.h>

/* ---- epilogue -------------------------------------------------------------------------------- */

/* Finishes `rows` contiguous rows of c, and of every tensor of its shape, from byte `at` on. */
static void finish(const struct pp_kernels *k, void *stream, const struct pp_gemm *g, int rows,
                   size_t at)
{
    const int64_t count = (int64_t)rows * g->n;
    void *c = (char *)g->c + at;

    if (g->bias != NULL)
        k->add_bias(stream, rows, g->n, g->bias, c);
    if (g->slope_of != NULL)
        k->activate_backward(stream, g->activation, count, (const char *)g->slope_of + at, c, c);
    if (g->activated != NULL)
        k->activate_forward(stream, g->activation, count, c, (char *)g->activated + at);
}

void pp_gemm_compose(const struct pp_kernels *k,
                     void (*multiply)(void *stream, const struct pp_gemm *g), void *stream,
                     const struct pp_gemm *g)
{
    const size_t element_bytes = g->is_gradient ? k->gradient_bytes : k->element_bytes;
    const bool is_dense = g->ldc == g->n;
    const int rows = is_dense ? g->m : 1;
    const size_t stride = (size_t)g->ldc * element_bytes, end = (size_t)(g->m / rows) * stride;
    struct pp_gemm product = *g;

    if (g->base != NULL && g->base != g->c) {
        for (size_t at = 0; at < end; at += stride)
            k->copy(stream, (size_t)rows * (size_t)g->n * element_bytes, (const char *)g->base + at,
                    (char *)g->c + at);
        product.base = g->c;
    }
    multiply(stream, &product);
    for (size_t at = 0; at < end; at += stride)
        finish(k, stream, g, rows, at);
}

/* A block of columns is read once for all rows. */
void pp_few_pieces(const struct pp_gemm *g, size_t element_bytes,
                   void (*products)(const struct pp_few *f),
                   void (*complete)(const struct pp_gemm *g, const struct pp_few *f, size_t i,
                                    size_t j))
{
    enum { COLUMNS = 32 };
    const size_t m = (size_t)g->m, n = (size_t)g->n, a_row = (size_t)g->lda * element_bytes,
                 b_row = (size_t)g->ldb * element_bytes;
    float c[PP_FEW_ROWS * COLUMNS];

    for (size_t j = 0; j < n; j += COLUMNS)
        for (size_t i = 0; i < m; i += PP_FEW_ROWS) {
            const struct pp_few f = {.m = m - i < PP_FEW_ROWS ? m - i : PP_FEW_ROWS,
                                     .n = n - j < COLUMNS ? n - j : COLUMNS,
                                     .k = (size_t)g->k,
                                     .a = (const char *)g->a + i * a_row,
                                     .b = (const char *)g->b + j * b_row,
                                     .c = c,
                                     .lda = (size_t)g->lda,
                                     .ldb = (size_t)g->ldb,
                                     .ldc = COLUMNS};
            products(&f);
            complete(g, &f, i, j);
        }
}

/* ---- bytes and fixed point sums -------------------------------------------------------------- */

static void fail(int *status, enum pp_fixed_status reason)
{
    if (*status == PP_FIXED_OK)
        *status = reason;
}

void pp_fixed_add_one(double x, double scale, int64_t *sum, int *status)
{
    const double value = rint(x * scale);

    if (!isfinite(x))
        fail(status, PP_FIXED_NOT_FINITE);
    else if (!(value >= -0x1p63 && value < 0x1p63) ||
             __builtin_add_overflow(*sum, (int64_t)value, sum))
        fail(status, PP_FIXED_OVERFLOW);
}

/* Wraps on overflow, so that the loop is vector code. */
void pp_fixed_merge(void *stream, int64_t count, const int64_t *x, int64_t *sum, int *status)
{
    uint64_t overflow = 0;

    (void)stream;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t a = (uint64_t)sum[i], b = (uint64_t)x[i], c = a + b;
        overflow |= (a ^ c) & (b ^ c);
        sum[i] = (int64_t)c;
    }
    if (overflow >> 63)
        fail(status, PP_FIXED_OVERFLOW);
}

void pp_fixed_fits(void *stream, int64_t count, const int64_t *x, int copies, int *status)
{
    const int64_t most = INT64_MAX / copies;
    bool is_beyond = false;

    (void)stream;
    for (int64_t i = 0; i < count; i++)
        is_beyond |= x[i] > most || x[i] < -most;
    if (is_beyond)
        fail(status, PP_FIXED_OVERFLOW);
}

void pp_bytes_copy(void *stream, size_t bytes, const void *from, void *to)
{
    (void)stream;
    if (bytes)
        memmove(to, from, bytes);
}

void pp_bytes_zero(void *stream, size_t bytes, void *x)
{
    (void)stream;
    if (bytes)
        memset(x, 0, bytes);
}

void pp_attention_clear(const struct pp_attention *a, size_t element_bytes)
{
    const size_t dim_bytes = (size_t)a->head_dim * element_bytes,
                 queries = (size_t)a->heads * dim_bytes, rest = 2 * (size_t)a->kv_heads * dim_bytes;
    const size_t rows = (size_t)a->batch * (size_t)a->tokens;

    for (int j = 0; j <= a->split && !a->add; j++)
        for (size_t row = 0; row < rows; row++)
            memset((char *)a->dqkv[j] + row * (queries + rest) + queries, 0, rest);
}

void pp_cache_rows(const struct pp_cache_append *a, size_t element_bytes)
{
    const size_t dim_bytes = (size_t)a->head_dim * element_bytes,
                 queries = (size_t)a->heads * dim_bytes, rest = 2 * (size_t)a->kv_heads * dim_bytes;
    const char *from = (const char *)a->qkv + queries;

    for (int b = 0; b < a->batch; b++) {
        char *to = (char *)a->cache + ((size_t)b * (size_t)a->stride + (size_t)a->first) * rest;
        for (int t = 0; t < a->tokens; t++, from += queries + rest, to += rest)
            memcpy(to, from, rest);
    }
}

/* ---- flat vectors ---------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void *at(void *vector, size_t element_bytes, int64_t element)
{
    return vector ? (char *)vector + (size_t)element * element_bytes : NULL;
}

/* Gradients from `element` on, which counts from f->from. Converts fixed point into `piece`. */
static const void *gradient(const struct pp_flat_parts *parts, const struct pp_flat *f,
                            int64_t element, int64_t count, double *piece)
{
    if (!f->fixed)
        return (const char *)f->grad + (size_t)element * parts->gradient_bytes;
    parts->fixed_read(count, f->fixed + element, f->bits, piece);
    return piece;
}

/* Clears gradients `from` .. `until` - 1, which count from f->from, unless they are kept. Returns
 * `until`. */
static int64_t clear(const struct pp_flat_parts *parts, const struct pp_flat *f, int64_t from,
                     int64_t until)
{
    const size_t bytes = f->fixed ? sizeof(*f->fixed) : parts->gradient_bytes;

    if (!f->keeps_grad)
        memset(at(f->fixed ? f->fixed : f->grad, bytes, from), 0, (size_t)(until - from) * bytes);
    return until;
}

/* Clears a piece while it is in the cache, with the gap before it. */
void pp_flat_adamw(const struct pp_flat_parts *parts, const struct pp_flat *f,
                   const struct pp_adamw *adamw, const struct pp_adamw_step *step, void *weights,
                   void *master, void *m, void *v)
{
    const size_t g = parts->gradient_bytes;
    int64_t cleared = 0;
    double piece[PP_SQUARES_BLOCK];

    for (int t = 0; t < f->tensor_count; t++) {
        const struct pp_flat_tensor *tensor = &f->tensors[t];
        const int64_t end = least(tensor->until, f->until) - f->from;
        struct pp_adamw of_tensor = *adamw;

        of_tensor.decay = tensor->decays ? adamw->decay : 0;
        for (int64_t i = tensor->from > f->from ? tensor->from - f->from : 0; i < end;
             i += PP_SQUARES_BLOCK) {
            const int64_t count = least(end - i, PP_SQUARES_BLOCK);
            parts->adamw(count, &of_tensor, step, gradient(parts, f, i, count, piece),
                         at(weights, parts->element_bytes, i), at(master, g, i), at(m, g, i),
                         at(v, g, i));
            cleared = clear(parts, f, cleared, i + count);
        }
    }
    clear(parts, f, cleared, f->until - f->from);
}

void pp_flat_squares(const struct pp_flat_parts *parts, const struct pp_flat *f, double *blocks)
{
    double piece[PP_SQUARES_BLOCK];

    for (int t = 0; t < f->tensor_count; t++) {
        const struct pp_flat_tensor *tensor = &f->tensors[t];

        for (int64_t i = tensor->from; i < least(tensor->until, f->until); i += PP_SQUARES_BLOCK) {
            const int64_t count = least(tensor->until - i, PP_SQUARES_BLOCK);
            if (i >= f->from)
                *blocks++ = parts->squares(count, gradient(parts, f, i - f->from, count, piece));
        }
    }
}

/* ---- gradients of rows of tokens, added in a fixed order ------------------------------------- */

void pp_tokens_add_rows(const struct pp_token_rows *rows, const struct pp_embedding *e)
{
    const size_t width = (size_t)e->width, row_bytes = width * rows->gradient_bytes;
    const char *from = e->dy;

    if (!e->add)
        memset(e->dtable, 0, row_bytes * (size_t)e->words);
    if (!e->add && e->dpositions)
        memset(e->dpositions, 0, row_bytes * (size_t)e->stride);
    for (int b = 0; b < e->batch; b++)
        for (int t = e->first; t < e->first + e->tokens; t++) {
            const int32_t id = e->ids[(size_t)b * (size_t)e->stride + (size_t)t];
            const int row = pp_word_row(id, e->first_word, e->words);

            if (row >= 0)
                rows->add_row(width, from, (char *)e->dtable + (size_t)row * row_bytes);
            if (e->dpositions)
                rows->add_row(width, from, (char *)e->dpositions + (size_t)t * row_bytes);
            from += width * rows->element_bytes;
        }
}
