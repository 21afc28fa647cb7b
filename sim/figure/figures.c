/* --plot and --plot-kind: the picture of a run. */
#include "sim/figure/figure.h"

#include "core/text/output.h"

#include <string.h>

struct pp_figure_kind {
    const char *name;
    int most; /* schedules in one picture */
    enum pp_status (*draw)(struct pp_arena *arena, const struct pp_result *results, int count,
                           const struct pp_plot_target *target, struct pp_error *err);
};

static enum pp_status draw_timeline(struct pp_arena *arena, const struct pp_result *results,
                                    int count, const struct pp_plot_target *target,
                                    struct pp_error *err)
{
    struct pp_plot_timeline_panel panels[PP_PLOT_TIMELINE_PANELS];
    const struct pp_plot_timeline options = pp_figure_timelines(arena, results, count, panels);

    if (count == 1) /* in the terminal without a title */
        panels->heading = target->format == PP_PLOT_TERMINAL ? options.part : NULL;
    return pp_plot_timeline_panels(arena, panels, count, &options, target, err);
}

enum pp_status pp_figure_gantt(struct pp_arena *arena, const struct pp_result *result,
                               struct pp_terminal terminal, FILE *out, struct pp_error *err)
{
    const struct pp_plot_target target = {
        .format = PP_PLOT_TERMINAL, .terminal = terminal, .out = out};

    return draw_timeline(arena, result, 1, &target, err);
}

static enum pp_status draw_memory(struct pp_arena *arena, const struct pp_result *results,
                                  int count, const struct pp_plot_target *target,
                                  struct pp_error *err)
{
    const struct pp_plot_memory memory = pp_figure_memory(arena, results, count);

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

static enum pp_status draw_tiers(struct pp_arena *arena, const struct pp_result *results, int count,
                                 const struct pp_plot_target *target, struct pp_error *err)
{
    struct pp_plot_held held;

    (void)count;
    PP_TRY(pp_figure_tiers(arena, results, &held, err));
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

/* Kinds in the order of the choices of --plot-kind. */
static const struct pp_figure_kind KINDS[] = {
    {"timeline", PP_PLOT_TIMELINE_PANELS, draw_timeline},
    {"memory", INT32_MAX, draw_memory},
    {"memory-time", 1, draw_held},
    {"memory-tiers", 1, draw_tiers},
    {"links", 1, draw_heat},
};

/* ---- options --------------------------------------------------------------------------------- */

static enum pp_status check_alone(const struct pp_wish *wish, struct pp_error *err)
{
    const struct pp_given *const options[] = {&wish->given.plot_kind, &wish->given.paper,
                                              &wish->given.title, &wish->given.size};

    for (size_t i = 0; i < PP_COUNT(options); i++)
        if (options[i]->count)
            return pp_error_set(err, PP_EINVAL, "--%s is about a picture: --plot FILE draws one",
                                options[i]->option->name);
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

static enum pp_status open_target(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                  struct pp_plot_target *target, struct pp_error *err)
{
    if (pp_plot_target_parse(wish->plot, target, err) != PP_OK)
        return pp_error_prefix(err, "--plot ");
    if (target->path && pp_output_check(arena, target->path, err) != PP_OK)
        return pp_error_prefix(err, "--plot: ");
    target->is_paper = wish->paper;
    target->title = wish->title;
    target->terminal = pp_terminal_detect(wish->given.color.text, out);
    target->out = out;
    PP_TRY(pp_plot_size_parse(wish->size, target, err));
    if (target->format == PP_PLOT_TERMINAL && wish->json)
        return pp_output_clash("--json", "--plot without a file", err);
    return PP_OK;
}

enum pp_status pp_figures_open(struct pp_arena *arena, const struct pp_wish *wish, int schedules,
                               FILE *out, struct pp_figures *figures, struct pp_error *err)
{
    *figures = (struct pp_figures){.kind = NULL};
    if (!wish->given.plot.count)
        return check_alone(wish, err);
    figures->kind = &KINDS[wish->plot_kind];
    PP_TRY(check_count(figures->kind, schedules, err));
    return open_target(arena, wish, out, &figures->target, err);
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
