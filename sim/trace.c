#include "sim/engine.h"
#include "traces/from_times.h"

static struct pp_op op_of(const void *program, int instruction)
{
    return pp_program_op(program, instruction);
}

struct pp_trace *pp_trace_from_times(struct pp_arena *arena, const struct pp_program *program,
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
                                         .style = pp_program_style(program),
                                         .costs = costs,
                                         .replicas = times->replicas,
                                         .steps = times->steps > 1 ? times->steps : 1,
                                         .start_ps = times->start_ps,
                                         .end_ps = times->end_ps,
                                         .posted_ps = times->posted_ps,
                                         .matched_ps = times->matched_ps});
}
