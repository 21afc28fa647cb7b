/* Draws the median step of a run: in characters, or as a picture below the predicted step. */
#include "exec/run.h"

#include "core/text/output.h"
#include "plots/plot.h"
#include "traces/step.h"

enum pp_status pp_exec_plot_open(struct pp_arena *arena, const struct pp_exec_wish *wish, FILE *out,
                                 struct pp_plot_target *target, struct pp_error *err)
{
    const bool has_json = wish->json;

    *target = (struct pp_plot_target){.out = NULL};
    if (has_json && wish->gantt)
        return pp_output_clash("--json", "--gantt", err);
    const struct pp_given *about = wish->paper ? &wish->given.paper : &wish->given.plot_kind;
    if (!wish->given.plot.count)
        return !about->count
                   ? PP_OK
                   : pp_error_set(err, PP_EINVAL, "--%s is about a picture: --plot FILE draws one",
                                  about->option->name);
    if (pp_plot_target_parse(wish->plot, target, err) != PP_OK)
        return pp_error_prefix(err, "--plot ");
    if (has_json && target->format == PP_PLOT_TERMINAL)
        return pp_output_clash("--json", "--plot without a file", err);
    if (target->path && pp_output_check(arena, target->path, err) != PP_OK)
        return pp_error_prefix(err, "--plot: ");
    target->is_paper = wish->paper;
    target->terminal = pp_terminal_detect(wish->given.color.text, out);
    target->out = out;
    return PP_OK;
}

enum pp_status pp_exec_plot_draw(struct pp_arena *arena, const struct pp_exec_run *run,
                                 enum pp_exec_plot_kind kind, const struct pp_plot_target *target,
                                 struct pp_error *err)
{
    struct pp_plot_timeline options = pp_plot_timeline_whole(NULL, run->plan.program->granules);

    options.title = run->plan.program->name;
    if (!target->out)
        return PP_OK;
    if (target->format == PP_PLOT_TERMINAL)
        fputc('\n', target->out);
    if (kind == PP_EXEC_PLOT_MEMORY)
        return pp_exec_memory_draw(arena, run, target, err);
    return pp_plot_timelines(arena, run->result.prediction.trace, run->result.trace, &options,
                             target, err);
}

enum pp_status pp_exec_gantt_print(struct pp_arena *arena, const struct pp_exec_run *run,
                                   struct pp_terminal terminal, FILE *out, struct pp_error *err)
{
    const struct pp_plot_timeline options =
        pp_plot_timeline_whole(NULL, run->plan.program->granules);
    struct pp_step step;

    PP_TRY(pp_step_median(arena, run->result.trace, 0, &step, err));
    PP_TRY(pp_gantt_print(&step.trace, &options, terminal, out, err));
    fprintf(out, "the %s of %d measured step%s\n", step.is_overlapping ? "last" : "median",
            step.steps, step.steps == 1 ? "" : "s");
    return PP_OK;
}
