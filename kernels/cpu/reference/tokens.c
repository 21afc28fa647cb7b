/* Both ends of the model in double precision: tokens in, loss out. */
#include "kernels/cpu/tokens.h"
#include "kernels/cpu/reference/reference.h"

#include <math.h>
#include <string.h>

static void add_row(size_t width, const void *x, void *y)
{
    for (size_t i = 0; i < width; i++)
        ((double *)y)[i] += ((const double *)x)[i];
}

void pp_reference_embed_forward(void *stream, int batch, int tokens, int first, int stride,
                                int width, const int32_t *ids, const void *table,
                                const void *positions, void *y)
{
    double *to = y;

    (void)stream;
    for (int b = 0; b < batch; b++)
        for (int t = first; t < first + tokens; t++, to += width) {
            const size_t id = (size_t)ids[(size_t)b * (size_t)stride + (size_t)t];
            memcpy(to, (const double *)table + id * (size_t)width, sizeof(double) * (size_t)width);
            if (positions)
                add_row((size_t)width, (const double *)positions + (size_t)t * (size_t)width, to);
        }
}

void pp_reference_embed_backward(void *stream, int batch, int tokens, int first, int stride,
                                 int width, int vocab, const int32_t *ids, const void *dy,
                                 void *dtable, void *dpositions, bool add)
{
    const struct pp_token_rows rows = {batch, tokens, first,          stride,         width,
                                       vocab, ids,    sizeof(double), sizeof(double), add_row};

    (void)stream;
    pp_tokens_add_rows(&rows, dy, dtable, dpositions, add);
}

void pp_reference_cross_entropy(void *stream, int batch, int tokens, int first, int stride,
                                int vocab, int ld, const int32_t *targets, double scale, void *x,
                                double *loss)
{
    double *row = x;

    (void)stream;
    for (int b = 0; b < batch; b++)
        for (int t = first; t < first + tokens; t++, row += ld) {
            const int32_t target = targets[(size_t)b * (size_t)stride + (size_t)t];
            double max = -INFINITY, sum = 0;

            for (int i = 0; i < vocab; i++)
                max = fmax(max, row[i]);
            for (int i = 0; i < vocab; i++)
                sum += exp(row[i] - max);
            *loss++ = max + log(sum) - row[target];
            for (int i = 0; i < vocab; i++)
                row[i] = (exp(row[i] - max) / sum - (i == target)) * scale;
            memset(row + vocab, 0, sizeof *row * (size_t)(ld - vocab));
        }
}
