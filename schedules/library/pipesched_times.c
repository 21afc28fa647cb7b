/* Times of the library. */
#include "schedules/library/pipesched_parts.h"

#include "core/units.h"
#include "schedules/evaluate/evaluate.h"
#include "schedules/memory/memory.h"
#include "schedules/verify/verify.h"

#include <math.h>

static const double MOST_S = 1e6; /* of one op, so that sums of many stay below 2^63 ps */

/* ---- costs ----------------------------------------------------------------------------------- */

/* Derives durations that are 0 from the others. */
static struct pipesched_costs complete(struct pipesched_costs c)
{
    if (c.backward_s == 0)
        c.backward_s = c.input_grad_s + c.weight_grad_s;
    else if (c.input_grad_s == 0 && c.weight_grad_s == 0)
        c.input_grad_s = c.weight_grad_s = c.backward_s / 2;
    else if (c.input_grad_s == 0)
        c.input_grad_s = fmax(0, c.backward_s - c.weight_grad_s);
    else if (c.weight_grad_s == 0)
        c.weight_grad_s = fmax(0, c.backward_s - c.input_grad_s);
    return c;
}

struct duration {
    const char *name;
    double s;
};

static enum pp_status check(const struct duration *duration, int stage, struct pp_error *err)
{
    if (duration->s >= 0 && duration->s <= MOST_S)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "%s = %g: expected 0 to %g", duration->name, duration->s, MOST_S);
    return stage < 0 ? err->status : pp_error_append(err, " (stage %d)", stage);
}

static enum pp_status check_stage(const struct pipesched_costs *c, int stage, struct pp_error *err)
{
    const struct duration all[] = {
        {"forward_s", c->forward_s},       {"backward_s", c->backward_s},
        {"input_grad_s", c->input_grad_s}, {"weight_grad_s", c->weight_grad_s},
        {"recompute_s", c->recompute_s},   {"sum_s", c->sum_s},
        {"update_s", c->update_s}};

    for (size_t i = 0; i < PP_COUNT(all); i++)
        PP_TRY(check(&all[i], stage, err));
    return PP_OK;
}

static void fill_stage(struct pp_costs *costs, int stage, const struct pipesched_costs *given)
{
    const struct pipesched_costs c = complete(*given);
    const struct {
        int kind;
        double s;
    } of_micro_batch[] = {{PP_F, c.forward_s},
                          {PP_B, c.backward_s},
                          {PP_I, c.input_grad_s},
                          {PP_W, c.weight_grad_s},
                          {PP_R, c.recompute_s}},
      of_step[] = {
          {PP_AR, c.sum_s}, {PP_RS, c.sum_s / 2}, {PP_AG, c.sum_s / 2}, {PP_U, c.update_s}};

    for (size_t k = 0; k < PP_COUNT(of_micro_batch); k++)
        for (int q = 0; q < costs->splits; q++)
            costs->op[of_micro_batch[k].kind][stage * costs->splits + q].ps =
                pp_units_ps(of_micro_batch[k].s / costs->splits);
    for (size_t k = 0; k < PP_COUNT(of_step); k++)
        costs->op[of_step[k].kind][stage].ps = pp_units_ps(of_step[k].s);
}

static const struct pipesched_costs usual = {.forward_s = 1, .input_grad_s = 1, .weight_grad_s = 1};
static const struct pipesched_durations usual_durations = {.stages = &usual, .count = 1};

enum pp_status pp_pipesched_costs(struct pp_arena *arena,
                                  const struct pipesched_durations *durations,
                                  const struct pp_costs_shape *shape, bool is_complete,
                                  const struct pp_costs **costs, struct pp_error *err)
{
    static const int by_split[] = {PP_R}, by_stage[] = {PP_AR, PP_RS, PP_AG, PP_U};
    const struct pipesched_durations *d = durations ? durations : &usual_durations;
    const struct duration scalars[] = {{"message_s", d->message_s}, {"pair_s", d->pair_s}};
    const struct pp_unit_costs unit = {.c = d->message_s, .fb = d->pair_s};

    if (d->count != 1 && d->count != shape->stages)
        return pp_error_set(err, PP_EINVAL, "durations of %d stages: expected 1 or %d", d->count,
                            shape->stages);
    for (int s = 0; s < d->count; s++)
        PP_TRY(check_stage(&d->stages[s], s, err));
    for (size_t i = 0; i < PP_COUNT(scalars); i++)
        PP_TRY(check(&scalars[i], -1, err));
    struct pp_costs *made =
        pp_costs_unit(arena, &unit, shape->ranks, shape->stages, shape->splits, shape->granules);
    for (size_t k = 0; k < PP_COUNT(by_split); k++)
        made->op[by_split[k]] = PP_ARRAY(arena, struct pp_cost, shape->stages * shape->splits);
    for (size_t k = 0; k < PP_COUNT(by_stage); k++)
        made->op[by_stage[k]] = PP_ARRAY(arena, struct pp_cost, shape->stages);
    for (int s = 0; s < shape->stages; s++)
        fill_stage(made, s, &d->stages[d->count == 1 ? 0 : s]);
    made->is_unit = !is_complete;
    *costs = made;
    return PP_OK;
}

