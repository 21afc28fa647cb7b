/* sim/plan/levels.h — what workers learn of layouts at one level of recomputation for the others.
 * Private to sim/plan. Arrays have an element for each layout: a point without its level. */
#pragma once

#include "sim/plan/search.h"

#include <stdatomic.h>

/* The mildest level of each layout that was noted; 1 for the first, 0 = none. */
struct pp_search_mildest {
    _Atomic uint8_t *level, *fitting; /* noted at all, and noted as fitting */
};
struct pp_search_mildest pp_search_mildest_make(struct pp_arena *arena,
                                                const struct pp_search_space *space);
void pp_search_note_level(struct pp_search_mildest mildest, const struct pp_search_space *space,
                          int64_t point);
void pp_search_note_fit(struct pp_search_mildest mildest, const struct pp_search_space *space,
                        int64_t point);
/* Is true if a milder level of the point's layout was noted. Or the layout fits at no stronger
 * level with milder tiers, which leave only what they must. Then the point has no use: it takes
 * more time. */
bool pp_search_is_after(struct pp_search_mildest mildest, const struct pp_search_space *space,
                        int64_t point);

/* Peak and activations of a level of each layout that does not fit; 0 = none so far. */
struct pp_search_excess {
    _Atomic uint64_t *bytes; /* two floats */
};
struct pp_search_excess pp_search_excess_make(struct pp_arena *arena,
                                              const struct pp_search_space *space);
void pp_search_note_excess(struct pp_search_excess excess, const struct pp_search_space *space,
                           int64_t point, const struct pp_result *result);
/* Is true if the point cannot fit either: no level frees more than its share of the activations.
 * False where levels may change the order of ops. */
bool pp_search_exceeds(struct pp_search_excess excess, const struct pp_search_space *space,
                       int64_t point, const struct pp_config *config);

/* Tight bound of a step at the first level of each layout, seconds per sample; 0 = not tried. */
struct pp_search_least {
    _Atomic float *bound_s;
};
struct pp_search_least pp_search_least_make(struct pp_arena *arena,
                                            const struct pp_search_space *space);
void pp_search_note_least(struct pp_search_least least, const struct pp_search_space *space,
                          int64_t point, double bound_s);
/* Returns a bound for the point from the first level of its layout; 0 = none is known. */
double pp_search_least_s(struct pp_search_least least, const struct pp_search_space *space,
                         int64_t point);
/* Is true if levels after the first take at least its time: they add R. Where the host launches
 * kernels, R may change the ops next to it. */
static inline bool pp_search_levels_add(const struct pp_search_space *space)
{
    return space->has_levels && !space->fixed.cost &&
           space->fixed.costs.framework->kernel_gap_s == 0;
}
