/* The search: every combination of what is free, simulated, ranked. */
#include "sim/plan/state.h"

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

/* The coarser first: parameters, which are gathered most often, then optimizer, then gradients. */
static int by_cut(const void *a, const void *b)
{
    static const enum pp_state_class order[] = {PP_STATE_PARAMS, PP_STATE_OPTIMIZER,
                                                PP_STATE_GRADS};

    for (size_t i = 0; i < PP_COUNT(order); i++)
        if (cut_of(a, order[i]) != cut_of(b, order[i]))
            return cut_of(a, order[i]) < cut_of(b, order[i]) ? -1 : 1;
    return 0;
}

static int by_value(double x, double y)
{
    return x < y ? -1 : x > y;
}

/* What does not fit by what it needs. */
static int by_rank(const struct pp_state_planned *x, const struct pp_state_planned *y, double of_x,
                   double of_y)
{
    if (class_of(x) != class_of(y))
        return class_of(x) - class_of(y);
    const int order = class_of(x) == 1 ? by_value(x->outcome.peak_bytes, y->outcome.peak_bytes)
                                       : by_value(of_x, of_y);
    return order ? order : by_cut(x, y);
}

static int by_step(const void *a, const void *b)
{
    const struct pp_state_planned *x = a, *y = b;

    return by_rank(x, y, x->outcome.step_s, y->outcome.step_s);
}

static int by_comm(const void *a, const void *b)
{
    const struct pp_state_planned *x = a, *y = b;

    return by_rank(x, y, pp_shard_times_s(x->comm), pp_shard_times_s(y->comm));
}

static double step_of(const struct pp_state_planned *point)
{
    return point->outcome.step_s;
}

/* Where gradients are cut like parameters no micro-batch waits for a sum, however many there are.
 */
static bool is_simple(const struct pp_state_planned *point)
{
    return cut_of(point, PP_STATE_GRADS) == cut_of(point, PP_STATE_PARAMS);
}

/* What comes first whatever the communication. */
static int by_ease(const struct pp_state_planned *x, const struct pp_state_planned *y)
{
    if (x->outcome.is_strained != y->outcome.is_strained)
        return x->outcome.is_strained ? 1 : -1;
    return is_simple(y) - is_simple(x);
}

static double comm_of(const struct pp_state_planned *point)
{
    return pp_shard_times_s(point->comm);
}

/* Of steps that cannot be told apart: those with room, those with simple gradients, then least
 * communication. */
static int by_merit(const void *a, const void *b)
{
    const struct pp_state_planned *x = a, *y = b;

    if (by_ease(x, y))
        return by_ease(x, y);
    const int order = by_value(comm_of(x), comm_of(y));
    return order ? order : by_cut(x, y);
}

static int by_state(const void *a, const void *b)
{
    const struct pp_state_planned *x = a, *y = b;

    if (by_ease(x, y))
        return by_ease(x, y);
    const int order = by_value(x->outcome.state_bytes, y->outcome.state_bytes);
    return order ? order : by_cut(x, y);
}

/* How many of the first `count`, in ascending order, are within `frac` of the first. */
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

    qsort(points, (size_t)planner->count, sizeof(*points), is_step ? by_step : by_comm);
    if (!is_step)
        return;
    planner->ties = ties_of(points, planner->fitting, PP_PLANNER_TIE_FRAC, step_of);
    for (int i = 0; i < planner->ties; i++)
        points[i].is_tie = true;
    qsort(points, (size_t)planner->ties, sizeof(*points), by_merit);
    qsort(points, (size_t)ties_of(points, planner->ties, PP_TIE_FRAC, comm_of), sizeof(*points),
          by_state);
}

/* ---- all points ------------------------------------------------------------------------------ */

/* The values of one more knob for each of the configurations so far. */
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
