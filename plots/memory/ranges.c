/* The least and the greatest value of curves in equal spans of time. */
#include "plots/memory/time.h"

#include <math.h>

int pp_held_bin(const struct pp_plot_held *h, double time_s, int bins)
{
    const int bin = (int)(time_s / h->end_s * bins);

    return bin < 0 ? 0 : bin >= bins ? bins - 1 : bin;
}

static void widen(struct pp_held_range *range, double value)
{
    range->least = fmin(range->least, value);
    range->most = fmax(range->most, value);
}

/* A value counts in every bin that it reaches into. */
void pp_held_add_range(const struct pp_held_sheet *s, int rank, struct pp_held_range *ranges,
                       int bins)
{
    const struct pp_plot_held *h = s->held;
    const struct pp_held_curve *c = &s->curves[rank];

    for (int i = 0; i < c->count; i++) {
        const double until_s = i + 1 < c->count ? c->time_s[i + 1] : h->end_s;
        for (int bin = pp_held_bin(h, c->time_s[i], bins); bin <= pp_held_bin(h, until_s, bins);
             bin++)
            widen(&ranges[bin], c->held[i]);
    }
}

struct pp_held_range *pp_held_ranges(struct pp_arena *arena, int bins)
{
    struct pp_held_range *ranges = PP_ARRAY(arena, struct pp_held_range, bins);

    for (int i = 0; i < bins; i++)
        ranges[i] = (struct pp_held_range){INFINITY, 0};
    return ranges;
}
