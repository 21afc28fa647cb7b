/* schedules/evaluate/perturb.h — jitter and slow devices: the duration of one compute op on one
 * replica. A counter of seed, step, instruction and replica gives the random numbers
 * (core/random.h): every engine draws the same ones. IEEE doubles without contraction. */
#pragma once

#include "core/random.h"
#include "schedules/evaluate/evaluate.h"

#define PP_ALWAYS static inline __attribute__((always_inline))

/* Returns the stream of instruction `row` = step * instructions + instruction. */
PP_ALWAYS uint64_t pp_perturb_stream(const struct pp_perturbation *p, uint64_t row)
{
    return pp_random_stream(p->seed, row);
}

/* Returns a uniform number in [-1, 1), 53 bits. */
PP_ALWAYS double pp_perturb_uniform(uint64_t stream, int replica)
{
    const uint64_t bits = pp_random_bits(stream, (uint64_t)replica);

    return (double)(int64_t)(bits >> 11) * 0x1p-52 - 1;
}

/* Returns the perturbed duration, at most INT64_MAX / 8. `slow` of the rank: [replica], or NULL.
 * The caller ensures that sums of stretched times do not overflow. */
PP_ALWAYS int64_t pp_perturb_ps(const struct pp_perturbation *p, uint64_t stream,
                                const double *slow, int replica, double nominal_ps)
{
    const int64_t limit_ps = INT64_MAX / 8;
    double factor = 1;

    if (p->jitter_frac != 0)
        factor += p->jitter_frac * pp_perturb_uniform(stream, replica);
    if (slow)
        factor /= slow[replica];
    const double stretched_ps = nominal_ps * factor + 0.5;
    return !(stretched_ps > 0)               ? 0
           : stretched_ps < (double)limit_ps ? (int64_t)stretched_ps
                                             : limit_ps;
}

/* Returns the duration, on a device of `speed`, of an op that takes nominal_ps at speed 1. */
PP_ALWAYS int64_t pp_slowed_ps(int64_t nominal_ps, double speed)
{
    const struct pp_perturbation none = {0};

    return speed == 1 ? nominal_ps : pp_perturb_ps(&none, 0, &speed, 0, (double)nominal_ps);
}
