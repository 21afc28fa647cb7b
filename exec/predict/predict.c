/* The prediction of a step from measured durations, and its replay. */
#include "exec/predict/predict.h"

#include "core/units.h"
#include "schedules/evaluate/op_cost.h"
#include "schedules/evaluate/perturb.h"
#include "schedules/evaluate/weight_stream.h"
#include "traces/from_times.h"

#include <stdlib.h>

/* ---- traces ---------------------------------------------------------------------------------- */

static struct pp_op op_of(const void *program, int instruction)
{
    return pp_program_op(program, instruction);
}

struct pp_trace *pp_exec_trace(struct pp_arena *arena, const struct pp_program *program,
                               const struct pp_costs *costs, const struct pp_times *times,
                               const char *engine)
{
    return pp_trace_from_source(
        arena, &(struct pp_trace_source){.name = program->name,
                                         .hash = pp_program_hash(program),
                                         .engine = engine,
                                         .ranks = program->ranks,
                                         .begin = program->begin,
                                         .op = op_of,
                                         .program = program,
                                         .is_concurrent = pp_weight_stream_map(program),
                                         .style = pp_program_style(program),
                                         .costs = costs,
                                         .replicas = times->replicas,
                                         .steps = times->steps > 1 ? times->steps : 1,
                                         .start_ps = times->start_ps,
                                         .end_ps = times->end_ps,
                                         .tp_ps = times->tp_ps,
                                         .ep_ps = times->ep_ps,
                                         .posted_ps = times->posted_ps,
                                         .matched_ps = times->matched_ps});
}

/* ---- prediction ------------------------------------------------------------------------------ */

/* Returns durations of ops with their pauses; NULL without pauses, when `costs` suffice. */
static const int64_t *paused_ps(struct pp_arena *arena, const struct pp_program *p,
                                const struct pp_costs *costs, struct pp_replicas replicas)
{
    bool has_pauses = false;

    for (int gap = 0; gap < PP_GAPS; gap++)
        has_pauses |= replicas.pauses.ps[gap] != 0;
    if (!has_pauses)
        return NULL;
    int64_t *compute_ps = PP_ARRAY(arena, int64_t, pp_program_size(p) * replicas.count + 1);

    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            if (!pp_op_is_compute(p->kind[i]) || p->aux[i] == PP_FUSED_SECOND)
                continue;
            const int64_t ps = pp_program_ps(p, costs, i, p->aux[i] == PP_FUSED_FIRST);
            for (int r = 0; r < replicas.count; r++)
                compute_ps[(size_t)i * (size_t)replicas.count + (size_t)r] =
                    pp_slowed_ps(ps, replicas.slow ? replicas.slow[rank * replicas.count + r] : 1);
        }
    pp_pauses_add(p, replicas.pauses, replicas.count, compute_ps);
    return compute_ps;
}

/* Moves the begin of each op after its pause. */
static void begin_late(const struct pp_program *p, struct pp_replicas replicas,
                       struct pp_times *times)
{
    pp_pauses_add(p, replicas.pauses, replicas.count, times->start_ps);
    for (int i = 1; i < pp_program_size(p); i++)
        for (int r = 0; r < replicas.count && p->aux[i] == PP_FUSED_SECOND; r++) {
            const size_t row = (size_t)i * (size_t)replicas.count + (size_t)r;
            times->start_ps[row] = times->start_ps[row - (size_t)replicas.count];
        }
}

enum pp_status pp_predict(struct pp_arena *arena, const struct pp_program *program,
                          const struct pp_costs *costs, struct pp_replicas replicas,
                          struct pp_prediction *prediction, struct pp_error *err)
{
    const struct pp_perturbation slowed = {
        .slow = replicas.slow, .compute_ps = paused_ps(arena, program, costs, replicas)};
    struct pp_eval *eval;

    PP_TRY(pp_eval_create(arena, program, costs, &(struct pp_eval_options){0}, &eval, err));
    struct pp_times *times = pp_eval_run(arena, eval, replicas.count, &slowed, PP_TIMES_ALL);
    begin_late(program, replicas, times);
    prediction->step_s = pp_units_s(times->makespan_ps);
    prediction->trace = pp_exec_trace(arena, program, costs, times, "prediction");
    return pp_metrics_compute(arena, prediction->trace, &prediction->metrics, err);
}

/* ---- replay ---------------------------------------------------------------------------------- */

/* Is true for compute, and for gathers and loads of what it uses: the first of these begins with
 * the step. */
static bool begins_step(const struct pp_program *p, int i)
{
    return pp_op_is_compute(p->kind[i]) ||
           (p->kind[i] == PP_AG && pp_purpose_is_gather(p->purpose[i])) ||
           (p->kind[i] == PP_MOVE && pp_move_is_load(p->purpose[i]));
}

/* Returns the start of the first such op. It is the start of the step on the virtual clock, where
 * only posts precede it. On the wall clock, threads have to wake up first. */
static int64_t begin_of(const struct pp_program *p, const struct pp_times *times, size_t first)
{
    int64_t begin_ps = INT64_MAX;

    for (int i = 0; i < pp_program_size(p); i++)
        for (int r = 0; r < times->replicas && begins_step(p, i); r++) {
            const int64_t start_ps =
                times->start_ps[first + (size_t)i * (size_t)times->replicas + (size_t)r];
            begin_ps = start_ps < begin_ps ? start_ps : begin_ps;
        }
    return begin_ps;
}

/* Returns the largest difference of a start or an end of the step whose rows begin at `first`. */
static int64_t event_error_ps(const struct pp_times *times, size_t first, int64_t begin_ps,
                              const struct pp_times *again, size_t rows)
{
    int64_t largest_ps = 0;

    for (size_t row = 0; row < rows; row++) {
        const int64_t start_ps =
            llabs(times->start_ps[first + row] - begin_ps - again->start_ps[row]);
        const int64_t end_ps = llabs(times->end_ps[first + row] - begin_ps - again->end_ps[row]);
        largest_ps = start_ps > largest_ps ? start_ps : largest_ps;
        largest_ps = end_ps > largest_ps ? end_ps : largest_ps;
    }
    return largest_ps;
}

enum pp_status pp_replay(struct pp_arena *arena, const struct pp_program *program,
                         const struct pp_costs *costs, const struct pp_times *times, int k,
                         const int64_t *compute_ps, struct pp_replay *replay, struct pp_error *err)
{
    const struct pp_perturbation given = {.compute_ps = compute_ps};
    const size_t rows = (size_t)pp_program_size(program) * (size_t)times->replicas;
    const size_t first = (size_t)k * rows;
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_eval *eval;

    PP_TRY(pp_eval_create(arena, program, costs, &(struct pp_eval_options){0}, &eval, err));
    const struct pp_times *again = pp_eval_run(arena, eval, times->replicas, &given, PP_TIMES_ALL);
    const int64_t begin_ps = begin_of(program, times, first);
    const int64_t step_ps = times->step_end_ps[k] - begin_ps;
    *replay = (struct pp_replay){
        .step_s = pp_units_s(again->makespan_ps),
        .step_error_s = pp_units_s(step_ps - again->makespan_ps),
        .event_error_s = pp_units_s(event_error_ps(times, first, begin_ps, again, rows)),
    };
    pp_arena_release(arena, mark);
    return PP_OK;
}
