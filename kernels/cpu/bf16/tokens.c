/* Both ends of the model in bfloat16: tokens in, loss out. */
#include "kernels/cpu/tokens.h"
#include "kernels/cpu/bf16/bf16.h"

#include <math.h>
#include <string.h>

void pp_bf16_embed_forward(void *stream, int batch, int tokens, int first, int stride, int width,
                           const int32_t *ids, const void *table, const void *positions, void *y)
{
    const size_t columns = (size_t)width;
    uint16_t *to = y;

    (void)stream;
    for (int b = 0; b < batch; b++)
        for (int t = first; t < first + tokens; t++, to += columns) {
            const size_t id = (size_t)ids[(size_t)b * (size_t)stride + (size_t)t];
            for (size_t i = 0; i < columns; i++)
                to[i] =
                    pp_bf16_from(pp_bf16_at(table, id * columns + i) +
                                 (positions ? pp_bf16_at(positions, (size_t)t * columns + i) : 0));
        }
}

static void add_row(size_t width, const void *x, void *y)
{
    for (size_t i = 0; i < width; i++)
        ((float *)y)[i] += pp_bf16_value(((const uint16_t *)x)[i]);
}

void pp_bf16_embed_backward(void *stream, int batch, int tokens, int first, int stride, int width,
                            int vocab, const int32_t *ids, const void *dy, void *dtable,
                            void *dpositions, bool add)
{
    const struct pp_token_rows rows = {batch, tokens,           first,         stride, width, vocab,
                                       ids,   sizeof(uint16_t), sizeof(float), add_row};

    (void)stream;
    pp_tokens_add_rows(&rows, dy, dtable, dpositions, add);
}

/* Returns the loss of the row, and makes it the gradient. */
static double entropy_of_row(size_t vocab, size_t target, double scale, uint16_t *x)
{
    const double right = pp_bf16_at(x, target);
    double max = -INFINITY, sum = 0;

    for (size_t i = 0; i < vocab; i++)
        max = fmax(max, pp_bf16_at(x, i));
    for (size_t i = 0; i < vocab; i++)
        sum += exp(pp_bf16_at(x, i) - max);
    for (size_t i = 0; i < vocab; i++)
        x[i] = pp_bf16_from((exp(pp_bf16_at(x, i) - max) / sum - (i == target)) * scale);
    return max + log(sum) - right;
}

void pp_bf16_cross_entropy(void *stream, int batch, int tokens, int first, int stride, int vocab,
                           int ld, const int32_t *targets, double scale, void *x, double *loss)
{
    uint16_t *row = x;

    (void)stream;
    for (int b = 0; b < batch; b++)
        for (int t = first; t < first + tokens; t++, row += ld) {
            *loss++ = entropy_of_row(
                (size_t)vocab, (size_t)targets[(size_t)b * (size_t)stride + (size_t)t], scale, row);
            memset(row + vocab, 0, sizeof *row * (size_t)(ld - vocab));
        }
}
