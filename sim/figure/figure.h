/* sim/figure/figure.h — pictures of a run, and the data of each kind (plots/plot.h).
 *
 * All data are in the arena; results and their traces are kept by reference. PP_EINVAL, with the
 * reason, if the run lacks such data. */
#pragma once

#include "plots/plot.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"

struct pp_figure_kind;
struct pp_figures {
    const struct pp_figure_kind *kind; /* NULL: no --plot */
    struct pp_plot_target target;
};

/* Reads and checks --plot before any simulation. PP_EINVAL for a name that is no picture, for
 * options without --plot, and for too many schedules. PP_EFAIL if the file cannot be written. */
enum pp_status pp_figures_open(struct pp_arena *arena, const struct pp_wish *wish, int schedules,
                               FILE *out, struct pp_figures *figures, struct pp_error *err);
/* Draws the picture of --plot, if there is one. Refused runs are left out. */
enum pp_status pp_figures_draw(struct pp_arena *arena, const struct pp_figures *figures,
                               const struct pp_result *results, int count, struct pp_error *err);

/* Prints the timeline of one run in characters: --gantt. */
enum pp_status pp_figure_gantt(struct pp_arena *arena, const struct pp_result *result,
                               struct pp_terminal terminal, FILE *out, struct pp_error *err);

/* The part of a run alone that is drawn: one steady step, or all that --steps asks for. */
struct pp_plot_step pp_figure_step(struct pp_arena *arena, const struct pp_result *result);
/* Timelines of runs. Of one run: its heading is the title, and `part` names the step. Of several,
 * at most PP_PLOT_TIMELINE_PANELS: one step each on one axis, with comparable unit costs. */
struct pp_plot_timeline pp_figure_timelines(struct pp_arena *arena, const struct pp_result *results,
                                            int count, struct pp_plot_timeline_panel *panels);

/* Memory of one run: all ranks, each at its own peak. Of several runs, none of them refused: one
 * bar each, of the fullest rank. In unit mode activations: chunks, or micro-batches of a rank. */
struct pp_plot_memory pp_figure_memory(struct pp_arena *arena, const struct pp_result *results,
                                       int count);

/* Bytes that each rank holds over the time of the trace; in unit mode chunk activations. */
enum pp_status pp_figure_held(struct pp_arena *arena, const struct pp_result *result,
                              struct pp_plot_held *held, struct pp_error *err);
/* Bytes that the fullest rank holds on each memory tier over time. PP_EINVAL: nothing is away. */
enum pp_status pp_figure_tiers(struct pp_arena *arena, const struct pp_result *result,
                               struct pp_plot_held *held, struct pp_error *err);

/* Use of the hottest links of every class over the time of the trace. */
enum pp_status pp_figure_heat(struct pp_arena *arena, const struct pp_result *result,
                              struct pp_plot_heat *heat, struct pp_error *err);
