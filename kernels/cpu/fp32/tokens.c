/* Both ends of the model: embedding, and softmax with cross entropy. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/fp32/softmax.h"
#include "kernels/cpu/shared.h"

#include <math.h>

static void add_row(size_t width, const void *x, void *y)
{
    const float *from = x;
    float *to = y;

    for (size_t i = 0; i < width; i += LANES)
        store_some(to + i, width - i,
                   load_some(to + i, width - i) + load_some(from + i, width - i));
}

void PP_AT(embed_forward)(void *stream, const struct pp_embedding *e)
{
    const size_t columns = (size_t)e->width;
    float *to = e->y;

    (void)stream;
    for (int b = 0; b < e->batch; b++)
        for (int t = e->first; t < e->first + e->tokens; t++, to += columns) {
            const int32_t id = e->ids[(size_t)b * (size_t)e->stride + (size_t)t];
            const int row = pp_word_row(id, e->first_word, e->words);
            if (row >= 0)
                memcpy(to, (const float *)e->table + (size_t)row * columns,
                       sizeof(float) * columns);
            else
                memset(to, 0, sizeof(float) * columns);
            if (e->positions)
                add_row(columns, (const float *)e->positions + (size_t)t * columns, to);
        }
}

void PP_AT(embed_backward)(void *stream, const struct pp_embedding *e)
{
    const struct pp_token_rows rows = {sizeof(float), sizeof(float), add_row};

    (void)stream;
    pp_tokens_add_rows(&rows, e);
}

/* log(x) in double. Own arithmetic gives the same bits with every libm. x is positive and normal:
 * x = 2^n m with m in [sqrt(1/2), sqrt(2)]. log(m) = 2 artanh(s) with |s| < 0.172. */
static double log_double(double x)
{
    int n;
    double m = frexp(x, &n), sum = 0;

    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        n--;
    }
    const double s = (m - 1) / (m + 1), square = s * s;
    for (int i = 23; i > 1; i -= 2)
        sum = (sum + 1.0 / i) * square;
    return n * 0x1.62e42fefa39efp-1 + 2 * (s + s * sum);
}

void PP_AT(cross_entropy)(void *stream, int batch, int tokens, int first, int stride, int vocab,
                          int ld, const int32_t *targets, double scale, void *x, double *loss)
{
    const size_t width = (size_t)vocab;
    float *row = x;

    (void)stream;
    for (int b = 0; b < batch; b++)
        for (int t = first; t < first + tokens; t++, row += ld) {
            const int32_t target = targets[(size_t)b * (size_t)stride + (size_t)t];
            if (target < 0) {
                memset(row, 0, sizeof *row * (size_t)ld);
                *loss++ = 0;
                continue;
            }
            const float logit = row[target], max = largest(row, width);
            const float sum = exponentials(row, width, max), factor = (float)scale / sum;

            for (size_t i = 0; i < width; i += LANES)
                store_some(row + i, width - i, load_some(row + i, width - i) * factor);
            row[target] -= (float)scale;
            memset(row + vocab, 0, sizeof *row * (size_t)(ld - vocab));
            *loss++ = (double)max - (double)logit + log_double((double)sum);
        }
}

/* ---- words that several devices share -------------------------------------------------------- */

/* Returns the target of a row of x. */
static int32_t target_of(const struct pp_entropy *e, int row)
{
    return e->targets[(size_t)(row / e->tokens) * (size_t)e->stride +
                      (size_t)(e->first + row % e->tokens)];
}

void PP_AT(entropy_max)(void *stream, const struct pp_entropy *e)
{
    (void)stream;
    for (int r = 0; r < e->batch * e->tokens; r++)
        ((float *)e->max)[r] =
            largest((const float *)e->x + (size_t)r * (size_t)e->ld, (size_t)e->words);
}

/* Leaves exp(x - max) in x. */
void PP_AT(entropy_sums)(void *stream, const struct pp_entropy *e)
{
    (void)stream;
    for (int r = 0; r < e->batch * e->tokens; r++) {
        float *x = (float *)e->x + (size_t)r * (size_t)e->ld, *sums = (float *)e->sums + 2 * r;
        const int target = pp_word_row(target_of(e, r), e->first_word, e->words);

        sums[1] = target >= 0 ? x[target] : 0;
        sums[0] = exponentials(x, (size_t)e->words, ((const float *)e->max)[r]);
    }
}

void PP_AT(entropy_end)(void *stream, const struct pp_entropy *e)
{
    const size_t width = (size_t)e->words;

    (void)stream;
    for (int r = 0; r < e->batch * e->tokens; r++) {
        float *x = (float *)e->x + (size_t)r * (size_t)e->ld;
        const float max = ((const float *)e->max)[r], *sums = (const float *)e->sums + 2 * r,
                    factor = (float)e->scale / sums[0];
        const int32_t id = target_of(e, r);
        const int target = pp_word_row(id, e->first_word, e->words);
        const size_t kept = id < 0 ? 0 : width;

        for (size_t i = 0; i < kept; i += LANES)
            store_some(x + i, kept - i, load_some(x + i, kept - i) * factor);
        if (target >= 0)
            x[target] -= (float)e->scale;
        memset(x + kept, 0, sizeof *x * ((size_t)e->ld - kept));
        e->loss[r] = id < 0 ? 0 : (double)max - (double)sums[1] + log_double((double)sums[0]);
    }
}
