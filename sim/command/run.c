/* pipesim run: one schedule in depth, or a table of several. */
#include "core/clock.h"
#include "core/units.h"
#include "plots/plot.h"
#include "schedules/program/whole.h"
#include "schedules/registry.h"
#include "sim/check/baseline.h"
#include "sim/cli/stdout.h"
#include "sim/command/commands.h"
#include "sim/config/tiers.h"
#include "sim/emit/emit.h"
#include "sim/figure/figure.h"
#include "sim/page/page.h"
#include "sim/report/text.h"
#include "sim/resolve/resolve.h"
#include "traces/formats/formats.h"

#include <stdlib.h>
#include <string.h>

/* Other schedules are compared up to this size of a program. Each takes the time and the memory of
 * the run. */
enum { MAX_ALTERNATIVES = 6, MOST_COMPARED = 1 << 20 };

/* Resolves `subject` at the layout of `base`. */
static enum pp_status resolve_like(struct pp_arena *arena, const struct pp_wish *wish,
                                   const struct pp_subject *subject, const struct pp_config *base,
                                   struct pp_config *config, struct pp_error *err)
{
    *config = *base;
    if (base->origin.chosen & PP_CHOSE_RECOMPUTE)
        config->costs.recompute = PP_RECOMPUTE_NONE, config->costs.again = 0;
    config->origin.chosen &= ~(unsigned)(PP_CHOSE_VP | PP_CHOSE_SPLITS | PP_CHOSE_OPTIONS);
    PP_TRY(pp_resolve_shape(wish, subject, config, err));
    config->layout.vp = config->shape.chunks;
    if (!subject->file) {
        config->shape.ranks = base->layout.pp;
        config->shape.micro_batches = base->layout.micro_batches;
        PP_TRY(pp_schedule_check(subject->schedule, &config->shape, err));
        config->layout.vp = config->shape.chunks;
    } else if (config->shape.ranks != base->layout.pp ||
               config->shape.micro_batches != base->layout.micro_batches) {
        return pp_error_set(err, PP_EINVAL,
                            "%s has pp %d and %d micro-batches, the others pp %d and %d",
                            subject->name, config->shape.ranks, config->shape.micro_batches,
                            base->layout.pp, base->layout.micro_batches);
    }
    return config->is_unit ? PP_OK : pp_resolve_division(arena, config, err);
}

static void set_status(struct pp_arena *arena, struct pp_result *result, enum pp_status status,
                       const struct pp_error *err)
{
    result->status = status;
    result->refusal = status != PP_OK ? pp_arena_strdup(arena, err->message) : NULL;
}

/* Simulates makespan and memory alone; also settles the choices of the tool. */
static void quick_like(struct pp_arena *arena, const struct pp_wish *wish,
                       const struct pp_subject *subject, const struct pp_config *base,
                       struct pp_result *result)
{
    struct pp_prepared *prepared = PP_NEW(arena, struct pp_prepared);
    struct pp_config config;
    struct pp_error err = {0};

    enum pp_status status = resolve_like(arena, wish, subject, base, &config, &err);
    if (status == PP_OK)
        status = pp_resolve_choice(arena, &config, prepared, result, &err);
    result->prepared = prepared;
    result->config.schedule_name = subject->name;
    set_status(arena, result, status, &err);
}

static void complete(struct pp_arena *arena, enum pp_depth depth, struct pp_result *result)
{
    const struct pp_config config = result->config;
    struct pp_prepared *prepared = result->prepared;
    struct pp_error err = {0};

    if (result->status != PP_OK)
        return;
    const enum pp_status status = pp_simulate(arena, &config, depth, prepared, result, &err);
    result->config.schedule_name = config.schedule_name;
    set_status(arena, result, status, &err);
}

/* Refuses options that show one schedule if there are several. */
static enum pp_status check_single(const struct pp_wish *wish, int subjects, struct pp_error *err)
{
    const struct pp_given *const single[] = {&wish->given.gantt, &wish->given.explain,
                                             &wish->given.trace, &wish->given.emit};

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
                 r->config.cluster.device.memory_bytes / PP_GIB);
    if (r->oom)
        pp_oom_append(r->oom, err);
    return PP_EFIT;
}

static int by_time(const void *a, const void *b)
{
    const struct pp_result *x = a, *y = b;

    if (x->status != y->status)
        return x->status == PP_OK ? -1 : y->status == PP_OK ? 1 : 0;
    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    return x->metrics.iteration_s < y->metrics.iteration_s   ? -1
           : x->metrics.iteration_s > y->metrics.iteration_s ? 1
                                                             : 0;
}

