/* The timeline of one trace, and of several, one above the other. */
#include "plots/timeline/parts.h"

static enum pp_status print_characters(const struct pp_plot_timeline_panel *panels, int count,
                                       const struct pp_plot_timeline *options,
                                       const struct pp_plot_target *target, struct pp_error *err)
{
    for (int i = 0; i < count; i++) {
        if (panels[i].heading)
            fprintf(target->out, "%s%s\n", i > 0 ? "\n" : "", panels[i].heading);
        struct pp_plot_timeline shown = *options;
        shown.divisor = panels[i].divisor;
        if (panels[i].to_s > 0) {
            shown.from_s = panels[i].from_s;
            shown.to_s = panels[i].to_s;
        }
        PP_TRY(pp_gantt_print(panels[i].trace, &shown, target->terminal, target->out, err));
    }
    return PP_OK;
}

enum pp_status pp_plot_timeline_panels(struct pp_arena *arena,
                                       const struct pp_plot_timeline_panel *panels, int count,
                                       const struct pp_plot_timeline *options,
                                       const struct pp_plot_target *target, struct pp_error *err)
{
    struct pp_timeline_panel drawn[PP_PLOT_TIMELINE_PANELS];

    if (count < 1 || count > PP_PLOT_TIMELINE_PANELS)
        return pp_error_set(err, PP_EINVAL, "%d timelines: one picture shows 1 to %d", count,
                            PP_PLOT_TIMELINE_PANELS);
    if (target->format == PP_PLOT_TERMINAL)
        return print_characters(panels, count, options, target, err);
    for (int i = 0; i < count; i++)
        PP_TRY(pp_timeline_open(arena, &panels[i], options, &drawn[i], err));
    return pp_timeline_draw(arena, drawn, count, options, target, err);
}

enum pp_status pp_plot_timeline(struct pp_arena *arena, const struct pp_trace *trace,
                                const struct pp_plot_timeline *options,
                                const struct pp_plot_target *target, struct pp_error *err)
{
    /* The terminal has no title. */
    const bool is_text = target->format == PP_PLOT_TERMINAL;
    const struct pp_plot_timeline_panel panel = {.trace = trace,
                                                 .heading = is_text ? options->part : NULL};
    struct pp_plot_timeline with_title = *options;

    if (!with_title.title)
        with_title.title = trace->program;
    if (options->part)
        with_title.title = pp_arena_printf(arena, "%s, %s", with_title.title, options->part);
    return pp_plot_timeline_panels(arena, &panel, 1, &with_title, target, err);
}
