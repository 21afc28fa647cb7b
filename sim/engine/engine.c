/* sim/engine/engine.c — traces and figures from the times that an engine returns. */
#include "sim/engine/engine.h"

#include "schedules/evaluate/op_cost.h"
#include "traces/from_times.h"

static struct pp_op op_of(const void *program, int instruction)
{
    return pp_program_op(program, instruction);
}

static struct pp_cost cost_of(const void *program, const struct pp_costs *costs, int instruction,
                              bool is_fused)
{
    return pp_program_cost(program, costs, instruction, is_fused);
}

static struct pp_trace_source source_of(const struct pp_program *program,
                                        const struct pp_costs *costs, const struct pp_times *times)
{
    return (struct pp_trace_source){.name = program->name,
                                    .ranks = program->ranks,
                                    .begin = program->begin,
                                    .op = op_of,
                                    .cost = cost_of,
                                    .program = program,
                                    .kind = program->kind,
                                    .aux = program->aux,
                                    .arg = program->arg,
                                    .style = pp_program_style(program),
                                    .costs = costs,
                                    .replicas = times->replicas,
                                    .steps = times->steps > 1 ? times->steps : 1,
                                    .start_ps = times->start_ps,
                                    .end_ps = times->end_ps,
                                    .posted_ps = times->posted_ps,
                                    .matched_ps = times->matched_ps};
}

struct pp_trace *pp_trace_from_times(struct pp_arena *arena, const struct pp_program *program,
                                     const struct pp_costs *costs, const struct pp_times *times,
                                     const char *engine)
{
    struct pp_trace_source source = source_of(program, costs, times);

    source.hash = pp_program_hash(program);
    source.engine = engine;
    return pp_trace_from_source(arena, &source);
}

enum pp_status pp_metrics_from_times(struct pp_arena *arena, const struct pp_program *program,
                                     const struct pp_costs *costs, const struct pp_times *times,
                                     const int *step_of, int steps_in_list,
                                     struct pp_metrics *metrics, struct pp_error *err)
{
    struct pp_trace_source source = source_of(program, costs, times);

    source.latest_ps = times->step_end_ps;
    source.step_of = step_of;
    source.steps_in_list = steps_in_list;
    return pp_metrics_from_source(arena, &source, metrics, err);
}
