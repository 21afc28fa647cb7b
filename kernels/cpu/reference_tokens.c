/* Both ends of the model in double precision: tokens in, loss out. */
#include "kernels/cpu/reference.h"

#include <math.h>
#include <string.h>

static void add_row(int width, const double *x, double *y)
{
    for (int i = 0; i < width; i++)
        y[i] += x[i];
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
                add_row(width, (const double *)positions + (size_t)t * (size_t)width, to);
        }
}

void pp_reference_embed_backward(void *stream, int batch, int tokens, int first, int stride,
                                 int width, int vocab, const int32_t *ids, const void *dy,
                                 void *dtable, void *dpositions, bool add)
{
    const double *from = dy;
    const size_t row_bytes = sizeof(double) * (size_t)width;

    (void)stream;
    if (!add) {
        memset(dtable, 0, row_bytes * (size_t)vocab);
        if (dpositions)
            memset(dpositions, 0, row_bytes * (size_t)stride);
    }
    for (int b = 0; b < batch; b++)
        for (int t = first; t < first + tokens; t++, from += width) {
            const size_t id = (size_t)ids[(size_t)b * (size_t)stride + (size_t)t];
            add_row(width, from, (double *)dtable + id * (size_t)width);
            if (dpositions)
                add_row(width, from, (double *)dpositions + (size_t)t * (size_t)width);
        }
}

void pp_reference_cross_entropy(void *stream, int batch, int tokens, int first, int stride,
                                int vocab, const int32_t *targets, double scale, void *x,
                                double *loss)
{
    double *row = x;

    (void)stream;
    for (int b = 0; b < batch; b++)
        for (int t = first; t < first + tokens; t++, row += vocab) {
            const int32_t target = targets[(size_t)b * (size_t)stride + (size_t)t];
            double max = -INFINITY, sum = 0;

            for (int i = 0; i < vocab; i++)
                max = fmax(max, row[i]);
            for (int i = 0; i < vocab; i++)
                sum += exp(row[i] - max);
            *loss++ = max + log(sum) - row[target];
            for (int i = 0; i < vocab; i++)
                row[i] = (exp(row[i] - max) / sum - (i == target)) * scale;
        }
}
