#include "sim/figures.h"

#include "core/output.h"
#include "core/units.h"
#include "sim/figure.h"

#include <math.h>
#include <string.h>

struct pp_figure_kind {
    const char *name;
    int most; /* schedules in one picture */
    enum pp_status (*draw)(struct pp_arena *arena, const struct pp_result *results, int count,
                           const struct pp_plot_target *target, struct pp_error *err);
};

/* ---- timelines ------------------------------------------------------------------------------- */

/* Unit costs are those of a chunk, so that of schedules with more of them on a rank all times are
 * longer. On one axis they are drawn as if each cost were that of a whole rank; not where messages
 * have a cost, which no chunk divides. */
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

/* "1f1b: 33 units, bubble 27.3 %", "zbv (VP 2): 25.5 units a rank, bubble 5.9 %" */
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

/* Its one step where that has a time of its own, else all. */
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

static enum pp_status draw_timeline(struct pp_arena *arena, const struct pp_result *results,
                                    int count, const struct pp_plot_target *target,
                                    struct pp_error *err)
{
    struct pp_plot_timeline_panel panels[PP_PLOT_TIMELINE_PANELS];
    struct pp_plot_timeline options = {.time_unit = results->config.is_unit ? "units" : NULL,
                                       .has_arrows = true,
                                       .first_rank = -1,
                                       .last_rank = -1,
                                       .from_s = NAN,
                                       .to_s = NAN,
                                       .granules = results->program->granules};

    if (count == 1) {
        const struct pp_plot_step step = pp_plot_step(arena, results->trace);
        options.title = heading(arena, results, AS_THEY_ARE);
        options.part = step.note;
        options.from_s = step.from_s;
        options.to_s = step.to_s;
        return pp_plot_timeline(arena, step.trace, &options, target, err);
    }
    /* In the terminal each has an axis of its own. */
    const bool is_shared = target->format != PP_PLOT_TERMINAL;
    const enum costs costs = is_shared ? choose_costs(results, count) : AS_THEY_ARE;
    options.axis = AXES[costs];
    for (int i = 0; i < count; i++)
        panels[i] = panel_of(arena, &results[i], costs);
    return pp_plot_timeline_panels(arena, panels, count, &options, target, err);
}

/* ---- the other kinds ------------------------------------------------------------------------- */

static enum pp_status draw_memory(struct pp_arena *arena, const struct pp_result *results,
                                  int count, const struct pp_plot_target *target,
                                  struct pp_error *err)
{
    struct pp_plot_memory memory;

    PP_TRY(pp_figure_memory(arena, results, count, &memory, err));
    return pp_plot_memory(arena, &memory, target, err);
}

static enum pp_status draw_held(struct pp_arena *arena, const struct pp_result *results, int count,
                                const struct pp_plot_target *target, struct pp_error *err)
{
    struct pp_plot_held held;

    (void)count;
    PP_TRY(pp_figure_held(arena, results, &held, err));
    return pp_plot_held(arena, &held, target, err);
}

static enum pp_status draw_heat(struct pp_arena *arena, const struct pp_result *results, int count,
                                const struct pp_plot_target *target, struct pp_error *err)
{
    struct pp_plot_heat heat;

    (void)count;
    PP_TRY(pp_figure_heat(arena, results, &heat, err));
    return pp_plot_heat(arena, &heat, target, err);
}

/* In the order of the choices of --plot-kind. */
static const struct pp_figure_kind KINDS[] = {
    {"timeline", PP_PLOT_TIMELINE_PANELS, draw_timeline},
    {"memory", INT32_MAX, draw_memory},
    {"memory-time", 1, draw_held},
    {"links", 1, draw_heat},
};

/* ---- options --------------------------------------------------------------------------------- */

static enum pp_status check_alone(const struct pp_request *request, struct pp_error *err)
{
    static const char *const OPTIONS[] = {"plot-kind", "paper", "title", "size"};

    for (size_t i = 0; i < sizeof(OPTIONS) / sizeof(*OPTIONS); i++)
        if (pp_request_has(request, OPTIONS[i]))
            return pp_error_set(err, PP_EINVAL, "--%s is about a picture: --plot FILE draws one",
                                OPTIONS[i]);
    return PP_OK;
}

static enum pp_status check_count(const struct pp_figure_kind *kind, int schedules,
                                  struct pp_error *err)
{
    if (schedules <= kind->most)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        kind->most == 1 ? "--plot-kind %s shows %d schedule, --schedule lists %d"
                                        : "--plot-kind %s shows up to %d schedules, --schedule "
                                          "lists %d; --plot-kind memory shows any number",
                        kind->name, kind->most, schedules);
}

static enum pp_status open_target(struct pp_arena *arena, const struct pp_request *request,
                                  FILE *out, struct pp_plot_target *target, struct pp_error *err)
{
    if (pp_plot_target_parse(pp_request_text(request, "plot", NULL), target, err) != PP_OK)
        return pp_error_prefix(err, "--plot ");
    if (target->path && pp_output_check(arena, target->path, err) != PP_OK)
        return pp_error_prefix(err, "--plot: ");
    target->is_paper = pp_request_has(request, "paper");
    target->title = pp_request_text(request, "title", NULL);
    target->terminal = pp_terminal_detect(pp_request_text(request, "color", "auto"), out);
    target->out = out;
    PP_TRY(pp_plot_size_parse(pp_request_text(request, "size", NULL), target, err));
    if (target->format == PP_PLOT_TERMINAL && pp_request_has(request, "json"))
        return pp_error_set(err, PP_EINVAL,
                            "--json and --plot without a file both write to stdout; give a file");
    return PP_OK;
}

enum pp_status pp_figures_open(struct pp_arena *arena, const struct pp_request *request,
                               int schedules, FILE *out, struct pp_figures *figures,
                               struct pp_error *err)
{
    *figures = (struct pp_figures){.kind = NULL};
    if (!pp_request_has(request, "plot"))
        return check_alone(request, err);
    figures->kind = &KINDS[pp_request_int(request, "plot-kind", 0)];
    PP_TRY(check_count(figures->kind, schedules, err));
    return open_target(arena, request, out, &figures->target, err);
}

enum pp_status pp_figures_draw(struct pp_arena *arena, const struct pp_figures *figures,
                               const struct pp_result *results, int count, struct pp_error *err)
{
    struct pp_result *shown = PP_ARRAY(arena, struct pp_result, count);
    int shown_count = 0;

    if (!figures->kind)
        return PP_OK;
    for (int i = 0; i < count; i++)
        if (results[i].status == PP_OK)
            shown[shown_count++] = results[i];
    if (shown_count == 0)
        return pp_error_set(err, PP_EINVAL, "--plot: no schedule ran, there is nothing to draw");
    if (figures->target.format == PP_PLOT_TERMINAL)
        fputc('\n', figures->target.out);
    return figures->kind->draw(arena, shown, shown_count, &figures->target, err);
}
