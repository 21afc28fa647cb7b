/* sim/run/trace_rows.h — which instruction of a program each event of its trace is. */
#pragma once

#include "schedules/program/program.h"
#include "traces/trace.h"

/* All replicas have the same events in the same order: the tables are of one of them. */
struct pp_figure_events {
    int count;        /* of one replica */
    int repeats;      /* how often the trace runs through the lists */
    int *instruction; /* [count] of a fused pair the first */
    int *repeat;      /* [count] 0 .. repeats-1 */
};
struct pp_figure_events pp_figure_events(struct pp_arena *arena, const struct pp_program *program,
                                         const struct pp_trace *trace);
/* The end of its last event. */
double pp_figure_end_s(const struct pp_trace *trace);
/* Its second op has no event of its own. */
static inline bool pp_figure_is_pair(const struct pp_program *p, int i)
{
    return pp_op_is_compute(p->kind[i]) && p->aux[i] == PP_FUSED_FIRST;
}
