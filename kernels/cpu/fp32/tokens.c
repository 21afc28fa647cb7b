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

void PP_AT(embed_forward)(void *stream, int batch, int tokens, int first, int stride, int width,
                          const int32_t *ids, const void *table, const void *positions, void *y)
{
    const size_t columns = (size_t)width;
    float *to = y;

    (void)stream;
    for (int b = 0; b < batch; b++)
        for (int t = first; t < first + tokens; t++, to += columns) {
            const size_t id = (size_t)ids[(size_t)b * (size_t)stride + (size_t)t];
            memcpy(to, (const float *)table + id * columns, sizeof(float) * columns);
            if (positions)
                add_row(columns, (const float *)positions + (size_t)t * columns, to);
        }
}

void PP_AT(embed_backward)(void *stream, int batch, int tokens, int first, int stride, int width,
                           int vocab, const int32_t *ids, const void *dy, void *dtable,
                           void *dpositions, bool add)
{
    const struct pp_token_rows rows = {batch, tokens, first,         stride,        width,
                                       vocab, ids,    sizeof(float), sizeof(float), add_row};

    (void)stream;
    pp_tokens_add_rows(&rows, dy, dtable, dpositions, add);
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