/* A schedule in the comparison, and the memory of its run. */
struct rival {
    struct pp_result result;
    struct pp_arena *arena; /* NULL: it is none of the best */
};

static void end_arena(void *arena)
{
    pp_arena_destroy(arena);
}

/* Ends the memory of rivals that enough others are better than. */
static void drop_beaten(struct rival *list, int count)
{
    for (int i = 0; i < count; i++) {
        int better = 0;
        for (int k = 0; k < count; k++)
            better += by_time(&list[k], &list[i]) < 0;
        if (better < MAX_ALTERNATIVES)
            continue;
        pp_arena_destroy(list[i].arena);
        list[i].arena = NULL;
    }
}

/* Runs the schedules of the registry that the run of `base` can have; returns their number. */
static int run_rivals(const struct pp_wish *wish, const struct pp_config *base, struct rival *list)
{
    /* Schedules with and without a flush converge differently: only like ones are compared. */
    const struct pp_schedule *own = base->schedule;
    const bool is_continuous = own && own->is_continuous;
    int count = 0;

    for (int i = 0; pp_schedules[i]; i++) {
        const struct pp_subject other = {
            .schedule = pp_schedules[i], .name = pp_schedules[i]->name, .is_listed = true};
        struct rival *rival = &list[count];
        if (pp_schedules[i] == own || pp_schedules[i]->is_continuous != is_continuous ||
            !pp_schedule_runs_in(pp_schedules[i], NULL, base->tool))
            continue;
        *rival = (struct rival){.arena = pp_arena_create()};
        quick_like(rival->arena, wish, &other, base, &rival->result);
        if (rival->result.status == PP_OK &&
            !pp_schedule_runs_in(pp_schedules[i], &rival->result.config.shape, base->tool))
            pp_arena_destroy(rival->arena);
        else
            drop_beaten(list, ++count);
    }
    return count;
}

/* The best other schedules of the registry at the layout of `result`; in the arena. */
static struct pp_result *alternatives(struct pp_arena *arena, const struct pp_wish *wish,
                                      const struct pp_result *result, int *count)
{
    struct pp_config base = result->config;
    int schedules = 0;

    for (; pp_schedules[schedules]; schedules++)
        ;
    struct rival *rivals = PP_ARRAY(arena, struct rival, schedules);
    base.engine_options.replicas = 0;
    *count = run_rivals(wish, &base, rivals);
    if (*count == 0)
        return NULL;
    qsort(rivals, (size_t)*count, sizeof(*rivals), by_time);
    *count = *count < MAX_ALTERNATIVES ? *count : MAX_ALTERNATIVES;
    struct pp_result *list = PP_ARRAY(arena, struct pp_result, *count);
    for (int i = 0; i < *count; i++) {
        pp_arena_defer(arena, end_arena, rivals[i].arena);
        complete(rivals[i].arena, PP_METRICS, &rivals[i].result);
        list[i] = rivals[i].result;
    }
    return list;
}

/* Simulates the alternatives. If several replicas of the run share links, all schedules are
 * compared without contention, so the run is simulated again as `alone`. */
static enum pp_status compare(struct pp_arena *arena, const struct pp_wish *wish,
                              const struct pp_result *result, struct pp_result *alone,
                              struct pp_others *others, struct pp_error *err)
{
    struct pp_config config = result->config;

    *others = (struct pp_others){.reference = result};
    if (wish->no_alternatives || config.is_unit || result->program->mode != PP_MODE_TRAIN)
        return PP_OK;
    others->is_too_large = pp_program_whole_size(result->program) > MOST_COMPARED;
    if (others->is_too_large)
        return PP_OK;
    if (result->replicas_simulated > 1 && config.engine->shares_links) {
        config.engine = &pp_engine_dag;
        config.engine_options.sync_share = 0;
        PP_TRY(pp_simulate(arena, &config, PP_PROVED, NULL, alone, err));
        others->reference = alone;
        others->is_contention_free = true;
    }
    others->list = alternatives(arena, wish, others->reference, &others->count);
    return PP_OK;
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
    result.oom = pp_oom_find(arena, &result);
    if (owner == PP_STDOUT_REPORT || owner == PP_STDOUT_EXPLAIN || wish->html)
        result.levels = pp_levels_find(arena, &result, owner == PP_STDOUT_EXPLAIN);
    if (wish->trace)
        PP_TRY(pp_trace_write(pp_simulated_events(arena, &result), wish->trace, err));
    if (owner == PP_STDOUT_REPORT || wish->html)
        PP_TRY(compare(arena, wish, &result, &alone, &others, err));
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
        quick_like(arena, wish, &subjects[i], &base, &results[i]);
        complete(arena, depth_of(wish, answer), &results[i]);
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
