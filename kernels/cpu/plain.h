/* kernels/cpu/plain.h — kernels as plain loops that read like the formulas, computed in double, for
 * every table that includes this file. The table first defines an element:
 *
 *   element, gradient                     types T and G
 *   double at(const void *x, size_t i)    element i of x
 *   element from(double value)            rounded
 *
 * kernels/kernels.h has meaning and shapes. */
#pragma once

#include "kernels/cpu/shared.h"

#include <math.h>
#include <string.h>

/* ---- activations of one number --------------------------------------------------------------- */

static const double GELU_SCALE = 0.79788456080286535588; /* sqrt(2 / pi) */
static const double GELU_CUBE = 0.044715;

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(GELU_SCALE * (x + GELU_CUBE * x * x * x)));
}

static double gelu_slope(double x)
{
    const double t = tanh(GELU_SCALE * (x + GELU_CUBE * x * x * x));

    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * GELU_SCALE * (1 + 3 * GELU_CUBE * x * x);
}

static double gelu_erf(double x)
{
    return 0.5 * x * erfc(-x * M_SQRT1_2);
}

static double gelu_erf_slope(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2) + 0.5 * GELU_SCALE * x * exp(-0.5 * x * x);
}

static double relu(double x)
{
    return x < 0 ? 0 : x;
}

