/* Bias: added to every row, its gradient summed over rows. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/simd.h"

void PP_AT(add_bias)(void *stream, int rows, int width, const void *bias, void *x)
{
    const size_t columns = (size_t)width;
    float *to = x;

    (void)stream;
    for (int r = 0; r < rows; r++, to += columns)
        for (size_t i = 0; i < columns; i += LANES) {
            const vf b = load_some((const float *)bias + i, columns - i);
            store_some(to + i, columns - i, load_some(to + i, columns - i) + b);
        }
}

/* Sums `count` columns, at most 4 vectors of them, in registers over all rows. */
PP_INLINE void sum_strip(size_t rows, size_t width, size_t count, const float *dy, float *dbias,
                         bool add, const int vectors)
{
    vf sum[4] = {{0}};

    for (size_t r = 0; r < rows; r++, dy += width)
        for (int j = 0; j < vectors; j++)
            sum[j] += load_some(dy + j * LANES, count - (size_t)j * LANES);
    for (int j = 0; j < vectors; j++) {
        const size_t rest = count - (size_t)j * LANES;
        float *to = dbias + j * LANES;
        store_some(to, rest, add ? load_some(to, rest) + sum[j] : sum[j]);
    }
}

void PP_AT(sum_rows)(void *stream, int rows, int width, const void *dy, void *dbias, bool add)
{
    const size_t columns = (size_t)width;
    size_t i = 0;

    (void)stream;
    for (; i + 4 * LANES <= columns; i += 4 * LANES)
        sum_strip((size_t)rows, columns, 4 * LANES, (const float *)dy + i, (float *)dbias + i, add,
                  4);
    for (; i < columns; i += LANES)
        sum_strip((size_t)rows, columns, columns - i, (const float *)dy + i, (float *)dbias + i,
                  add, 1);
}
