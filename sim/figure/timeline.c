/* Timelines of one run, or of several on one axis. */
#include "sim/figure/figure.h"

#include "core/units.h"

/* Unit costs are those of a chunk: more chunks on a rank take longer. On one axis costs are those
 * of a whole rank, unless messages cost time, which cannot be divided. */
enum costs { AS_THEY_ARE, OF_A_CHUNK, OF_A_RANK };
static const char *const AXES[] = {[OF_A_CHUNK] = "time (units; costs of a chunk)",
                                   [OF_A_RANK] = "time (units; costs of a whole rank)"};

static enum costs choose_costs(const struct pp_result *results, int count)
{
    bool has_messages = false, differs = false;

    for (int i = 0; i < count; i++) {
        if (!results[i].config.is_unit)
            return AS_THEY_ARE;
        has_messages |= results[i].config.unit.c > 0;
        differs |= results[i].config.layout.vp != results->config.layout.vp;
    }
    return !differs ? AS_THEY_ARE : has_messages ? OF_A_CHUNK : OF_A_RANK;
}

static double divisor_of(const struct pp_result *r, enum costs costs)
{
    return costs == OF_A_RANK ? r->config.layout.vp : 1;
}

/* Heading such as "zbv (VP 2): 25.5 units a rank, bubble 5.9 %". */
static const char *heading(struct pp_arena *arena, const struct pp_result *r, enum costs costs)
{
    const bool has_chunks = costs != AS_THEY_ARE && r->config.layout.vp > 1;
    char step[PP_UNITS_TEXT_BYTES];

    if (r->config.is_unit)
        snprintf(step, sizeof(step), "%.4g units%s", r->metrics.iteration_s / divisor_of(r, costs),
                 costs == OF_A_RANK && has_chunks ? " a rank" : "");
    else
        pp_units_print(r->metrics.iteration_s, PP_UNIT_SECONDS, step);
    return pp_arena_printf(
        arena, "%s%s: %s%s, bubble %.1f %%", r->config.schedule_name,
        has_chunks ? pp_arena_printf(arena, " (VP %d)", r->config.layout.vp) : "", step,
        r->trace->steps > 1 ? " a step" : "", 100 * r->metrics.bubble_frac);
}

/* Panel of the one step that has a time of its own, else of all steps. */
static struct pp_plot_timeline_panel panel_of(struct pp_arena *arena, const struct pp_result *r,
                                              enum costs costs)
{
    const struct pp_plot_step step = pp_plot_step(arena, r->trace);
    struct pp_plot_timeline_panel panel = {
        .trace = r->trace, .heading = heading(arena, r, costs), .divisor = divisor_of(r, costs)};

    if (step.trace != r->trace) {
        panel.trace = step.trace;
        panel.heading = pp_arena_printf(arena, "%s, %s", panel.heading, step.note);
    }
    return panel;
}

struct pp_plot_timeline pp_figure_timelines(struct pp_arena *arena, const struct pp_result *results,
                                            int count, bool is_apart,
                                            struct pp_plot_timeline_panel *panels)
{
    const enum costs costs = is_apart ? AS_THEY_ARE : choose_costs(results, count);
    struct pp_plot_timeline options = pp_plot_timeline_whole(
        results->config.is_unit ? "units" : NULL, results->program->granules);

    if (count > 1) {
        options.axis = AXES[costs];
        for (int i = 0; i < count; i++)
            panels[i] = panel_of(arena, &results[i], costs);
        return options;
    }
    const struct pp_plot_step step = pp_plot_step(arena, results->trace);
    options.title = heading(arena, results, AS_THEY_ARE);
    options.part = step.note;
    options.from_s = step.from_s;
    options.to_s = step.to_s;
    panels[0] = (struct pp_plot_timeline_panel){.trace = step.trace, .heading = options.title};
    return options;
}
