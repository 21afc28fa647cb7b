/* The step that a timeline of many shows: ops of all steps would be too small to see. */
#include "traces/step.h"
#include "plots/plot.h"

#include <math.h>

enum { FEW = 2 }; /* most overlapping steps that are all drawn */

/* Finds the time from the first start of a step to its last end, on replica 0. */
static bool find_span(const struct pp_trace *trace, int number, double *from_s, double *to_s)
{
    *from_s = INFINITY;
    *to_s = -INFINITY;
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *event = &trace->events[i];
        if (event->replica != 0 || event->step != number || event->stream != PP_STREAM_COMPUTE)
            continue;
        *from_s = fmin(*from_s, event->start_s);
        *to_s = fmax(*to_s, event->end_s);
    }
    return *to_s > *from_s && *from_s >= 0;
}

/* Chooses the median step, or of overlapping steps the time of the middle one. `step_s` is its
 * length; NAN: to its end, if steps are more than a few. */
static struct pp_plot_step choose(struct pp_arena *arena, const struct pp_trace *trace,
                                  double step_s)
{
    struct pp_plot_step chosen = {.trace = trace, .from_s = NAN, .to_s = NAN};
    struct pp_step *step = PP_NEW(arena, struct pp_step);
    double from_s, to_s;

    /* A trace that cannot be cut into steps is drawn whole. */
    if (trace->steps < 2 || pp_step_median(arena, trace, 0, step, NULL) != PP_OK || step->steps < 2)
        return chosen;
    if (!step->is_overlapping) {
        chosen.trace = &step->trace;
        chosen.note = pp_arena_printf(arena, "step %d of %d", step->number + 1, step->steps);
        return chosen;
    }
    const int later = (step->steps - 1) / 2; /* `step` is the last */
    if ((isnan(step_s) && step->steps <= FEW) ||
        !find_span(trace, step->number - later, &from_s, &to_s))
        return chosen;
    chosen.from_s = from_s;
    chosen.to_s = isnan(step_s) ? to_s : from_s + step_s;
    chosen.note =
        pp_arena_printf(arena, isnan(step_s) ? "while step %d of %d runs" : "step %d of %d",
                        step->steps - later, step->steps);
    return chosen;
}

struct pp_plot_step pp_plot_step(struct pp_arena *arena, const struct pp_trace *trace)
{
    return choose(arena, trace, NAN);
}

struct pp_plot_step pp_plot_one_step(struct pp_arena *arena, const struct pp_trace *trace,
                                     double step_s)
{
    return choose(arena, trace, step_s);
}
