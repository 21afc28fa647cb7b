/* The instruction of each event of a trace. */
#include "traces/rows.h"

#include <assert.h>
#include <math.h>

struct pp_figure_events pp_figure_events(struct pp_arena *arena, const struct pp_program *p,
                                         const struct pp_trace *trace)
{
    struct pp_figure_events e = {.count = trace->count / trace->replicas, .repeats = 1};
    int k = 0;

    e.instruction = PP_ARRAY(arena, int, e.count + 1);
    e.repeat = PP_ARRAY(arena, int, e.count + 1);
    for (int rank = 0; rank < p->ranks; rank++) {
        int i = p->begin[rank], repeat = 0;
        for (; k < e.count && trace->events[k].rank == rank; k++) {
            if (i == p->begin[rank + 1]) {
                i = p->begin[rank];
                repeat++;
            }
            e.instruction[k] = i;
            e.repeat[k] = repeat;
            i += pp_figure_is_pair(p, i) ? 2 : 1;
        }
        assert(i == p->begin[rank + 1]); /* the trace is that of the program */
        e.repeats = repeat + 1 > e.repeats ? repeat + 1 : e.repeats;
    }
    return e;
}

double pp_figure_end_s(const struct pp_trace *trace)
{
    double end_s = 0;

    for (int k = 0; k < trace->count; k++)
        end_s = fmax(end_s, trace->events[k].end_s);
    return end_s;
}
