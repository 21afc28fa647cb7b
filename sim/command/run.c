/* pipesim run: one schedule in depth, or a table of several. */
#include "core/clock.h"
#include "core/units.h"
#include "plots/plot.h"
#include "sim/check/baseline.h"
#include "sim/cli/stdout.h"
#include "sim/command/commands.h"
#include "sim/command/run_others.h"
#include "sim/config/tiers.h"
#include "sim/emit/emit.h"
#include "sim/figure/figure.h"
#include "sim/page/page.h"
#include "sim/report/text.h"
#include "sim/resolve/resolve.h"
#include "sim/seeds/seeds.h"
#include "traces/formats/formats.h"

/* Refuses options that show one schedule if there are several. */
static enum pp_status check_single(const struct pp_wish *wish, int subjects, struct pp_error *err)
{
    const struct pp_given *const single[] = {&wish->given.gantt, &wish->given.explain,
                                             &wish->given.trace, &wish->given.emit,
                                             &wish->given.seeds};

    for (size_t i = 0; subjects > 1 && i < PP_COUNT(single); i++)
        if (single[i]->count)
            return pp_error_set(err, PP_EINVAL, "--%s shows one schedule, --schedule lists %d%s",
                                single[i]->option->name, subjects,
                                single[i] == &wish->given.gantt ? "; --plot none draws several"
                                                                : "");
    return PP_OK;
}

static enum pp_status check_fit(const struct pp_result *r, struct pp_error *err)
{
    const enum pp_tier full = pp_tiers_full(r);

    if (r->fits)
        return PP_OK;
    if (full != PP_TIER_DEVICE)
        return pp_error_set(err, PP_EFIT,
                            "%s does not fit in %s memory: %.1f GiB a device, its share of the "
                            "node's is %.1f GiB",
                            r->config.schedule_name, pp_tier_rows[full].name,
                            pp_tiers_bytes(r, full) / PP_GIB,
                            pp_tiers_room_bytes(r, full) / PP_GIB);
    pp_error_set(err, PP_EFIT, "%s needs %.1f GiB on pipeline rank %d, the device has %.1f GiB",
                 r->config.schedule_name, r->memory[r->peak_rank].peak_bytes / PP_GIB, r->peak_rank,
                 pp_config_capacity_bytes(&r->config) / PP_GIB);
    if (r->oom)
        pp_oom_append(r->oom, err);
    if (r->inference)
        pp_generation_to_fit_append(r, err);
    return PP_EFIT;
}

/* Outputs of the command. */
struct answer {
    enum pp_stdout owner;
    struct pp_emit_target emit;
    struct pp_figures figures;
    double started_s;
    FILE *out;
};

/* Returns the depth of a run: only pictures and pages show single events, and --trace. Only
 * --explain and --emit name the instructions of a program. */
static enum pp_depth depth_of(const struct pp_wish *wish, const struct answer *answer)
{
    const bool has_events = wish->html || answer->figures.kind || answer->owner == PP_STDOUT_GANTT;

    const bool has_list = answer->owner == PP_STDOUT_EXPLAIN || answer->emit.tool;

    return has_events ? PP_FULL : wish->trace ? PP_TIMED : has_list ? PP_WHOLE : PP_PROVED;
}

static enum pp_status run_one(struct pp_arena *arena, const struct pp_wish *wish,
                              const struct pp_subject *subject, const struct answer *answer,
                              struct pp_error *err)
{
    const struct pp_emit_target *emit = &answer->emit;
    const enum pp_stdout owner = answer->owner;
    FILE *out = answer->out;
    const struct pp_terminal terminal = pp_terminal_detect(wish->given.color.text, out);
    struct pp_prepared prepared = {0};
    struct pp_config config;
    struct pp_result result, alone;
    struct pp_others others = {.reference = &result};

