/* traces/rows.h — the instruction of each event of a trace. */
#pragma once

#include "schedules/program/program.h"
#include "traces/trace.h"

/* Tables of one replica: all replicas have the same events in the same order. */
struct pp_figure_events {
    int count;        /* of one replica */
    int repeats;      /* number of passes of the trace through the lists */
    int *instruction; /* [count]; the first op of a fused pair */
    int *repeat;      /* [count] 0 .. repeats-1 */
};
struct pp_figure_events pp_figure_events(struct pp_arena *arena, const struct pp_program *program,
                                         const struct pp_trace *trace);
/* End of the last event. */
double pp_figure_end_s(const struct pp_trace *trace);
/* Is true for the first op of a fused pair, whose second op has no event. */
static inline bool pp_figure_is_pair(const struct pp_program *p, int i)
{
    return pp_op_is_compute(p->kind[i]) && p->aux[i] == PP_FUSED_FIRST;
}
