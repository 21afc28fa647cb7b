/* Finds which uses of a unit load it, and which find it in the cache of the rank.
 *
 * A full cache evicts the unit with the farthest next use; no policy loads less (Belady 1966). Or
 * it evicts the least recently used unit, or the one that came first. A unit in use stays. A unit
 * is dropped after its last use before its eviction. So its memory is free earlier. */
#include "schedules/lower/cache.h"

#include "core/heap.h"

#include <assert.h>
#include <limits.h>

/* A reason to evict a unit. It is out of date if the unit has been used, or evicted, since. */
struct victim {
    int64_t key; /* the greatest is evicted */
    int use;     /* last use of the unit so far */
};
static inline bool is_before(struct victim a, struct victim b)
{
    return a.key > b.key || (a.key == b.key && a.use < b.use);
}
PP_HEAP(victims, struct victim, 2, is_before)

struct cache {
    struct pp_arena *arena;
    const struct pp_cache_use *uses;
    enum pp_evict evict;
    int *next;   /* [use]: the next use of its unit, or INT_MAX */
    int *last;   /* [unit]: its last use, -1 = not resident */
    int *loaded; /* [unit]: use that loaded it */
    struct victims victims;
    int resident;
};

static void find_next(struct cache *c, int count, int units)
{
    int *at = PP_ARRAY(c->arena, int, units);

    for (int k = count - 1; k >= 0; k--) {
        const int later = at[c->uses[k].unit];
        c->next[k] = later > 0 ? later : INT_MAX;
        at[c->uses[k].unit] = k;
    }
}

static int64_t key_of(const struct cache *c, int use)
{
    return c->evict == PP_EVICT_BELADY ? c->next[use]
           : c->evict == PP_EVICT_LRU  ? -(int64_t)use
                                       : -(int64_t)c->loaded[c->uses[use].unit];
}

/* Is true if the unit of a victim is in use at a step, or about to be. */
static bool is_needed(const struct cache *c, int use, int step)
{
    const int next = c->next[use];

    return c->uses[use].until >= step || (next != INT_MAX && c->uses[next].from == step);
}

/* Evicts units until there is room for one more; those that are needed stay. */
static void make_room(struct cache *c, int room, int step)
{
    struct victim *needed = NULL;
    int count = 0, capacity = 0;

    while (c->resident >= room && c->victims.count > 0) {
        const struct victim v = victims_pop(&c->victims);
        int *last = &c->last[c->uses[v.use].unit];
        if (*last != v.use)
            continue;
        if (is_needed(c, v.use, step)) {
            *PP_PUSH(c->arena, needed, count, capacity) = v;
            continue;
        }
        *last = -1;
        c->resident--;
    }
    for (int k = 0; k < count; k++)
        victims_push(c->arena, &c->victims, needed[k]);
}

int pp_cache_walk(const struct pp_cache_use *uses, int count, int units, int room,
                  enum pp_evict evict, bool *is_hit)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct cache c = {.arena = scratch,
                      .uses = uses,
                      .evict = evict,
                      .next = PP_ARRAY(scratch, int, count),
                      .last = PP_ARRAY(scratch, int, units),
                      .loaded = PP_ARRAY(scratch, int, units)};
    int loads = 0;

    assert(room > 0);
    for (int u = 0; u < units; u++)
        c.last[u] = -1;
    find_next(&c, count, units);
    for (int k = 0; k < count; k++) {
        const int unit = uses[k].unit;
        is_hit[k] = c.last[unit] >= 0;
        if (!is_hit[k]) {
            make_room(&c, room, uses[k].from);
            c.loaded[unit] = k;
            c.resident++;
            loads++;
        }
        c.last[unit] = k;
        victims_push(scratch, &c.victims, (struct victim){key_of(&c, k), k});
    }
    return loads;
}

int pp_cache_moves(const struct pp_cache_step *steps, int count, int blocks)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_cache_use *uses = NULL;
    int used = 0, capacity = 0, units = 0;

    for (int s = 0; s < count; s++)
        for (int k = 0; k < steps[s].count; k++) {
            const int unit = steps[s].units[k];
            *PP_PUSH(scratch, uses, used, capacity) = (struct pp_cache_use){unit, s, s};
            units = unit >= units ? unit + 1 : units;
        }
    return 2 *
           pp_cache_walk(uses, used, units, blocks, PP_EVICT_BELADY, PP_ARRAY(scratch, bool, used));
}

enum pp_status pp_cache_check(const struct pp_state_spec *state, int most_units,
                              struct pp_error *err)
{
    if (state->cached <= most_units)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "--cache %d: a rank has %d unit%s; nearest: --cache %d",
                        state->cached, most_units, most_units == 1 ? "" : "s", most_units);
}

/* ---- visits ---------------------------------------------------------------------------------- */

/* Joins visits of `stages` chunks that find their unit in the cache to those that loaded it. */
static void join(struct pp_arena *scratch, struct pp_visits *visits, int stages, int room,
                 enum pp_evict evict)
{
    struct pp_cache_use *uses = PP_ARRAY(scratch, struct pp_cache_use, visits->count);
    bool *is_hit = PP_ARRAY(scratch, bool, visits->count);
    int *load = PP_ARRAY(scratch, int, stages); /* in the visits that remain */
    int kept = 0;

    for (int k = 0; k < visits->count; k++) {
        const struct pp_visit *v = &visits->list[k];
        uses[k] = (struct pp_cache_use){v->stage, v->from, v->until};
    }
    pp_cache_walk(uses, visits->count, stages, room, evict, is_hit);
    for (int k = 0; k < visits->count; k++) {
        const struct pp_visit v = visits->list[k];
        if (!is_hit[k])
            visits->list[load[v.stage] = kept++] = v;
        else if (visits->list[load[v.stage]].until < v.until)
            visits->list[load[v.stage]].until = v.until;
    }
    visits->count = kept;
}

void pp_cache_visits(const struct pp_visit_walk *walk, const struct pp_state_spec *state,
                     int stages, struct pp_visits *visits)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_visit_walk whole = *walk; /* in which chunks that fit are one unit */
    int most = 1;

    if (state->cached <= 1) {
        pp_visits_of_params(walk, visits);
        return;
    }
    int *units = PP_ARRAY(scratch, int, stages);
    for (int s = 0; s < stages; s++)
        units[s] = walk->units && walk->units[s] > state->cached ? walk->units[s] : 1;
    whole.units = units;
    pp_visits_of_params(&whole, visits);
    for (int k = 0; k < visits->count && walk->units; k++)
        if (walk->units[visits->list[k].stage] > most)
            most = walk->units[visits->list[k].stage];
    const int room = pp_cache_room(state->cached, most);
    if (room > 1) /* else a visit ends where another begins */
        join(scratch, visits, stages, room, state->evict);
}
