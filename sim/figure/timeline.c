/* Timelines of one run, or of several on one axis. */
#include "sim/figure/figure.h"

#include "core/units.h"
#include "sim/config/scale.h"

static const char *const AXES[] = {[PP_SCALE_CHUNK] = "time (units; costs of a chunk)",
                                   [PP_SCALE_RANK] = "time (units; costs of a whole rank)"};

/* Heading such as "zbv (VP 2): 25.5 units, bubble 5.9 %". */
static const char *heading(struct pp_arena *arena, const struct pp_result *r, enum pp_scale scale)
{
    const bool has_chunks = scale != PP_SCALE_GIVEN && r->config.layout.vp > 1;
    char step[PP_UNITS_TEXT_BYTES];

    if (r->config.is_unit)
        snprintf(step, sizeof(step), "%.4g units",
                 r->metrics.iteration_s / pp_scale_divisor(r, scale));
    else
        pp_units_print(r->metrics.iteration_s, PP_UNIT_SECONDS, step);
    return pp_arena_printf(
        arena, "%s%s: %s%s, bubble %.1f %%", pp_text_short(arena, r->config.schedule_name, 40),
        has_chunks ? pp_arena_printf(arena, " (VP %d)", r->config.layout.vp) : "", step,
        r->trace->steps > 1 ? " a step" : "", 100 * r->metrics.bubble_frac);
}

struct pp_plot_step pp_figure_step(struct pp_arena *arena, const struct pp_result *r)
{
    if (r->trace->steps > 1 && !(r->config.origin.chosen & PP_CHOSE_STEPS))
        return (struct pp_plot_step){.trace = r->trace, .from_s = NAN, .to_s = NAN};
    return pp_plot_one_step(arena, r->trace, r->metrics.iteration_s);
}

static struct pp_plot_timeline_panel panel_of(struct pp_arena *arena, const struct pp_result *r,
                                              const struct pp_plot_step *step, enum pp_scale scale)
{
    struct pp_plot_timeline_panel panel = {.trace = step->trace,
                                           .heading = heading(arena, r, scale),
                                           .divisor = pp_scale_divisor(r, scale)};

    if (!isnan(step->to_s)) {
        panel.from_s = step->from_s;
        panel.to_s = step->to_s;
    }
    if (step->note)
        panel.heading = pp_arena_printf(arena, "%s, %s", panel.heading, step->note);
    return panel;
}

struct pp_plot_timeline pp_figure_timelines(struct pp_arena *arena, const struct pp_result *results,
                                            int count, struct pp_plot_timeline_panel *panels)
{
    const struct pp_result *rows[PP_PLOT_TIMELINE_PANELS] = {0};
    struct pp_plot_timeline options = pp_plot_timeline_whole(
        results->config.is_unit ? "units" : NULL, results->program->granules);

    for (int i = 0; i < count; i++)
        rows[i] = &results[i];
    const enum pp_scale scale = count == 1 ? PP_SCALE_GIVEN : pp_scale_of(rows, count);
    for (int i = 0; i < count; i++) {
        const struct pp_plot_step step =
            count == 1 ? pp_figure_step(arena, results)
                       : pp_plot_one_step(arena, rows[i]->trace, rows[i]->metrics.iteration_s);
        panels[i] = panel_of(arena, rows[i], &step, scale);
        options.part = step.note;
    }
    if (count > 1)
        options.axis = AXES[scale];
    options.title = count == 1 ? panels->heading : NULL;
    return options;
}
