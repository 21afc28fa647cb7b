/* Rows of bfloat16: biases, their sums, and norms. */
#include "kernels/cpu/bf16/bf16.h"

#include <math.h>

void pp_bf16_add_bias(void *stream, int rows, int width, const void *bias, void *x)
{
    uint16_t *to = x;

    (void)stream;
    for (int r = 0; r < rows; r++)
        for (size_t i = 0; i < (size_t)width; i++, to++)
            *to = pp_bf16_from(pp_bf16_at(to, 0) + pp_bf16_at(bias, i));
}

void pp_bf16_sum_rows(void *stream, int rows, int width, const void *dy, void *dbias, bool add)
{
    float *to = dbias;

    (void)stream;
    for (size_t i = 0; i < (size_t)width; i++) {
        double sum = add ? (double)to[i] : 0;
        for (size_t r = 0; r < (size_t)rows; r++)
            sum += pp_bf16_at(dy, r * (size_t)width + i);
        to[i] = (float)sum;
    }
}

/* Row r of x, less its mean and over its deviation. */
static double normal(const struct pp_norm *n, size_t r, size_t i)
{
    const float *stats = n->stats;

    return (pp_bf16_at(n->x, r * (size_t)n->width + i) - (double)stats[2 * r]) *
           (double)stats[2 * r + 1];
}

static void find_stats(const struct pp_norm *n, const uint16_t *x, float *stats)
{
    double mean = 0, variance = 0;

    for (size_t i = 0; i < (size_t)n->width && !n->is_rms; i++)
        mean += pp_bf16_at(x, i) / n->width;
    for (size_t i = 0; i < (size_t)n->width; i++)
        variance += (pp_bf16_at(x, i) - mean) * (pp_bf16_at(x, i) - mean) / n->width;
    stats[0] = (float)mean;
    stats[1] = (float)(1 / sqrt(variance + n->epsilon));
}

void pp_bf16_norm_forward(void *stream, const struct pp_norm *n)
{
    const size_t width = (size_t)n->width;
    uint16_t *y = n->y;

    (void)stream;
    for (size_t r = 0; r < (size_t)n->rows; r++) {
        find_stats(n, (const uint16_t *)n->x + r * width, (float *)n->stats + 2 * r);
        for (size_t i = 0; i < width; i++)
            y[r * width + i] = pp_bf16_from(normal(n, r, i) * pp_bf16_at(n->gamma, i) +
                                            (n->beta ? pp_bf16_at(n->beta, i) : 0));
    }
}

/* As in reference_matrix.c: dx = (g - mean(g) - h mean(g h)) / deviation, with h = normal(x). */
static void norm_back_row(const struct pp_norm *n, size_t r)
{
    const size_t width = (size_t)n->width;
    const uint16_t *dy = (const uint16_t *)n->dy + r * width;
    const uint16_t *base = n->base ? (const uint16_t *)n->base + r * width : NULL;
    uint16_t *dx = (uint16_t *)n->dx + r * width;
    const double inverse = (double)((const float *)n->stats)[2 * r + 1];
    double mean_g = 0, mean_gh = 0;

    for (size_t i = 0; i < width; i++) {
        const double g = pp_bf16_at(dy, i) * pp_bf16_at(n->gamma, i);
        mean_g += n->is_rms ? 0 : g / n->width;
        mean_gh += g * normal(n, r, i) / n->width;
    }
    for (size_t i = 0; i < width; i++) {
        const double g = pp_bf16_at(dy, i) * pp_bf16_at(n->gamma, i);
        dx[i] = pp_bf16_from((base ? pp_bf16_at(base, i) : 0) +
                             inverse * (g - mean_g - normal(n, r, i) * mean_gh));
    }
}

void pp_bf16_norm_backward(void *stream, const struct pp_norm *n)
{
    (void)stream;
    for (size_t r = 0; r < (size_t)n->rows; r++)
        norm_back_row(n, r);
}

void pp_bf16_norm_weights(void *stream, const struct pp_norm *n, void *dgamma, void *dbeta,
                          bool add)
{
    const size_t width = (size_t)n->width;
    float *to = dgamma;

    for (size_t i = 0; i < width; i++) {
        double sum = add ? (double)to[i] : 0;
        for (size_t r = 0; r < (size_t)n->rows; r++)
            sum += pp_bf16_at(n->dy, r * width + i) * normal(n, r, i);
        to[i] = (float)sum;
    }
    if (dbeta)
        pp_bf16_sum_rows(stream, n->rows, n->width, n->dy, dbeta, add);
}
