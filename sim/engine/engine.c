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

static struct pp_trace_source source_of(const struct pp_engine_run *run)
{
    const struct pp_program *p = run->program;
    const struct pp_times *times = run->times;

    return (struct pp_trace_source){.name = p->name,
                                    .engine = run->engine,
                                    .time_unit = run->costs->is_unit ? "units" : NULL,
                                    .ranks = p->ranks,
                                    .begin = p->begin,
                                    .op = op_of,
                                    .cost = cost_of,
                                    .program = p,
                                    .kind = p->kind,
                                    .aux = p->aux,
                                    .purpose = p->purpose,
                                    .split = p->split,
                                    .granules = p->granule_count,
                                    .stage = p->stage,
                                    .arg = p->arg,
                                    .style = pp_program_style(p),
                                    .costs = run->costs,
                                    .replicas = times->replicas,
                                    .steps = times->steps > 1 ? times->steps : 1,
                                    .start_ps = times->start_ps,
                                    .end_ps = times->end_ps,
                                    .posted_ps = times->posted_ps,
                                    .matched_ps = times->matched_ps,
                                    .latest_ps = times->step_end_ps,
                                    .step_of = run->step_of,
                                    .steps_in_list = run->steps_in_list,
                                    .cut = p->cut};
}

/* Returns the SEND and the RECV of each message. */
static const int32_t (*sides_of(struct pp_arena *arena, const struct pp_program *p))[2]
{
    int32_t(*sides)[2] = (int32_t(*)[2])PP_ARRAY(arena, int32_t, 2 * (size_t)p->message_count);

    for (int i = 0; i < pp_program_size(p); i++)
        if (pp_op_is_send(p->kind[i]) || pp_op_is_recv(p->kind[i]))
            sides[p->arg[i]][pp_op_is_recv(p->kind[i])] = i;
    return (const int32_t(*)[2])sides;
}

static struct pp_trace_source named_source_of(struct pp_arena *arena,
                                              const struct pp_engine_run *run)
{
    struct pp_trace_source source = source_of(run);

    source.hash = pp_program_hash(run->program);
    source.sides = run->times->posted_ps ? sides_of(arena, run->program) : NULL;
    return source;
}

struct pp_trace *pp_engine_trace(struct pp_arena *arena, const struct pp_engine_run *run)
{
    const struct pp_trace_source source = named_source_of(arena, run);

    return pp_trace_from_source(arena, &source);
}

struct pp_trace *pp_engine_events(struct pp_arena *arena, const struct pp_engine_run *run)
{
    struct pp_trace_source *source = PP_NEW(arena, struct pp_trace_source);

    *source = named_source_of(arena, run);
    return pp_trace_of_source(arena, source);
}

enum pp_status pp_engine_metrics(struct pp_arena *arena, const struct pp_engine_run *run,
                                 struct pp_metrics *metrics, struct pp_error *err)
{
    const struct pp_trace_source source = source_of(run);

    return pp_metrics_from_source(arena, &source, metrics, err);
}
