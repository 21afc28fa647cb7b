/* The step that a timeline of many shows: ops of all steps would be too small to see. */
#include "traces/step.h"
#include "plots/plot.h"

#include <math.h>

enum { FEW = 2 }; /* most overlapping steps that are all drawn */

/* Chooses the time of the middle step, with concurrent ops of its neighbours. */
static void choose_window(struct pp_arena *arena, const struct pp_trace *trace, int number,
                          int place, int steps, struct pp_plot_step *chosen)
{
    double from_s = INFINITY, to_s = -INFINITY;

    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *event = &trace->events[i];
        if (event->replica != 0 || event->step != number || event->stream != PP_STREAM_COMPUTE)
            continue;
        from_s = fmin(from_s, event->start_s);
        to_s = fmax(to_s, event->end_s);
    }
    if (!(to_s > from_s && from_s >= 0))
        return;
    chosen->from_s = from_s;
    chosen->to_s = to_s;
    chosen->note = pp_arena_printf(arena, "while step %d of %d runs", place, steps);
}

struct pp_plot_step pp_plot_step(struct pp_arena *arena, const struct pp_trace *trace)
{
    struct pp_plot_step chosen = {.trace = trace, .from_s = NAN, .to_s = NAN};
    struct pp_step *step = PP_NEW(arena, struct pp_step);

    /* A trace that cannot be cut into steps is drawn whole. */
    if (trace->steps < 2 || pp_step_median(arena, trace, 0, step, NULL) != PP_OK || step->steps < 2)
        return chosen;
    if (!step->is_overlapping) {
        chosen.trace = &step->trace;
        chosen.note = pp_arena_printf(arena, "step %d of %d", step->number + 1, step->steps);
    } else if (step->steps > FEW) { /* `step` is the last */
        const int later = (step->steps - 1) / 2;
        choose_window(arena, trace, step->number - later, step->steps - later, step->steps,
                      &chosen);
    }
    return chosen;
}
