/* Lower bounds on the time and memory of a step, from closed forms. */
#include "schedules/order/bound.h"

#include <math.h>

#define ROUNDING 1e-9 /* relative: of sums in another order, and of rounding to picoseconds */

/* ---- the rule -------------------------------------------------------------------------------- */

/* Returns the peak chunk activations of a rank by the row's exact form; NAN if it has none. */
static double peak_by(const struct pp_bound_rule *rule, int rank)
{
    static const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    const struct pp_closed_form *peak = &rule->schedule->peak;

    return peak->value && peak->is_exact && !rule->is_reordered
               ? peak->value(&rule->shape, &unit, rank)
               : (double)NAN;
}

struct pp_bound_rule pp_bound_rule_make(struct pp_arena *arena, const struct pp_schedule *schedule,
                                        const struct pp_shape *shape, int steps, bool is_reordered)
{
    struct pp_bound_rule rule = {.schedule = schedule,
                                 .shape = *shape,
                                 .rank_of = pp_schedule_ranks(arena, schedule, shape),
                                 .of_pipe = pp_schedule_pipes(arena, schedule, shape),
                                 .steps = steps,
                                 .is_reordered = is_reordered};
    double *held = PP_ARRAY(arena, double, shape->ranks),
           *pending = PP_ARRAY(arena, double, shape->ranks);

    for (int rank = 0; rank < shape->ranks; rank++) {
        const double peak = peak_by(&rule, rank);
        held[rank] = isnan(peak) ? 1.0 / (shape->splits * shape->granules) : peak;
        pending[rank] = isnan(peak) ? (double)INFINITY : peak;
    }
    rule.held = held;
    rule.pending = pending;
    return rule;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* A rank's work, and its distance from both ends of the pipeline. */
struct seat {
    double work_s, late_s; /* late: the part that is weight gradients off the critical path */
    double weight_s;       /* longest weight gradient */
    double before_s, after_s;
};

enum { SEATS = 512 }; /* ranks whose seats lie on the stack */

static const struct pp_bound_times *times_of(const struct pp_bound_rule *rule,
                                             const struct pp_bound_stages *stages)
{
    return rule->schedule->has_pairs ? &stages->hidden : &stages->times;
}

static void take_stage(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages,
                       int stage, int count, struct seat *seat)
{
    const struct pp_bound_times *t = times_of(rule, stages);
    const double weights_s = count * t->weight_s[stage];

    seat->work_s += count * (t->forward_s[stage] + t->input_s[stage] + stages->again_s[stage]);
    seat->work_s += weights_s;
    seat->late_s += rule->schedule->splits_backward ? weights_s : 0;
    seat->weight_s = fmax(seat->weight_s, t->weight_s[stage]);
}

/* Is true if stages exchange whole micro-batches, as the given times assume. */
static bool has_chains(const struct pp_bound_rule *rule)
{
    return rule->shape.splits == 1 && rule->shape.granules == 1;
}

static void fill_seats(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages,
                       struct seat *seats)
{
    const struct pp_bound_times *t = times_of(rule, stages);
    const bool is_split = rule->schedule->splits_backward;

    for (int r = 0; r < rule->shape.ranks; r++)
        seats[r] = (struct seat){.before_s = INFINITY, .after_s = INFINITY};
    for (int p = 0; p < rule->shape.pipelines; p++) {
        double before_s = 0, after_s = 0;
        for (int s = 0; s < stages->stages && rule->of_pipe[p] > 0; s++) {
            struct seat *seat = &seats[rule->rank_of[p * stages->stages + s]];
            take_stage(rule, stages, s, rule->of_pipe[p], seat);
            seat->before_s = fmin(seat->before_s, before_s);
            seat->after_s = fmin(seat->after_s, after_s);
            before_s += t->forward_s[s];
            after_s += t->input_s[s] + (is_split ? 0 : t->weight_s[s]);
        }
    }
    for (int r = 0; r < rule->shape.ranks; r++) /* each that is late holds its activation */
        seats[r].late_s = fmin(seats[r].late_s, rule->pending[r] * seats[r].weight_s);
}

static double least_of(const double *values, int count)
{
    double least = values[0];

    for (int i = 1; i < count; i++)
        least = fmin(least, values[i]);
    return least;
}

static double closed_s(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages)
{
    const struct pp_closed_form *form = &rule->schedule->bubble_frac;
    const struct pp_bound_times *t = times_of(rule, stages);
    struct pp_unit_costs unit = {.f = least_of(t->forward_s, stages->stages),
                                 .i = least_of(t->input_s, stages->stages),
                                 .w = least_of(t->weight_s, stages->stages)};

    if (!form->value || !form->is_exact || rule->is_reordered || !has_chains(rule) ||
        rule->steps > 1)
        return 0;
    unit.b = unit.i + unit.w;
    unit.fb = unit.f + unit.b;
    const double bubble_frac = form->value(&rule->shape, &unit, 0);
    return isnan(bubble_frac) ? 0
                              : (double)rule->shape.micro_batches * rule->shape.chunks * unit.fb /
                                    (1 - bubble_frac);
}

/* Critical path of a rank in a step, without weight gradients that may come later. */
static double way_s(const struct seat *seat)
{
    return seat->before_s + seat->work_s - seat->late_s + seat->after_s;
}

static double flush_s(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages,
                      const struct seat *seats)
{
    double most_s = 0;

    for (int r = 0; r < rule->shape.ranks; r++) {
        const struct seat *seat = &seats[r];
        most_s = fmax(most_s, seat->work_s);
        if (has_chains(rule) && seat->work_s > 0)
            most_s = fmax(most_s, fmax(seat->before_s + seat->work_s, way_s(seat)));
    }
    return fmax(most_s, closed_s(rule, stages)) + stages->closing_s;
}

static double steady_s(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages,
                       const struct seat *seats)
{
    const bool is_known = has_chains(rule) && stages->after_s > 0 && rule->shape.pipelines == 1;
    double least_s = INFINITY, round_s = 0, late_s = 0;

    for (int r = 0; r < rule->shape.ranks; r++) {
        least_s = fmin(least_s, seats[r].work_s);
        round_s = fmax(round_s, way_s(&seats[r]));
        late_s = fmax(late_s, seats[r].late_s);
    }
    return is_known ? fmax(least_s, round_s - (late_s + stages->after_s) / (rule->steps - 1))
                    : least_s;
}

/* A continuous schedule starts the next step while it ends one, so that it has no bound. */
static double step_s(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages,
                     struct seat *seats)
{
    fill_seats(rule, stages, seats);
    if (rule->steps == 1)
        return flush_s(rule, stages, seats);
    return rule->schedule->is_continuous ? 0 : steady_s(rule, stages, seats);
}

double pp_bound_step_s(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages)
{
    struct seat few[SEATS];

    if (rule->shape.ranks <= SEATS)
        return step_s(rule, stages, few) * (1 - ROUNDING);
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    return step_s(rule, stages, PP_ARRAY(arena, struct seat, rule->shape.ranks)) * (1 - ROUNDING);
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct room {
    double state_bytes, kept_bytes; /* kept: the smallest activation of the rank */
};

static double peak_bytes(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages,
                         struct room *rooms)
{
    double most_bytes = 0;

    for (int r = 0; r < rule->shape.ranks; r++)
        rooms[r] = (struct room){.kept_bytes = INFINITY};
    for (int k = 0; k < rule->shape.pipelines * stages->stages; k++) {
        const int s = k % stages->stages;
        struct room *room = &rooms[rule->rank_of[k]];
        const double kept_bytes = rule->schedule->splits_backward
                                      ? fmin(stages->kept_bytes[s], stages->weights_bytes[s])
                                      : stages->kept_bytes[s];
        room->state_bytes += stages->state_bytes[s];
        room->kept_bytes = fmin(room->kept_bytes, kept_bytes);
    }
    for (int r = 0; r < rule->shape.ranks; r++)
        most_bytes = fmax(most_bytes, rooms[r].state_bytes + rule->held[r] * rooms[r].kept_bytes);
    return most_bytes + stages->other_bytes;
}

double pp_bound_peak_bytes(const struct pp_bound_rule *rule, const struct pp_bound_stages *stages)
{
    struct room few[SEATS];

    if (rule->shape.ranks <= SEATS)
        return peak_bytes(rule, stages, few) * (1 - ROUNDING);
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    return peak_bytes(rule, stages, PP_ARRAY(arena, struct room, rule->shape.ranks)) *
           (1 - ROUNDING);
}
