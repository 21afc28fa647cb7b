/* plots/timeline/compare.h — two traces that one picture shows. */
#pragma once

#include "plots/plot.h"
#include "traces/compare/compare.h"

/* pp_compare(), without its hints: they are options of `pipesim compare`. PP_EINVAL as there. */
enum pp_status pp_plot_compare(struct pp_arena *arena, const struct pp_trace *predicted,
                               const struct pp_trace *measured,
                               const struct pp_compare_options *options,
                               struct pp_comparison *comparison, struct pp_error *err);
/* ---- plots/timeline/compare.c ---- */
/* The median step of each, to be drawn one above the other: the prediction first. */
enum pp_status pp_plot_compare_panels(struct pp_arena *arena,
                                      const struct pp_comparison *comparison, const char *time_unit,
                                      struct pp_plot_timeline_panel panels[2],
                                      struct pp_error *err);
