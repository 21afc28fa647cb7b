/* sim/command/plot_part.h — which part of a trace is drawn, and what its times are. */
#pragma once

#include "plots/plot.h"
#include "sim/cli/wish.h"

enum { PP_PLOT_STEP_CHOSEN = -1, PP_PLOT_STEP_ALL = -2 };
struct pp_plot_part {
    struct pp_plot_timeline timeline;
    int step; /* counted from 0, or one of these */
};
/* From --ranks, --window, --step and --time-unit. PP_EINVAL with the flag and what is expected. */
enum pp_status pp_plot_part_read(const struct pp_wish *wish, struct pp_plot_part *part,
                                 struct pp_error *err);
/* The trace, or the step of it that is asked for; a timeline for which none is, shows the one that
 * pp_plot_step() chooses. */
enum pp_status pp_plot_part_trace(struct pp_arena *arena, const struct pp_plot_part *part,
                                  struct pp_trace **trace, struct pp_error *err);
