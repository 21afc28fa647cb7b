/* Simulates every combination of the free knobs' values, and ranks them. */
#define _GNU_SOURCE /* qsort_r */
#include "sim/plan/state.h"

#include "sim/config/tiers.h"
#include "sim/plan/search.h"
#include "sim/report/text.h"
#include "sim/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

const char *const pp_objective_names[] = {"step", "comm", NULL};

enum { MAX_POINTS = 1 << 16 };

/* ---- one point ------------------------------------------------------------------------------- */

/* Chooses what the point leaves open: shares, and what no free knob has. `result` is in memory. */
static enum pp_status settle(struct pp_arena *arena, const struct pp_state_plan *planner,
                             struct pp_config *config, struct pp_prepared *prepared,
                             struct pp_error *err)
{
    const unsigned chosen = config->origin.chosen;
    struct pp_result ignored;

    if (!pp_state_plan_has_tiers(planner) && planner->knob_count > 0)
        return PP_OK;
    for (int i = 0; i < planner->knob_count; i++)
        config->origin.chosen &= ~planner->knobs[i]->settles;
    prepared->is_alone = true;
    PP_TRY(pp_resolve_state(arena, config, prepared, &ignored, err));
    config->origin.chosen = chosen;
    return PP_OK;
}

static enum pp_status simulate(struct pp_arena *arena, const struct pp_state_plan *planner,
                               enum pp_depth depth, struct pp_state_planned *point,
                               struct pp_result *result, struct pp_error *err)
{
    struct pp_prepared prepared = {0};

    PP_TRY(settle(arena, planner, &point->config, &prepared, err));
    return pp_simulate(arena, &point->config, depth, &prepared, result, err);
}

void pp_state_plan_try(struct pp_arena *arena, const struct pp_state_plan *planner,
                       enum pp_depth depth, struct pp_state_planned *point)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_result result;
    struct pp_error err = {0};

    if (simulate(arena, planner, depth, point, &result, &err) == PP_OK) {
        point->full = pp_tiers_full(&result);
        for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++) {
            point->away_bytes[tier] = pp_tiers_bytes(&result, (enum pp_tier)tier);
            point->room_bytes[tier] = pp_tiers_room_bytes(&result, (enum pp_tier)tier);
        }
        point->outcome = pp_outcome_of(&result);
        point->comm = pp_shard_times(&result.cost_inputs);
    } else {
        point->outcome = pp_outcome_refused(&err);
    }
    pp_arena_release(arena, mark);
}

/* ---- ranking --------------------------------------------------------------------------------- */

static int class_of(const struct pp_state_planned *point)
{
    return point->outcome.is_refused ? 2 : !point->outcome.fits;
}

static int cut_of(const struct pp_state_planned *point, enum pp_state_class class)
{
    return pp_mesh_size(point->config.state.shard[class]);
}

static double step_of(const struct pp_state_planned *point)
{
    return point->outcome.step_s;
}

static double comm_of(const struct pp_state_planned *point)
{
    return pp_shard_times_s(point->comm);
}

/* Orders of all choices, and of ties. */
enum order { ALL_BY_STEP, ALL_BY_COMM, TIES_BY_COMM, TIES_BY_STATE };
enum { KEYS = 7 };

/* Finds the sort keys: the first that differs decides, and less is better. All choices: those that
 * fit come first, and those that do not go by their peak. Ties: those with room come first, then
 * those that move least to other tiers. Next are those whose gradients are cut like parameters, as
 * no micro-batch waits for a sum. The last keys prefer the coarser cut of parameters, which are
 * gathered most often, then of optimizer, then of gradients. */
static void find_keys(const struct pp_state_planned *point, enum order order, double keys[KEYS])
{
    const int params = cut_of(point, PP_STATE_PARAMS), grads = cut_of(point, PP_STATE_GRADS);
    const bool is_tie = order == TIES_BY_COMM || order == TIES_BY_STATE;
    const double value = order == ALL_BY_STEP     ? step_of(point)
                         : order == TIES_BY_STATE ? point->outcome.state_bytes
                                                  : comm_of(point);

    keys[0] = is_tie ? !pp_search_has_room(&point->outcome) : class_of(point);
    keys[1] = is_tie ? point->tiers : 0;
    keys[2] = is_tie && grads != params;
    keys[3] = !is_tie && class_of(point) == 1 ? point->outcome.peak_bytes : value;
    keys[4] = params;
    keys[5] = cut_of(point, PP_STATE_OPTIMIZER);
    keys[6] = grads;
}

