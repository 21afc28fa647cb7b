/* schedules/lower/cache.h — units of parameters that stay on a rank between their uses. The order
 * of all uses is known, so the rank decides before it runs what it loads and what it keeps. A step
 * begins with an empty cache. */
#pragma once

#include "core/cost/state.h"
#include "schedules/lower/visits.h"

/* A use of a unit from step `from` to step `until`, inclusive. */
struct pp_cache_use {
    int unit, from, until;
};

/* Walks uses, which are sorted by `from`, with room for `room` units, at least 1. Units in use at
 * the same time may exceed that. Fills `is_hit`: the unit is still there. `units` is above all
 * numbers of units. Returns the loads. Takes O(n log n) time. */
int pp_cache_walk(const struct pp_cache_use *uses, int count, int units, int room,
                  enum pp_evict evict, bool *is_hit);

/* Units that one step needs at once. */
struct pp_cache_step {
    const int *units;
    int count;
};
/* Returns how often units move into `blocks` blocks of memory, or leave them again. The unit with
 * the farthest next use leaves. All blocks are empty at the start and at the end. Units have
 * numbers below 2^20. Source: Huang et al. 2022, Elixir, search of chunks. */
int pp_cache_moves(const struct pp_cache_step *steps, int count, int blocks);

/* Returns how many fetches of `most_units` units have room in a cache of `cached` units, at least
 * 1. A visit fetches all units of its chunk at once, or as many as the cache has. */
static inline int pp_cache_room(int cached, int most_units)
{
    return cached > most_units ? cached / most_units : 1;
}

/* Checks the number of units in the cache. PP_EINVAL if no rank has as many. */
enum pp_status pp_cache_check(const struct pp_state_spec *state, int most_units,
                              struct pp_error *err);

/* Finds what a rank fetches, as pp_visits_of_params() does. A visit that finds its unit in the
 * cache of `state` continues the visit before it of that unit. So what remains are loads, each from
 * its first use until the unit is evicted. Chunks that fit into the cache are units as a whole. */
void pp_cache_visits(const struct pp_visit_walk *walk, const struct pp_state_spec *state,
                     int stages, struct pp_visits *visits);
