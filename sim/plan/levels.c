/* Results of a layout at one level of recomputation, used for the same layout at others. */
#include "sim/plan/levels.h"

#include <math.h>
#include <string.h>

static int64_t layouts(const struct pp_search_space *s)
{
    return s->points / s->level_count;
}

static int64_t layout_of(const struct pp_search_space *s, int64_t point)
{
    const int64_t stride = (int64_t)s->order_count * s->axis[PP_SEARCH_ZERO].count;

    return point / (stride * s->level_count) * stride + point % stride;
}

/* ---- the mildest level ----------------------------------------------------------------------- */

struct pp_search_mildest pp_search_mildest_make(struct pp_arena *arena,
                                                const struct pp_search_space *s)
{
    return (struct pp_search_mildest){
        (_Atomic uint8_t *)pp_arena_alloc(arena, sizeof(_Atomic uint8_t) * (size_t)layouts(s))};
}

void pp_search_note_level(struct pp_search_mildest mildest, const struct pp_search_space *s,
                          int64_t point)
{
    _Atomic uint8_t *level = &mildest.level[layout_of(s, point)];
    const uint8_t value = (uint8_t)(pp_search_level(s, point) + 1);
    uint8_t old = atomic_load(level);

    while ((old == 0 || value < old) && !atomic_compare_exchange_weak(level, &old, value))
        ;
}

bool pp_search_is_after(struct pp_search_mildest mildest, const struct pp_search_space *s,
                        int64_t point)
{
    const int level = atomic_load(&mildest.level[layout_of(s, point)]);

    return s->has_levels && level > 0 && level <= pp_search_level(s, point);
}

/* ---- a level that does not fit --------------------------------------------------------------- */

struct pair {
    float peak_bytes, activations_bytes;
};

struct pp_search_excess pp_search_excess_make(struct pp_arena *arena,
                                              const struct pp_search_space *s)
{
    return (struct pp_search_excess){
        (_Atomic uint64_t *)pp_arena_alloc(arena, sizeof(_Atomic uint64_t) * (size_t)layouts(s))};
}

void pp_search_note_excess(struct pp_search_excess excess, const struct pp_search_space *s,
                           int64_t point, const struct pp_result *result)
{
    const struct pp_rank_memory *m = &result->memory[result->peak_rank];
    const struct pair pair = {(float)m->peak_bytes, (float)m->activations_bytes};
    uint64_t bits;

    memcpy(&bits, &pair, sizeof(bits));
    atomic_store(&excess.bytes[layout_of(s, point)], bits);
}

/* Returns the least share of a block's saved bytes that remains at the level of the point. */
static double least_frac(const struct pp_search_space *s, int64_t point)
{
    return pp_search_point(s, point).frame->least_frac[pp_search_level(s, point)];
}

bool pp_search_exceeds(struct pp_search_excess excess, const struct pp_search_space *s,
                       int64_t point, const struct pp_config *config)
{
    const double rounding = 1e-6; /* of floats */
    const uint64_t bits = atomic_load(&excess.bytes[layout_of(s, point)]);
    struct pair pair;

    if (!s->has_levels || bits == 0 || config->order.rule != PP_ORDER_STRICT ||
        config->schedule->generate || pp_state_is_away(&config->state, PP_STATE_ACTIVATIONS) ||
        pp_state_is_quantised(&config->state))
        return false;
    memcpy(&pair, &bits, sizeof(bits));
    const double freed_bytes = (1 - least_frac(s, point)) * (double)pair.activations_bytes *
                               (1 + config->costs.framework->fragment_frac);
    return ((double)pair.peak_bytes - freed_bytes) * (1 - rounding) >
           pp_config_capacity_bytes(config);
}

/* ---- a level that takes too long ------------------------------------------------------------- */

struct pp_search_least pp_search_least_make(struct pp_arena *arena, const struct pp_search_space *s)
{
    return (struct pp_search_least){
        (_Atomic float *)pp_arena_alloc(arena, sizeof(_Atomic float) * (size_t)layouts(s))};
}

void pp_search_note_least(struct pp_search_least least, const struct pp_search_space *s,
                          int64_t point, double bound_s)
{
    if (pp_search_levels_add(s) && pp_search_level(s, point) == 0)
        atomic_store(&least.bound_s[layout_of(s, point)], nextafterf((float)bound_s, 0));
}

double pp_search_least_s(struct pp_search_least least, const struct pp_search_space *s,
                         int64_t point)
{
    return (double)atomic_load(&least.bound_s[layout_of(s, point)]);
}
