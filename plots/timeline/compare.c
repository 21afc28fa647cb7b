/* The median steps of prediction and measurement, one above the other. */
#include "traces/compare/compare.h"

#include "plots/axis.h"
#include "plots/timeline/parts.h"
#include "traces/step.h"

#include <math.h>
#include <string.h>

enum pp_status pp_plot_compare(struct pp_arena *arena, const struct pp_trace *predicted,
                               const struct pp_trace *measured,
                               const struct pp_compare_options *options,
                               struct pp_comparison *comparison, struct pp_error *err)
{
    const enum pp_status status = pp_compare(arena, predicted, measured, options, comparison, err);
    char *hint = status != PP_OK && err ? strstr(err->message, "; --allow-different") : NULL;

    if (hint)
        *hint = '\0';
    return status;
}

/* "measured 45.2 ms, bubble 34.3 %" */
static const char *heading(struct pp_arena *arena, const char *name,
                           const struct pp_compare_side *side, const char *unit)
{
    return pp_arena_printf(arena, "%s %s%s, bubble %.1f %%", name,
                           pp_axis_time_text(arena, side->step_s, unit),
                           side->is_overlapping ? " a step" : "", 100 * side->bubble_frac);
}

/* Adds the number of the drawn step if there are several. */
static const char *with_step(struct pp_arena *arena, const char *heading,
                             const struct pp_step *step)
{
    if (step->steps == 1)
        return heading;
    return pp_arena_printf(arena, "%s, step %d", heading, step->number + 1);
}

enum pp_status pp_plot_compare_panels(struct pp_arena *arena, const struct pp_comparison *c,
                                      const char *time_unit,
                                      struct pp_plot_timeline_panel panels[2], struct pp_error *err)
{
    struct pp_step *steps = PP_ARRAY(arena, struct pp_step, 2);

    PP_TRY(pp_step_median(arena, c->predicted.trace, 0, &steps[0], err));
    PP_TRY(pp_step_median(arena, c->measured.trace, 0, &steps[1], err));
    const char *above = heading(arena, "predicted", &c->predicted, time_unit);
    const char *below = heading(arena, "measured", &c->measured, time_unit);
    if (!isnan(c->step_error_frac))
        above = pp_arena_printf(arena, "%s, error %+.1f %%", above, 100 * c->step_error_frac);
    panels[0] = (struct pp_plot_timeline_panel){.trace = &steps[0].trace,
                                                .heading = with_step(arena, above, &steps[0])};
    panels[1] = (struct pp_plot_timeline_panel){.trace = &steps[1].trace,
                                                .heading = with_step(arena, below, &steps[1])};
    return PP_OK;
}

enum pp_status pp_plot_timelines(struct pp_arena *arena, const struct pp_trace *predicted,
                                 const struct pp_trace *measured,
                                 const struct pp_plot_timeline *options,
                                 const struct pp_plot_target *target, struct pp_error *err)
{
    static const struct pp_compare_options SAME = {.keeps_pairs = false};
    struct pp_plot_timeline_panel panels[2];
    struct pp_comparison c;

    PP_TRY(pp_plot_compare(arena, predicted, measured, &SAME, &c, err));
    PP_TRY(pp_plot_compare_panels(arena, &c, options->time_unit, panels, err));
    return pp_plot_timeline_panels(arena, panels, 2, options, target, err);
}