    PP_TRY(pp_resolve(arena, wish, subject, &config, &prepared, err));
    PP_TRY(pp_simulate(arena, &config, depth_of(wish, answer), &prepared, &result, err));
    PP_TRY(pp_run_tokens(arena, &result, err));
    if (!result.inference)
        result.oom = pp_oom_find(arena, &result);
    if (!result.inference &&
        (owner == PP_STDOUT_REPORT || owner == PP_STDOUT_EXPLAIN || wish->html))
        result.levels = pp_levels_find(arena, &result, owner == PP_STDOUT_EXPLAIN);
    if (wish->seeds)
        PP_TRY(pp_seeds_run(arena, &config, wish->seeds, &result.seeds, err));
    if (wish->trace)
        PP_TRY(pp_trace_write(pp_simulated_events(arena, &result), wish->trace, err));
    if (owner == PP_STDOUT_REPORT || wish->html)
        PP_TRY(pp_run_compare(arena, wish, &result, &alone, &others, err));
    if (emit->tool) {
        const struct pp_emit_run run = {&config, result.program, result.fits, emit->path};
        PP_TRY(pp_emit(arena, emit->tool, &run, out, err));
    }
    if (owner == PP_STDOUT_JSON) {
        result.wall_s = pp_clock_s() - answer->started_s;
        pp_report_json(&result, out);
    } else if (owner == PP_STDOUT_GANTT) {
        PP_TRY(pp_figure_gantt(arena, &result, terminal, out, err));
    } else if (owner == PP_STDOUT_EXPLAIN) {
        pp_explain_print(&result, pp_terminal_detect("never", out).width, out);
    } else if (owner == PP_STDOUT_REPORT) {
        pp_report_print(&result, &others, terminal, out);
    }
    PP_TRY(pp_figures_draw(arena, &answer->figures, &result, 1, err));
    const struct pp_page_runs runs = {&result, 1, &others};
    PP_TRY(pp_page_write(arena, wish, pp_page_runs, &runs, err));
    return wish->require_fit ? check_fit(&result, err) : PP_OK;
}

/* Runs all subjects at the layout of the first one that resolves. */
static enum pp_status run_many(struct pp_arena *arena, const struct pp_wish *wish,
                               struct pp_subject *subjects, int count, const struct answer *answer,
                               struct pp_error *err)
{
    struct pp_result *results = PP_ARRAY(arena, struct pp_result, count);
    struct pp_config base;
    struct pp_error first = {0};
    int lead = 0;

    for (; lead < count; lead++) {
        if (pp_resolve(arena, wish, &subjects[lead], &base, NULL, err) == PP_OK)
            break;
        if (lead == 0)
            first = *err;
    }
    if (lead == count) {
        *err = first;
        return err->status;
    }
    for (int i = 0; i < count; i++) {
        pp_run_like(arena, wish, &subjects[i], &base, &results[i]);
        pp_run_complete(arena, depth_of(wish, answer), &results[i]);
        results[i].wall_s = pp_clock_s() - answer->started_s;
    }
    if (answer->owner == PP_STDOUT_JSON)
        pp_report_json_table(results, count, answer->out);
    else if (answer->owner == PP_STDOUT_REPORT)
        pp_report_table(results, count, answer->out);
    PP_TRY(pp_figures_draw(arena, &answer->figures, results, count, err));
    PP_TRY(pp_page_write(arena, wish, pp_page_runs,
                         &(const struct pp_page_runs){results, count, NULL}, err));
    for (int i = 0; wish->require_fit && i < count; i++)
        if (results[i].status == PP_OK)
            PP_TRY(check_fit(&results[i], err));
    return PP_OK;
}

enum pp_status pp_command_run(struct pp_arena *arena, const struct pp_wish *typed, FILE *out,
                              struct pp_error *err)
{
    struct answer answer = {.started_s = pp_clock_s(), .out = out};
    const struct pp_parsed *flags = typed->request.flags;
    struct pp_wish wish;
    struct pp_subject *subjects;
    int count;

    PP_TRY(pp_baseline_apply(arena, &flags, err));
    PP_TRY(pp_wish_open(arena, flags, &wish, err));
    PP_TRY(pp_subjects_open(arena, &wish, &subjects, &count, err));
    PP_TRY(check_single(&wish, count, err));
    PP_TRY(pp_stdout_owner(&wish, &answer.owner, err));
    PP_TRY(pp_page_check(arena, &wish, err));
    PP_TRY(pp_emit_open(arena, &wish, &answer.emit, err));
    PP_TRY(pp_figures_open(arena, &wish, count, out, &answer.figures, err));
    return count == 1 ? run_one(arena, &wish, subjects, &answer, err)
                      : run_many(arena, &wish, subjects, count, &answer, err);
}
