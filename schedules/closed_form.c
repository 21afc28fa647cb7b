#include "schedules/closed_form.h"

double pp_bubble_flush(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double ranks = shape->ranks, chunks = shape->chunks;
    const double n = (double)shape->micro_batches * shape->splits;
    const double wait = n < ranks ? (chunks - 1) * (ranks - n) : 0;

    (void)unit, (void)rank;
    return (ranks - 1 + wait) / (n * chunks + ranks - 1 + wait);
}

enum pp_status pp_suggest_nearest(const struct pp_shape *shape, struct pp_refused refused,
                                  struct pp_error *err)
{
    int below = PP_MIN(PP_MAX(refused.value, refused.min), refused.max), above = below;

    while (below >= refused.min && !refused.is_legal(shape, below))
        below--;
    while (above <= refused.max && !refused.is_legal(shape, above))
        above++;
    if (below >= refused.min && above <= refused.max && below != above)
        pp_error_append(err, "; nearest: %d or %d", below, above);
    else if (below >= refused.min || above <= refused.max)
        pp_error_append(err, "; nearest: %d", below >= refused.min ? below : above);
    return PP_EINVAL;
}