static int by_keys(const void *a, const void *b, void *order)
{
    double x[KEYS], y[KEYS];

    find_keys(a, *(const enum order *)order, x);
    find_keys(b, *(const enum order *)order, y);
    for (int i = 0; i < KEYS; i++)
        if (x[i] < y[i] || x[i] > y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static void sort(struct pp_state_planned *points, int count, enum order order)
{
    qsort_r(points, (size_t)count, sizeof(*points), by_keys, &order);
}

/* Returns the number of points within `frac` of the first; the first `count` are ascending. */
static int ties_of(const struct pp_state_planned *points, int count, double frac,
                   double (*value)(const struct pp_state_planned *point))
{
    int ties = 0;

    while (ties < count && value(&points[ties]) <= value(&points[0]) * (1 + frac))
        ties++;
    return ties;
}

static void rank(struct pp_state_plan *planner)
{
    const bool is_step = planner->objective == PP_OBJECTIVE_STEP;
    struct pp_state_planned *points = planner->points;

    sort(points, planner->count, is_step ? ALL_BY_STEP : ALL_BY_COMM);
    if (!is_step)
        return;
    planner->ties = ties_of(points, planner->fitting, PP_PLANNER_TIE_FRAC, step_of);
    for (int i = 0; i < planner->ties; i++)
        points[i].is_tie = true;
    sort(points, planner->ties, TIES_BY_COMM);
    if (!pp_state_plan_has_tiers(planner)) /* else the least communication moves state */
        sort(points, ties_of(points, planner->ties, PP_TIE_FRAC, comm_of), TIES_BY_STATE);
}

/* ---- all points ------------------------------------------------------------------------------ */

/* Points before they are simulated. */
struct points {
    struct pp_state_planned *list;
    int count, capacity;
};

static enum pp_status add(struct pp_arena *arena, const struct pp_config *config, int tiers,
                          struct points *points, struct pp_error *err)
{
    if (points->count == MAX_POINTS)
        return pp_error_set(err, PP_EINVAL, "--free: more than %d combinations; leave less free",
                            MAX_POINTS);
    *PP_PUSH(arena, points->list, points->count, points->capacity) =
        (struct pp_state_planned){.config = *config, .tiers = tiers};
    return PP_OK;
}

/* Replaces each point by one for each value of the knob. */
static enum pp_status turn(struct pp_arena *arena, const struct pp_state_plan_knob *knob,
                           struct points *points, struct pp_error *err)
{
    struct points all = {0};

    for (int i = 0; i < points->count && knob->values; i++) {
        struct pp_config *values;
        int count;
        PP_TRY(knob->values(arena, &points->list[i].config, &values, &count, err));
        for (int k = 0; k < count; k++)
            PP_TRY(add(arena, &values[k], points->list[i].tiers, &all, err));
    }
    *points = knob->values ? all : *points;
    return PP_OK;
}

/* Adds the base with each choice of tiers that its schedule has. */
static enum pp_status add_tiers(struct pp_arena *arena, struct pp_state_plan *planner,
                                struct points *points, struct pp_error *err)
{
    if (!pp_state_plan_has_tiers(planner))
        return add(arena, &planner->base, 0, points, err);
    PP_TRY(pp_tier_choices(arena, planner->wish, &planner->base, planner->is_tier_free,
                           &planner->tiers, err));
    for (int i = 0; i < planner->tiers.count; i++) {
        struct pp_config config = planner->base;
        config.wanted = planner->tiers.list[i].wanted;
        if (pp_resolve_shards(arena, &config, err) != PP_OK)
            continue;
        PP_TRY(add(arena, &config, i, points, err));
    }
    return points->count ? PP_OK : err->status;
}

/* Is true for a point whose tiers gain nothing: no share left the device, or no unit stays. Or they
 * are drives, and the host has room for the same. */
static bool is_idle(const struct pp_state_plan *planner, int at)
{
    const struct pp_state_planned *point = &planner->points[at];
    const struct pp_tier_choice *choice = &planner->tiers.list[point->tiers];

    for (int i = 0; choice->host >= 0 && i < at; i++) {
        const struct pp_state_planned *host = &planner->points[i];
        if (host->tiers == choice->host && host->rest == point->rest)
            return !host->outcome.is_refused && host->full == PP_TIER_DEVICE;
    }
    if (point->outcome.is_refused)
        return false;
    return (choice->at[PP_TIER_OFFLOAD] > 0 &&
            !pp_state_is_away(&point->config.state, PP_STATE_OPTIMIZER)) ||
           (choice->at[PP_TIER_CACHE] > 0 && point->config.state.cached <= 1);
}

/* Drops idle points. */
static void drop_idle(struct pp_state_plan *planner)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    bool *is_dropped = PP_ARRAY(scratch, bool, planner->count);
    int kept = 0;

    for (int i = 0; i < planner->count; i++)
        is_dropped[i] = pp_state_plan_has_tiers(planner) && is_idle(planner, i);
    for (int i = 0; i < planner->count; i++)
        if (!is_dropped[i])
            planner->points[kept++] = planner->points[i];
    planner->count = kept;
}

enum pp_status pp_state_plan_points(struct pp_arena *arena, struct pp_state_plan *planner,
                                    struct pp_error *err)
{
    struct points points = {0};

    PP_TRY(add_tiers(arena, planner, &points, err));
    const int choices = points.count;
    for (int i = 0; i < planner->knob_count; i++)
        PP_TRY(turn(arena, planner->knobs[i], &points, err));
    for (int i = 0; i < points.count; i++)
        points.list[i].rest = i % (points.count / choices);
    planner->points = points.list;
    planner->count = points.count;
    return PP_OK;
}

enum pp_status pp_state_plan_run(struct pp_arena *arena, struct pp_state_plan *planner,
                                 struct pp_error *err)
{
    PP_TRY(pp_state_plan_points(arena, planner, err));
    for (int i = 0; i < planner->count; i++)
        pp_state_plan_try(arena, planner, PP_METRICS, &planner->points[i]);
    drop_idle(planner);
    for (int i = 0; i < planner->count; i++) {
        planner->fitting += class_of(&planner->points[i]) == 0;
        planner->too_large += class_of(&planner->points[i]) == 1;
        planner->refused += class_of(&planner->points[i]) == 2;
    }
    rank(planner);
    return PP_OK;
}
