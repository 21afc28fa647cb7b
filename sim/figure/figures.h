/* sim/figure/figures.h — the picture of a run: --plot FILE, and which one by --plot-kind. */
#ifndef PP_SIM_FIGURE_FIGURES_H
#define PP_SIM_FIGURE_FIGURES_H

#include "core/cli/request.h"
#include "plots/plot.h"
#include "sim/config/config.h"

struct pp_figure_kind;
struct pp_figures {
    const struct pp_figure_kind *kind; /* NULL: no picture is asked for */
    struct pp_plot_target target;
};

/* What --plot asks for, checked before anything is simulated: PP_EINVAL for names that are no
 * picture, for options without --plot and for kinds that do not show that many schedules, PP_EFAIL
 * for a file that cannot be written. */
enum pp_status pp_figures_open(struct pp_arena *arena, const struct pp_request *request,
                               int schedules, FILE *out, struct pp_figures *figures,
                               struct pp_error *err);
/* Draws what was asked for, if anything. Of several runs those that were refused are left out. */
enum pp_status pp_figures_draw(struct pp_arena *arena, const struct pp_figures *figures,
                               const struct pp_result *results, int count, struct pp_error *err);

#endif
