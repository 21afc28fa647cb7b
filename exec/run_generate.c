/* The command generate: resolve, generate, check, report. */
#include "exec/run.h"

#include "core/clock.h"
#include "core/printable.h"
#include "exec/generate/generate.h"
#include "plots/plot.h"
#include "traces/formats/formats.h"

/* Writes the trace and the picture that are asked for. */
static enum pp_status draw(struct pp_arena *arena, const struct pp_exec_wish *wish,
                           const struct pp_generate *g, const struct pp_plot_target *target,
                           struct pp_error *err)
{
    struct pp_plot_timeline options = pp_plot_timeline_whole(NULL, g->program->granules);

    options.title = g->program->name;
    if (wish->trace)
        PP_TRY(
            pp_trace_write_all(&(const struct pp_trace *){g->result.trace}, &wish->trace, 1, err));
    return target->out ? pp_plot_timeline(arena, g->result.trace, &options, target, err) : PP_OK;
}

static enum pp_status report(struct pp_arena *arena, const struct pp_exec_wish *wish,
                             const struct pp_generate *g, enum pp_status verdict, FILE *out,
                             struct pp_error *err)
{
    const struct pp_terminal terminal = pp_terminal_detect(wish->given.color.text, out);
    const struct pp_plot_timeline options = pp_plot_timeline_whole(NULL, g->program->granules);

    if (wish->quiet)
        return PP_OK;
    if (wish->gantt)
        return pp_gantt_print(g->result.trace, &options, terminal, out, err);
    if (!wish->json)
        pp_generate_report(g, terminal, out);
    else if (verdict == PP_OK)
        pp_generate_json(arena, g, out);
    return PP_OK;
}

enum pp_status pp_exec_command_generate(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                        FILE *out, pp_exec_stuck_fn stuck, struct pp_error *err)
{
    const double started_s = pp_clock_s();
    struct pp_generate *g = PP_NEW(arena, struct pp_generate);
    struct pp_plot_target target;
    struct pp_error later = {0};
    enum pp_status verdict = PP_OK;

    PP_TRY(pp_exec_traces_check(arena, wish, err));
    PP_TRY(pp_exec_plot_open(arena, wish, out, &target, err));
    PP_TRY(pp_generate_resolve(arena, wish, g, err));
    if (g->config.doubt[0])
        pp_tell("pipeexec: warning: %s", g->config.doubt);
    g->stuck = stuck;
    PP_TRY(pp_generate_run(arena, wish, g, wish->json || wish->gantt ? NULL : out, err));
    if (g->result.is_member)
        return PP_OK;
    if (g->is_checked)
        verdict = pp_generate_check(arena, g, err);
    if (verdict != PP_OK && verdict != PP_ETOLERANCE)
        return verdict;
    g->wall_s = pp_clock_s() - started_s;
    if (report(arena, wish, g, verdict, out, &later) == PP_OK)
        draw(arena, wish, g, &target, &later);
    if (verdict == PP_OK && later.status != PP_OK)
        *err = later;
    return verdict == PP_OK ? later.status : verdict;
}
