/* LayerNorm and RMSNorm. All passes over a row except the first read the first cache. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/simd.h"

#include <math.h>

/* x - mean of lanes i .. i + 15 of a row, zero beyond its end. */
PP_INLINE vf centered(const float *x, size_t i, size_t width, float mean)
{
    if (width - i >= LANES)
        return load(x + i) - mean;
    return only_first(width - i, load_part(x + i, width - i) - mean, 0);
}

static float mean_of(const float *x, size_t width)
{
    vf sum = {0};

    for (size_t i = 0; i < width; i += LANES)
        sum += load_some(x + i, width - i);
    return sum_lanes(sum) / (float)width;
}

static float variance_of(const float *x, size_t width, float mean)
{
    vf sum = {0};

    for (size_t i = 0; i < width; i += LANES) {
        const vf d = centered(x, i, width, mean);
        sum += d * d;
    }
    return sum_lanes(sum) / (float)width;
}

void PP_AT(norm_forward)(void *stream, const struct pp_norm *n)
{
    const size_t width = (size_t)n->width;
    const float *gamma = n->gamma, *beta = n->beta;
    float *stats = n->stats;

    (void)stream;
    for (int r = 0; r < n->rows; r++, stats += 2) {
        const size_t at = pp_norm_row(n, (size_t)r);
        const float *x = (const float *)n->x + at;
        float *y = (float *)n->y + at;
        const float mean = n->is_rms ? 0 : mean_of(x, width);
        const float inverse = 1 / sqrtf(variance_of(x, width, mean) + (float)n->epsilon);

        for (size_t i = 0; i < width; i += LANES) {
            const size_t rest = width - i;
            const vf h = (load_some(x + i, rest) - mean) * inverse;
            const vf scaled = h * load_some(gamma + i, rest);
            store_some(y + i, rest, beta ? scaled + load_some(beta + i, rest) : scaled);
        }
        stats[0] = mean;
        stats[1] = inverse;
    }
}

static void norm_inputs(const struct pp_norm *n)
{
    const size_t width = (size_t)n->width;
    const float *gamma = n->gamma, *stats = n->stats;

    for (int r = 0; r < n->rows; r++, stats += 2) {
        const size_t at = pp_norm_row(n, (size_t)r);
        const float *x = (const float *)n->x + at, *dy = (const float *)n->dy + at;
        const float *base = n->base ? (const float *)n->base + at : NULL;
        float *dx = (float *)n->dx + at;
        const float mean = stats[0], inverse = stats[1];
        vf sum_g = {0}, sum_gd = {0};

        for (size_t i = 0; i < width; i += LANES) {
            const vf g = load_some(dy + i, width - i) * load_some(gamma + i, width - i);
            sum_g += g;
            sum_gd += g * centered(x, i, width, mean);
        }
        const float mean_g = n->is_rms ? 0 : sum_lanes(sum_g) / (float)width;
        const float slope = sum_lanes(sum_gd) / (float)width * inverse * inverse;
        for (size_t i = 0; i < width; i += LANES) {
            const size_t rest = width - i;
            const vf g = load_some(dy + i, rest) * load_some(gamma + i, rest);
            const vf d = load_some(x + i, rest) - mean;
            const vf before = base ? load_some(base + i, rest) : (vf){0};
            store_some(dx + i, rest, before + inverse * (g - mean_g - d * slope));
        }
    }
}

/* As sum_strip of rows.c, for gamma and beta in one pass. */
PP_INLINE void weights_strip(const struct pp_norm *n, size_t first, size_t count, const int vectors)
{
    float *dgamma = n->dgamma, *dbeta = n->dbeta;
    const float *stats = n->stats;
    vf gamma[4] = {{0}}, beta[4] = {{0}};

    for (int r = 0; r < n->rows; r++, stats += 2) {
        const size_t row = pp_norm_row(n, (size_t)r) + first;
        const float *x = (const float *)n->x + row, *dy = (const float *)n->dy + row;
        for (int j = 0; j < vectors; j++) {
            const size_t rest = count - (size_t)j * LANES;
            const vf d = load_some(dy + j * LANES, rest);
            gamma[j] += d * ((load_some(x + j * LANES, rest) - stats[0]) * stats[1]);
            beta[j] += d;
        }
    }
    for (int j = 0; j < vectors; j++) {
        const size_t at = first + (size_t)j * LANES, rest = count - (size_t)j * LANES;
        store_some(dgamma + at, rest, gamma[j]);
        if (dbeta)
            store_some(dbeta + at, rest, beta[j]);
    }
}

void PP_AT(norm_backward)(void *stream, const struct pp_norm *n)
{
    const size_t width = (size_t)n->width;
    size_t i = 0;

    for (; i + 4 * LANES <= width; i += 4 * LANES)
        weights_strip(n, i, 4 * LANES, 4);
    for (; i < width; i += LANES)
        weights_strip(n, i, width - i, 1);
    if (n->dgamma_added)
        PP_AT(add)(stream, n->width, n->dgamma, n->dgamma_added);
    if (n->dbeta_added)
        PP_AT(add)(stream, n->width, n->dbeta, n->dbeta_added);
    norm_inputs(n);
    if (n->dx_sum)
        PP_AT(sum_rows)(stream, n->rows, n->width, n->dx, n->dx_sum, false);
    if (n->dx_added)
        PP_AT(add)(stream, n->width, n->dx_sum, n->dx_added);
}
