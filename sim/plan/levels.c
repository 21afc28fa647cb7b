/* Results of a layout at one level of recomputation, used for the same layout at others. */
#include "sim/plan/levels.h"

#include "sim/config/auto_share.h"

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

static _Atomic uint8_t *make_levels(struct pp_arena *arena, const struct pp_search_space *s)
{
    return (_Atomic uint8_t *)pp_arena_alloc(arena, sizeof(_Atomic uint8_t) * (size_t)layouts(s));
}

struct pp_search_mildest pp_search_mildest_make(struct pp_arena *arena,
                                                const struct pp_search_space *s)
{
    return (struct pp_search_mildest){make_levels(arena, s), make_levels(arena, s)};
}

static void lower(_Atomic uint8_t *level, uint8_t value)
{
    uint8_t old = atomic_load(level);

    while ((old == 0 || value < old) && !atomic_compare_exchange_weak(level, &old, value))
        ;
}

void pp_search_note_level(struct pp_search_mildest mildest, const struct pp_search_space *s,
                          int64_t point)
{
    lower(&mildest.level[layout_of(s, point)], (uint8_t)(pp_search_level(s, point) + 1));
}

void pp_search_note_fit(struct pp_search_mildest mildest, const struct pp_search_space *s,
                        int64_t point)
{
    lower(&mildest.fitting[layout_of(s, point)], (uint8_t)(pp_search_level(s, point) + 1));
}

bool pp_search_is_after(struct pp_search_mildest mildest, const struct pp_search_space *s,
                        int64_t point)
{
    const int64_t layout = layout_of(s, point),
                  stride = (int64_t)s->order_count * s->axis[PP_SEARCH_ZERO].count;
    const int tiers = pp_search_point(s, point).frame->tiers, own = pp_search_level(s, point),
              noted = atomic_load(&mildest.level[layout]);
    bool is_after = s->has_levels && noted > 0 && noted <= own;

    for (int t = 0; t < tiers && !is_after; t++) {
        const int level = atomic_load(&mildest.fitting[layout - (tiers - t) * stride]);
        is_after = level > 0 && level <= own + 1 &&
                   pp_tier_is_milder(&s->tiers.list[t], &s->tiers.list[tiers]);
    }
    return is_after;
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

    if (!s->has_levels || bits == 0 || pp_auto_share_last(&config->wanted) > 0 ||
        config->order.rule != PP_ORDER_STRICT || config->schedule->generate ||
        pp_state_is_away(&config->state, PP_STATE_ACTIVATIONS) ||
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