/* ---- times ----------------------------------------------------------------------------------- */

struct evaluated { /* result of the user, with its memory */
    struct pipesched_times times;
    struct pp_arena *arena;
};

static struct pipesched_rank rank_of(struct pp_arena *arena, const struct pp_program *p, int rank,
                                     const struct pp_times *times)
{
    const int first = p->begin[rank], count = p->begin[rank + 1] - first;
    struct pipesched_span *spans = PP_ARRAY(arena, struct pipesched_span, count);
    int64_t busy_ps = 0;

    for (int i = 0; i < count; i++) {
        const int at = first + i;
        spans[i] =
            (struct pipesched_span){pp_units_s(times->start_ps[at]), pp_units_s(times->end_ps[at])};
        const struct pp_op op = pp_program_op(p, at);
        if (pp_op_is_compute(op.kind) && op.aux != PP_FUSED_SECOND) /* a pair is one op */
            busy_ps += times->end_ps[at] - times->start_ps[at];
    }
    return (struct pipesched_rank){.busy_s = pp_units_s(busy_ps), .count = count, .spans = spans};
}

/* Proves a given program: the evaluator finds deadlocks, but no missing instructions. */
static enum pp_status prove(const struct pipesched_program *program, struct pp_error *err)
{
    return program->is_given ? pp_verify(program->program, NULL, err) : PP_OK;
}

static enum pp_status evaluate(struct evaluated *e, const struct pipesched_program *program,
                               const struct pipesched_durations *durations, struct pp_error *err)
{
    const struct pp_program *p = program->program;
    const struct pp_costs_shape shape = {p->ranks, p->stages, p->splits, p->granules};
    struct pipesched_rank *rank = PP_ARRAY(e->arena, struct pipesched_rank, p->ranks);
    const struct pp_eval_options options = {0};
    const struct pp_costs *costs;
    struct pp_eval *eval;
    double busy_s = 0;

    PP_TRY(prove(program, err));
    PP_TRY(
        pp_pipesched_costs(e->arena, durations, &shape, p->level == PP_LEVEL_LOWERED, &costs, err));
    PP_TRY(pp_eval_create(e->arena, p, costs, &options, &eval, err));
    const struct pp_times *times = pp_eval_run(e->arena, eval, 1, NULL, PP_TIMES_SPANS);
    const struct pp_rank_memory *memory = pp_memory_peaks(e->arena, p, costs);
    for (int r = 0; r < p->ranks; r++) {
        rank[r] = rank_of(e->arena, p, r, times);
        rank[r].peak_activations = memory[r].peak_activations;
        busy_s += rank[r].busy_s;
    }
    e->times = (struct pipesched_times){
        .step_s = pp_units_s(times->makespan_ps), .ranks = p->ranks, .rank = rank};
    if (times->makespan_ps > 0)
        e->times.bubble_frac = 1 - busy_s / (e->times.step_s * p->ranks);
    return PP_OK;
}

enum pipesched_status pipesched_evaluate(const struct pipesched_program *program,
                                         const struct pipesched_durations *durations,
                                         struct pipesched_times **times,
                                         struct pipesched_error *error)
{
    struct pp_arena *arena = pp_arena_create();
    struct evaluated *made = PP_NEW(arena, struct evaluated);
    struct pp_error err = {0};

    made->arena = arena;
    const enum pp_status status = evaluate(made, program, durations, &err);
    if (status == PP_OK)
        *times = &made->times;
    else
        pp_arena_destroy(arena);
    return pp_pipesched_tell(status, &err, error);
}

void pipesched_times_free(struct pipesched_times *times)
{
    if (times)
        pp_arena_destroy(((struct evaluated *)times)->arena);
}
