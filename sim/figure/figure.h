/* sim/figure/figure.h — the picture of a run, and the data of each kind (plots/plot.h).
 *
 * Everything lives in the arena; results and their traces are kept by reference. PP_EINVAL where
 * the run has no such thing, with the reason. */
#pragma once

#include "plots/plot.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"

/* ---- sim/figure/figures.c: --plot FILE, and which picture by --plot-kind ---- */
struct pp_figure_kind;
struct pp_figures {
    const struct pp_figure_kind *kind; /* NULL: no picture is asked for */
    struct pp_plot_target target;
};

/* What --plot asks for, checked before anything is simulated. PP_EINVAL for names that are no
 * picture, for options without --plot, and for kinds that do not show that many schedules. PP_EFAIL
 * for a file that cannot be written. */
enum pp_status pp_figures_open(struct pp_arena *arena, const struct pp_wish *wish, int schedules,
                               FILE *out, struct pp_figures *figures, struct pp_error *err);
/* Draws what was asked for, if anything. Of several runs those that were refused are left out. */
enum pp_status pp_figures_draw(struct pp_arena *arena, const struct pp_figures *figures,
                               const struct pp_result *results, int count, struct pp_error *err);

/* ---- sim/figure/timeline.c ---- */
/* Of one run: one step where steps do not overlap, else all. The options have its heading as the
 * title and say which part it is. Of several runs, at most PP_PLOT_TIMELINE_PANELS: a panel each,
 * on one axis, with comparable unit costs. Apart: each with its own costs. */
struct pp_plot_timeline pp_figure_timelines(struct pp_arena *arena, const struct pp_result *results,
                                            int count, bool is_apart,
                                            struct pp_plot_timeline_panel *panels);

/* ---- sim/figure/memory.c ---- */
/* One run: its ranks, each at its own peak. Several, none of which was refused: one bar each, at
 * its fullest rank. In unit mode chunk activations. */
struct pp_plot_memory pp_figure_memory(struct pp_arena *arena, const struct pp_result *results,
                                       int count);

/* ---- sim/figure/held.c ---- */
/* Bytes alive on each rank over the time of the trace; in unit mode chunk activations. */
enum pp_status pp_figure_held(struct pp_arena *arena, const struct pp_result *result,
                              struct pp_plot_held *held, struct pp_error *err);

/* ---- sim/figure/heat.c ---- */
/* The hottest links of every class over the time of the trace. */
enum pp_status pp_figure_heat(struct pp_arena *arena, const struct pp_result *result,
                              struct pp_plot_heat *heat, struct pp_error *err);
