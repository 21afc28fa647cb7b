/* Matrices and rows in double precision: plain loops that read like the formulas. */
#include "kernels/cpu/reference/reference.h"

#include <math.h>

void pp_reference_multiply(void *stream, const struct pp_gemm *g)
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

void pp_reference_add_bias(void *stream, int rows, int width, const void *bias, void *x)
{
    const double *b = bias;
    double *to = x;

    (void)stream;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < width; i++)
            *to++ += b[i];
}

void pp_reference_sum_rows(void *stream, int rows, int width, const void *dy, void *dbias, bool add)
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

/* ---- normalisation: y = (x - mean) / deviation * gamma + beta ---------------------------------
 */

void pp_reference_norm_forward(void *stream, const struct pp_norm *n)
{
    const double *gamma = n->gamma, *beta = n->beta;
    double *stats = n->stats;

    (void)stream;
    for (size_t r = 0; r < (size_t)n->rows; r++) {
        const double *x = (const double *)n->x + r * (size_t)n->width;
        double *y = (double *)n->y + r * (size_t)n->width;
        double mean = 0, variance = 0;

        for (int i = 0; i < n->width && !n->is_rms; i++)
            mean += x[i] / n->width;
        for (int i = 0; i < n->width; i++)
            variance += (x[i] - mean) * (x[i] - mean) / n->width;
        const double inverse = 1 / sqrt(variance + n->epsilon);
        for (int i = 0; i < n->width; i++)
            y[i] = (x[i] - mean) * inverse * gamma[i] + (beta ? beta[i] : 0);
        stats[2 * r] = mean;
        stats[2 * r + 1] = inverse;
    }
}

/* With h = (x - mean) / deviation and g = dy gamma:
 *   dx = (g - mean(g) - h mean(g h)) / deviation
 * Without a mean in the forward, mean(g) is left out. */
void pp_reference_norm_backward(void *stream, const struct pp_norm *n)
{
    const double *gamma = n->gamma, *stats = n->stats;

    (void)stream;
    for (size_t r = 0; r < (size_t)n->rows; r++) {
        const double *x = (const double *)n->x + r * (size_t)n->width;
        const double *dy = (const double *)n->dy + r * (size_t)n->width;
        const double *base = n->base ? (const double *)n->base + r * (size_t)n->width : NULL;
        double *dx = (double *)n->dx + r * (size_t)n->width;
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

void pp_reference_norm_weights(void *stream, const struct pp_norm *n, void *dgamma, void *dbeta,
                               bool add)
{
    const double *x = n->x, *dy = n->dy, *stats = n->stats;
    const size_t width = (size_t)n->width;
    double *to = dgamma;

    for (size_t i = 0; i < width; i++) {
        double sum = 0;
        for (size_t r = 0; r < (size_t)n->rows; r++)
            sum += dy[r * width + i] * (x[r * width + i] - stats[2 * r]) * stats[2 * r + 1];
        to[i] = add ? to[i] + sum : sum;
    }
    if (dbeta)
        pp_reference_sum_rows(stream, n->rows, n->width, n->dy, dbeta, add);
}