static double relu_slope(double x)
{
    return x > 0;
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

static double silu_slope(double x)
{
    const double s = 1 / (1 + exp(-x));

    return s * (1 + x * (1 - s));
}

static const struct {
    double (*value)(double x), (*slope)(double x);
} activations[PP_ACTIVATIONS] = {[PP_GELU_TANH] = {gelu, gelu_slope},
                                 [PP_GELU_ERF] = {gelu_erf, gelu_erf_slope},
                                 [PP_RELU] = {relu, relu_slope},
                                 [PP_SILU] = {silu, silu_slope}};

/* ---- rows: biases, norms, activations -------------------------------------------------------- */

static void add_bias(void *stream, int rows, int width, const void *bias, void *x)
{
    element *to = x;

    (void)stream;
    for (int r = 0; r < rows; r++)
        for (size_t i = 0; i < (size_t)width; i++, to++)
            *to = from(at(to, 0) + at(bias, i));
}

/* y = (x - mean) / deviation * gamma + beta */
static void norm_forward(void *stream, const struct pp_norm *n)
{
    const size_t width = (size_t)n->width;
    gradient *stats = n->stats;

    (void)stream;
    for (size_t r = 0; r < (size_t)n->rows; r++, stats += 2) {
        const element *x = (const element *)n->x + pp_norm_row(n, r);
        element *y = (element *)n->y + pp_norm_row(n, r);
        double mean = 0, variance = 0;

        for (size_t i = 0; i < width && !n->is_rms; i++)
            mean += at(x, i) / n->width;
        for (size_t i = 0; i < width; i++)
            variance += (at(x, i) - mean) * (at(x, i) - mean) / n->width;
        stats[0] = (gradient)mean;
        stats[1] = (gradient)(1 / sqrt(variance + n->epsilon));
        for (size_t i = 0; i < width; i++)
            y[i] = from((at(x, i) - (double)stats[0]) * (double)stats[1] * at(n->gamma, i) +
                        (n->beta ? at(n->beta, i) : 0));
    }
}

static void activate_forward(void *stream, enum pp_activation f, int64_t count, const void *x,
                             void *y)
{
    (void)stream;
    for (size_t i = 0; i < (size_t)count; i++)
        ((element *)y)[i] = from(activations[f].value(at(x, i)));
}

static void activate_backward(void *stream, enum pp_activation f, int64_t count, const void *x,
                              const void *dy, void *dx)
{
    (void)stream;
    for (size_t i = 0; i < (size_t)count; i++)
        ((element *)dx)[i] = from(at(dy, i) * activations[f].slope(at(x, i)));
}

static void gate_forward(void *stream, enum pp_activation f, int rows, int width, const void *x,
                         void *y)
{
    (void)stream;
    for (size_t r = 0; r < (size_t)rows; r++)
        for (size_t i = 0; i < (size_t)width; i++) {
            const size_t gate_at = 2 * r * (size_t)width + i;
            const double gate = at(x, gate_at), value = at(x, gate_at + (size_t)width);
            ((element *)y)[r * (size_t)width + i] = from(activations[f].value(gate) * value);
        }
}

static void gate_backward(void *stream, enum pp_activation f, int rows, int width, const void *x,
                          const void *dy, void *dx)
{
    element *to = dx;

    (void)stream;
    for (size_t r = 0; r < (size_t)rows; r++)
        for (size_t i = 0; i < (size_t)width; i++) {
            const size_t gate_at = 2 * r * (size_t)width + i, value_at = gate_at + (size_t)width;
            const double gate = at(x, gate_at), value = at(x, value_at);
            const double d = at(dy, r * (size_t)width + i);
            to[gate_at] = from(d * value * activations[f].slope(gate));
            to[value_at] = from(d * activations[f].value(gate));
        }
}

static void scale(void *stream, int64_t count, double factor, void *x)
{
    (void)stream;
    for (size_t i = 0; i < (size_t)count; i++)
        ((element *)x)[i] = from(at(x, i) * factor);
}

static void sum_parts(void *stream, int64_t count, int parts, const void *const *x, void *y)
{
    (void)stream;
    for (size_t i = 0; i < (size_t)count; i++) {
        double all = at(x[0], i);
        for (int p = 1; p < parts; p++)
            all += at(x[p], i);
        ((element *)y)[i] = from(all);
    }
}

/* ---- positions ------------------------------------------------------------------------------- */

static void rotate(void *stream, const struct pp_rotation *r, void *x)
{
    const size_t half = (size_t)r->angles.dim / 2;

    (void)stream;
    for (int row = 0; row < r->batch * r->tokens; row++)
        for (int h = 0; h < r->heads; h++) {
            element *a = (element *)x + (size_t)row * (size_t)r->stride + (size_t)(h * r->head_dim);
            for (size_t i = 0; i < half; i++) {
                const double angle =
                    (r->first + row % r->tokens) * pp_angles_frequency(&r->angles, (int)i);
                const double c = cos(angle), s = r->is_inverse ? -sin(angle) : sin(angle);
                const double u = at(a, i), v = at(a, i + half);
                a[i] = from(u * c - v * s);
                a[i + half] = from(v * c + u * s);
            }
        }
}

/* ---- both ends of the model: tokens in, loss out --------------------------------------------- */

static void add_row(size_t width, const void *x, void *y)
{
    for (size_t i = 0; i < width; i++)
        ((gradient *)y)[i] += (gradient)at(x, i);
}

static void embed_forward(void *stream, const struct pp_embedding *e)
{
    const size_t columns = (size_t)e->width;
    element *to = e->y;

    (void)stream;
    for (int b = 0; b < e->batch; b++)
        for (int t = e->first; t < e->first + e->tokens; t++, to += columns) {
            const int32_t id = e->ids[(size_t)b * (size_t)e->stride + (size_t)t];
            const int row = pp_word_row(id, e->first_word, e->words);
            for (size_t i = 0; i < columns; i++)
                to[i] = from((row >= 0 ? at(e->table, (size_t)row * columns + i) : 0) +
                             (e->positions ? at(e->positions, (size_t)t * columns + i) : 0));
        }
}

static void embed_backward(void *stream, const struct pp_embedding *e)
{
    const struct pp_token_rows rows = {sizeof(element), sizeof(gradient), add_row};

    (void)stream;
    pp_tokens_add_rows(&rows, e);
}

/* Returns the loss of the row, and replaces the row by its gradient. */
static double entropy_of_row(size_t vocab, size_t target, double scale, element *x)
{
    const double right = at(x, target);
    double max = -INFINITY, sum = 0;

    for (size_t i = 0; i < vocab; i++)
        max = fmax(max, at(x, i));
    for (size_t i = 0; i < vocab; i++)
        sum += exp(at(x, i) - max);
    for (size_t i = 0; i < vocab; i++)
        x[i] = from((exp(at(x, i) - max) / sum - (i == target)) * scale);
    return max + log(sum) - right;
}

static void cross_entropy(void *stream, int batch, int tokens, int first, int stride, int vocab,
                          int ld, const int32_t *targets, double scale, void *x, double *loss)
{
    element *row = x;

    (void)stream;
    for (int b = 0; b < batch; b++)
        for (int t = first; t < first + tokens; t++, row += ld) {
            const int32_t target = targets[(size_t)b * (size_t)stride + (size_t)t];
            const int kept = target < 0 ? 0 : vocab;
            *loss++ = target < 0 ? 0 : entropy_of_row((size_t)vocab, (size_t)target, scale, row);
            memset(row + kept, 0, sizeof *row * (size_t)(ld - kept));
        }
}

/* ---- cross entropy of words that several devices share --------------------------------------- */

/* Returns the target of a row of x. */
static int32_t target_of(const struct pp_entropy *e, int row)
{
    return e->targets[(size_t)(row / e->tokens) * (size_t)e->stride +
                      (size_t)(e->first + row % e->tokens)];
}

static void entropy_max(void *stream, const struct pp_entropy *e)
{
    (void)stream;
    for (int r = 0; r < e->batch * e->tokens; r++) {
        double max = -INFINITY;
        for (int i = 0; i < e->words; i++)
            max = fmax(max, at(e->x, (size_t)r * (size_t)e->ld + (size_t)i));
        ((gradient *)e->max)[r] = (gradient)max;
    }
}

static void entropy_sums(void *stream, const struct pp_entropy *e)
{
    (void)stream;
    for (int r = 0; r < e->batch * e->tokens; r++) {
        const element *x = (const element *)e->x + (size_t)r * (size_t)e->ld;
        const int target = pp_word_row(target_of(e, r), e->first_word, e->words);
        const double max = (double)((const gradient *)e->max)[r];
        gradient *sums = (gradient *)e->sums + 2 * (size_t)r;
        double sum = 0;

        for (size_t i = 0; i < (size_t)e->words; i++)
            sum += exp(at(x, i) - max);
        sums[0] = (gradient)sum;
        sums[1] = (gradient)(target >= 0 ? at(x, (size_t)target) : 0);
    }
}

static void entropy_end(void *stream, const struct pp_entropy *e)
{
    (void)stream;
    for (int r = 0; r < e->batch * e->tokens; r++) {
        element *x = (element *)e->x + (size_t)r * (size_t)e->ld;
        const int32_t id = target_of(e, r);
        const int target = pp_word_row(id, e->first_word, e->words), kept = id < 0 ? 0 : e->words;
        const double max = (double)((const gradient *)e->max)[r];
        const gradient *sums = (const gradient *)e->sums + 2 * (size_t)r;

        for (int i = 0; i < kept; i++)
            x[i] = from((exp(at(x, (size_t)i) - max) / (double)sums[0] - (i == target)) * e->scale);
        memset(x + kept, 0, sizeof *x * (size_t)(e->ld - kept));
        e->loss[r] = id < 0 ? 0 : max + log((double)sums[0]) - (double)sums[1];
    }
}
