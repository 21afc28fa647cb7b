/* kernels/cpu/fp32/softmax.h — the parts of a softmax over one row. */
#pragma once

#include "kernels/cpu/simd.h"

PP_INLINE float largest(const float *row, size_t count)
{
    vf max = load_some(row, count);

    if (count < LANES)
        max = only_first(count, max, row[0]);
    for (size_t i = LANES; i < count; i += LANES)
        max = larger(load_some(row + (count - i < LANES ? count - LANES : i), LANES), max);
    return largest_lane(max);
}

/* row = exp(row - max); returns the sum. */
PP_INLINE float exponentials(float *row, size_t count, float max)
{
    vf sum = {0};

    for (size_t i = 0; i < count; i += LANES) {
        const vf e = exp_lanes(load_some(row + i, count - i) - max);
        store_some(row + i, count - i, e);
        sum += count - i < LANES ? only_first(count - i, e, 0) : e;
    }
    return sum_lanes(sum);
}
