/* Simulates every combination of the free knobs' values, and ranks them. */
#define _GNU_SOURCE /* qsort_r */
#include "sim/plan/state.h"

#include "sim/plan/search.h"
#include "sim/report/text.h"
#include "sim/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

const char *const pp_objective_names[] = {"step", "comm", NULL};

enum { MAX_POINTS = 1 << 16 };

/* ---- one point ------------------------------------------------------------------------------- */

static void simulate(struct pp_arena *arena, struct pp_state_planned *point)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_result result;
    struct pp_error err = {0};

    if (pp_simulate(arena, &point->config, PP_METRICS, NULL, &result, &err) == PP_OK) {
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
enum { KEYS = 6 };

/* Finds the sort keys: the first that differs decides, and less is better. All choices: those that
 * fit come first, and those that do not go by their peak. Ties: those with room come first, then
 * those whose gradients are cut like parameters, as no micro-batch waits for a sum. The last keys
 * prefer the coarser cut of parameters, which are gathered most often, then of optimizer, then of
 * gradients. */
static void find_keys(const struct pp_state_planned *point, enum order order, double keys[KEYS])
{
    const int params = cut_of(point, PP_STATE_PARAMS), grads = cut_of(point, PP_STATE_GRADS);
    const bool is_tie = order == TIES_BY_COMM || order == TIES_BY_STATE;
    const double value = order == ALL_BY_STEP     ? step_of(point)
                         : order == TIES_BY_STATE ? point->outcome.state_bytes
                                                  : comm_of(point);

    keys[0] = is_tie ? !pp_search_has_room(&point->outcome) : class_of(point);
    keys[1] = is_tie && grads != params;
    keys[2] = !is_tie && class_of(point) == 1 ? point->outcome.peak_bytes : value;
    keys[3] = params;
    keys[4] = cut_of(point, PP_STATE_OPTIMIZER);
    keys[5] = grads;
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
    sort(points, ties_of(points, planner->ties, PP_TIE_FRAC, comm_of), TIES_BY_STATE);
}

/* ---- all points ------------------------------------------------------------------------------ */

/* Replaces each configuration by one for each value of the knob. */
static enum pp_status turn(struct pp_arena *arena, const struct pp_state_plan_knob *knob,
                           struct pp_config **list, int *count, struct pp_error *err)
{
    struct pp_config *all = NULL;
    int total = 0, capacity = 0;

    for (int i = 0; i < *count; i++) {
        struct pp_config *values;
        int of_one;
        PP_TRY(knob->values(arena, &(*list)[i], &values, &of_one, err));
        if (total + of_one > MAX_POINTS)
            return pp_error_set(err, PP_EINVAL,
                                "--free: more than %d combinations; leave less free", MAX_POINTS);
        for (int k = 0; k < of_one; k++)
            *PP_PUSH(arena, all, total, capacity) = values[k];
    }
    *list = all;
    *count = total;
    return PP_OK;
}

enum pp_status pp_state_plan_run(struct pp_arena *arena, struct pp_state_plan *planner,
                                 struct pp_error *err)
{
    struct pp_config *list = &planner->base;
    int count = 1;

    for (int i = 0; i < planner->knob_count; i++)
        PP_TRY(turn(arena, planner->knobs[i], &list, &count, err));
    planner->count = count;
    planner->points = PP_ARRAY(arena, struct pp_state_planned, count);
    for (int i = 0; i < count; i++) {
        struct pp_state_planned *point = &planner->points[i];
        point->config = list[i];
        simulate(arena, point);
        planner->fitting += class_of(point) == 0;
        planner->too_large += class_of(point) == 1;
        planner->refused += class_of(point) == 2;
    }
    rank(planner);
    return PP_OK;
}
