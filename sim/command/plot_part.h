/* sim/command/plot_part.h — the part of a trace that is drawn, and the unit of its times. */
#pragma once

#include "plots/plot.h"
#include "sim/cli/wish.h"

enum { PP_PLOT_STEP_CHOSEN = -1, PP_PLOT_STEP_ALL = -2 };
struct pp_plot_part {
    struct pp_plot_timeline timeline;
    int step; /* counted from 0, or PP_PLOT_STEP_* */
};
/* Reads --ranks, --window, --step and --time-unit; `time_unit` is that of the trace. PP_EINVAL
 * names flag and expected form. */
enum pp_status pp_plot_part_read(const struct pp_wish *wish, const char *time_unit,
                                 struct pp_plot_part *part, struct pp_error *err);
/* Replaces the trace by its step `part->step`; PP_PLOT_STEP_*: the trace stays whole. */
enum pp_status pp_plot_part_trace(struct pp_arena *arena, const struct pp_plot_part *part,
                                  struct pp_trace **trace, struct pp_error *err);
