/* The timeline of one trace. */
#include "plots/gantt.h"
#include "plots/timeline_parts.h"

#include <string.h>

enum pp_status pp_plot_timeline(struct pp_arena *arena, const struct pp_trace *trace,
                                const struct pp_plot_timeline *options,
                                const struct pp_plot_target *target, struct pp_error *err)
{
    const char *title = options->title ? options->title : trace->program;
    struct pp_timeline_panel panel;

    if (target->format == PP_PLOT_TERMINAL) {
        const struct pp_gantt_options gantt = {.is_unit = options->time_unit != NULL};
        return pp_gantt_print(trace, &gantt, target->terminal, target->out, err);
    }
    PP_TRY(pp_timeline_open(arena, trace, options, &panel, err));
    return pp_timeline_draw(arena, &panel, 1, options, title, target, err);
}
