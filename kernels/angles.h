/* kernels/angles.h — angles of rotary positions, for tables of the CPU and of CUDA. */
#pragma once

#include "kernels/numbers.h"

#include <math.h>
#include <stdbool.h>

/* Pair i of the first `dim` elements of a head turns by frequency i at each token. It is theta^(-2
 * i / dim), scaled if `factor` is more than 0. Linear scaling divides by the factor (Chen et al.
 * 2023). That of Llama 3 does so for wavelengths beyond original_seq / low. It leaves those below
 * original_seq / high, and blends between. */
struct pp_angles {
    int dim;
    double theta, factor;
    double low, high; /* Llama 3; high 0 = linear */
    int original_seq; /* Llama 3 */
};

/* Returns a frequency after scaling. */
PP_ON_BOTH static inline double pp_angles_scaled(const struct pp_angles *a, double frequency)
{
    if (!(a->factor > 0))
        return frequency;
    if (!(a->high > 0))
        return frequency / a->factor;
    const double turns = a->original_seq * frequency * 0.15915494309189533577; /* 1 / 2 pi */
    const double share = (turns - a->low) / (a->high - a->low);
    const double kept = share < 0 ? 0 : share > 1 ? 1 : share;

    return frequency * (kept + (1 - kept) / a->factor);
}

/* Returns the frequency of pair i. */
PP_ON_BOTH static inline double pp_angles_frequency(const struct pp_angles *a, int i)
{
    return pp_angles_scaled(a, pow(a->theta, -2.0 * i / a->dim));
}
