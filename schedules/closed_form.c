#include "schedules/closed_form.h"

double pp_bubble_flush(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    const double ranks = shape->ranks, chunks = shape->chunks;
    const double n = (double)shape->micro_batches * shape->splits;
    const double wait = n < ranks ? (chunks - 1) * (ranks - n) : 0;

    (void)unit, (void)rank;
    return (ranks - 1 + wait) / (n * chunks + ranks - 1 + wait);
}

enum pp_status pp_refuse_multiple(const char *option, int value, int step, const char *why,
                                  struct pp_error *err)
{
    const int below = value / step * step;

    if (below == 0 || below > INT32_MAX - step)
        return pp_error_set(err, PP_EINVAL, "%s %d: %s; nearest: %d", option, value, why,
                            below == 0 ? step : below);
    return pp_error_set(err, PP_EINVAL, "%s %d: %s; nearest: %d or %d", option, value, why, below,
                        below + step);
}
