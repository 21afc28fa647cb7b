/* Samples of durations: their median, and sets of them by size. */
#include "core/quantile.h"
#include "exec/predict/calibration.h"

double pp_samples_median(const struct pp_samples *samples)
{
    return pp_median(samples->ps, samples->count);
}

/* ---- by size --------------------------------------------------------------------------------*/

struct pp_samples *pp_sized(struct pp_arena *arena, struct pp_by_size *by_size, double size)
{
    for (int k = 0; k < by_size->count; k++)
        if (by_size->at[k].size == size)
            return &by_size->at[k].took;
    struct pp_sized_samples *made = PP_PUSH(arena, by_size->at, by_size->count, by_size->capacity);
    *made = (struct pp_sized_samples){.size = size};
    return &made->took;
}

static const struct pp_sized_samples *extreme(const struct pp_by_size *by_size, int sign)
{
    const struct pp_sized_samples *best = NULL;

    for (int k = 0; k < by_size->count; k++)
        if (!best || sign * (by_size->at[k].size - best->size) > 0)
            best = &by_size->at[k];
    return best;
}

const struct pp_sized_samples *pp_sized_least(const struct pp_by_size *by_size)
{
    return extreme(by_size, -1);
}

const struct pp_sized_samples *pp_sized_most(const struct pp_by_size *by_size)
{
    return extreme(by_size, 1);
}
