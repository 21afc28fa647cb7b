/* pipesim plot: draws files as a picture. */
#include "core/printable.h"
#include "sim/command/commands.h"

#include "plots/plot.h"
#include "sim/command/plot_part.h"
#include "sim/command/plot_sources.h"
#include "traces/compare/compare.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct plot_kind;
struct job {
    struct pp_arena *arena;
    const struct pp_wish *wish;
    const struct plot_kind *kind;
    struct pp_plot_files files;
    struct pp_plot_part part;
    struct pp_plot_target target;
};
struct plot_kind {
    const char *name;
    unsigned sources;
    enum pp_status (*draw)(struct job *job, struct pp_error *err);
};

/* ---- drawing --------------------------------------------------------------------------------- */

static struct pp_curves curves_of(const struct job *job)
{
    const struct pp_wish *wish = job->wish;

    return (struct pp_curves){
        .x = wish->x,
        .y = wish->y,
        .by = wish->by && !strcmp(wish->by, "none") ? "" : wish->by,
        .where = wish->given.where.all,
        .where_count = wish->given.where.count,
        .has_log_x = wish->log_x,
        .has_log_y = wish->log_y,
        .x_range = wish->x_range,
        .y_range = wish->y_range,
        .notes = stderr,
    };
}

static enum pp_status draw_table(struct job *job, const struct pp_table *table,
                                 struct pp_curves curves, struct pp_error *err)
{
    const char *points = job->wish->points;
    struct pp_table marks;

    if (points) {
        PP_TRY(pp_table_read(job->arena, points, &marks, err));
        curves.points = &marks;
    }
    return pp_plot_curves(job->arena, table, &curves, &job->target, err);
}

static enum pp_status draw_curves(struct job *job, struct pp_error *err)
{
    const struct pp_plot_file *file = &job->files.files[0];
    struct pp_curves curves = curves_of(job);
    struct pp_table table;

    for (curves.kind = pp_curve_kinds; strcmp(curves.kind->name, job->kind->name) != 0;) {
        curves.kind++;
        assert(curves.kind->name);
    }
    PP_TRY(pp_table_parse(job->arena, file->name, file->text, file->length, &table, err));
    return draw_table(job, &table, curves, err);
}

/* Both losses, or another column of the log. */
static enum pp_status draw_loss(struct job *job, struct pp_error *err)
{
    const struct pp_plot_file *file = &job->files.files[0];
    struct pp_curves curves = curves_of(job);
    struct pp_table log, losses;

    PP_TRY(pp_table_parse(job->arena, file->name, file->text, file->length, &log, err));
    curves.x = curves.x ? curves.x : "step";
    curves.by = curves.by || curves.y ? curves.by : pp_losses_by;
    if (curves.y)
        return draw_table(job, &log, curves, err);
    curves.y = "loss";
    PP_TRY(pp_plot_losses(job->arena, &log, &losses, err));
    return draw_table(job, &losses, curves, err);
}

static enum pp_status draw_memory(struct job *job, struct pp_error *err)
{
    const struct pp_plot_file *file = &job->files.files[0];
    const struct pp_curves options = curves_of(job);
    struct pp_plot_memory memory;
    struct pp_report report;
    struct pp_table table;

    if (file->source == PP_FROM_TABLE) {
        PP_TRY(pp_table_parse(job->arena, file->name, file->text, file->length, &table, err));
        PP_TRY(pp_plot_memory_table(job->arena, &table, &options, &memory, err));
    } else {
        PP_TRY(pp_report_parse(job->arena, file->name, file->text, file->length, &report, err));
        PP_TRY(pp_report_memory(job->arena, &report, &memory, err));
    }
    return pp_plot_memory(job->arena, &memory, &job->target, err);
}

static enum pp_status draw_links(struct job *job, struct pp_error *err)
{
    const struct pp_plot_file *file = &job->files.files[0];
    struct pp_plot_links links;
    struct pp_report report;

    PP_TRY(pp_report_parse(job->arena, file->name, file->text, file->length, &report, err));
    PP_TRY(pp_report_links(job->arena, &report, &links, err));
    return pp_plot_links(job->arena, &links, &job->target, err);
}

static enum pp_status read_trace(struct job *job, struct pp_trace **trace, struct pp_error *err)
{
    PP_TRY(pp_plot_file_trace(job->arena, &job->files.files[0], trace, err));
    PP_TRY(pp_plot_part_read(job->wish, (*trace)->time_unit, &job->part, err));
    return pp_plot_part_trace(job->arena, &job->part, trace, err);
}

static enum pp_status draw_held(struct job *job, struct pp_error *err)
{
    struct pp_plot_held held;
    struct pp_trace *trace;

    PP_TRY(read_trace(job, &trace, err));
    if (job->part.step == PP_PLOT_STEP_ALL)
        return pp_error_set(err, PP_EINVAL, "--step all is for --kind timeline");
    PP_TRY(pp_plot_held_trace(job->arena, trace, 0, &held, err));
    held.time_unit = job->part.timeline.time_unit;
    return pp_plot_held(job->arena, &held, &job->target, err);
}

static enum pp_status draw_timeline(struct job *job, struct pp_error *err)
{
    struct pp_trace *trace;

    PP_TRY(read_trace(job, &trace, err));
    struct pp_plot_timeline timeline = job->part.timeline;
    if (job->part.step != PP_PLOT_STEP_CHOSEN || !isnan(timeline.from_s) || !isnan(timeline.to_s))
        return pp_plot_timeline(job->arena, trace, &timeline, &job->target, err);
    /* A step begins at 0, as those of pictures of several runs. */
    const struct pp_plot_step step = pp_plot_step(job->arena, trace);
    const bool is_part = !isnan(step.to_s);
    const struct pp_plot_timeline_panel panel = {
        .trace = step.trace,
        .heading = job->target.format == PP_PLOT_TERMINAL ? step.note : NULL,
        .from_s = is_part ? step.from_s : 0,
        .to_s = is_part ? step.to_s : 0};
    timeline.title = step.note ? pp_arena_printf(job->arena, "%s, %s", trace->program, step.note)
                               : trace->program;
    return pp_plot_timeline_panels(job->arena, &panel, 1, &timeline, &job->target, err);
}

/* Reads a predicted and a measured trace, in either order. */
static enum pp_status read_two(struct job *job, struct pp_trace **predicted,
                               struct pp_trace **measured, struct pp_error *err)
{
    const char *const names[] = {job->files.files[0].name, job->files.files[1].name};

    PP_TRY(pp_plot_file_trace(job->arena, &job->files.files[0], predicted, err));
    PP_TRY(pp_plot_file_trace(job->arena, &job->files.files[1], measured, err));
    const char *note = pp_compare_order(job->arena, names, predicted, measured);
    if (note)
        pp_tell("pipesim: note: %s", note);
    return pp_plot_part_read(
        job->wish, (*predicted)->time_unit ? (*predicted)->time_unit : (*measured)->time_unit,
        &job->part, err);
}

static enum pp_status draw_compare(struct job *job, struct pp_error *err)
{
    struct pp_trace *predicted, *measured;

    PP_TRY(read_two(job, &predicted, &measured, err));
    return pp_plot_timelines(job->arena, predicted, measured, &job->part.timeline, &job->target,
                             err);
}

static enum pp_status draw_error(struct job *job, struct pp_error *err)
{
    struct pp_trace *predicted, *measured;

    PP_TRY(read_two(job, &predicted, &measured, err));
    return pp_plot_error(job->arena, predicted, measured, &job->target, err);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

#define ROW(name, summary, sources, function) {name, sources, draw_##function},
static const struct plot_kind KINDS[] = {PP_PLOT_KINDS(ROW)};
enum { KINDS_COUNT = PP_COUNT(KINDS) };

static enum pp_status refuse_kind(const struct job *job, struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "--kind %s is drawn from %s, but %s %s %s", job->kind->name,
                 pp_plot_source_name(job->kind->sources), job->files.files[0].name,
                 job->files.count > 1 ? "and the other are" : "is",
                 pp_plot_source_name(job->files.source));
    const char *before = "; from that: ";
    for (int i = 0; i < KINDS_COUNT; i++)
        if (KINDS[i].sources & job->files.source) {
            pp_error_append(err, "%s%s", before, KINDS[i].name);
            before = ", ";
        }
    return PP_EINVAL;
}

/* Options that only some pictures use: the functions that use them, and their sources. */
typedef enum pp_status draw(struct job *, struct pp_error *);
static const struct {
    const char *option;
    unsigned sources;
    draw *kinds[3];
} USES[] = {
    {"x", PP_FROM_TABLE | PP_FROM_LOG, {draw_curves, draw_loss}},
    {"y", PP_FROM_TABLE | PP_FROM_LOG, {draw_curves, draw_loss}},
    {"log-x", PP_FROM_TABLE | PP_FROM_LOG, {draw_curves, draw_loss}},
    {"log-y", PP_FROM_TABLE | PP_FROM_LOG, {draw_curves, draw_loss}},
    {"x-range", PP_FROM_TABLE | PP_FROM_LOG, {draw_curves, draw_loss}},
    {"y-range", PP_FROM_TABLE | PP_FROM_LOG, {draw_curves, draw_loss}},
    {"points", PP_FROM_TABLE | PP_FROM_LOG, {draw_curves, draw_loss}},
    {"by", PP_FROM_TABLE | PP_FROM_LOG, {draw_curves, draw_memory, draw_loss}},
    {"where", PP_FROM_TABLE | PP_FROM_LOG, {draw_curves, draw_memory, draw_loss}},
    {"ranks", PP_FROM_TRACE | PP_FROM_TRACES, {draw_timeline, draw_compare}},
    {"window", PP_FROM_TRACE | PP_FROM_TRACES, {draw_timeline, draw_compare}},
    {"step", PP_FROM_TRACE, {draw_timeline, draw_held}},
    {"time-unit", PP_FROM_TRACE | PP_FROM_TRACES, {draw_timeline, draw_held, draw_compare}},
};

static enum pp_status check_uses(const struct job *job, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(USES); i++) {
        const struct pp_option_value *value =
            pp_options_get(job->wish->request.flags, USES[i].option);
        bool is_used = false;
        for (size_t k = 0; k < PP_COUNT(USES[i].kinds); k++)
            is_used |= USES[i].kinds[k] == job->kind->draw;
        if (value->count && !(is_used && USES[i].sources & job->files.source))
            return pp_error_set(err, PP_EINVAL, "%s has no effect on --kind %s of %s", value->typed,
                                job->kind->name, pp_plot_source_name(job->files.source));
    }
    return PP_OK;
}

static enum pp_status choose_kind(struct job *job, struct pp_error *err)
{
    const bool is_given = job->wish->given.kind.count;

    for (int i = 0; i < KINDS_COUNT && !job->kind; i++)
        if (is_given ? i == job->wish->kind : (KINDS[i].sources & job->files.source) != 0)
            job->kind = &KINDS[i];
    assert(job->kind); /* every source has one: tests/unit/sim/command/test_plot_kinds.c */
    if (!(job->kind->sources & job->files.source))
        return refuse_kind(job, err);
    return check_uses(job, err);
}

/* ---- options --------------------------------------------------------------------------------- */

static enum pp_status read_target(struct job *job, FILE *out, struct pp_error *err)
{
    struct pp_plot_target *target = &job->target;

    PP_TRY(pp_plot_target_parse(job->wish->output, target, err));
    target->is_paper = job->wish->paper;
    target->title = job->wish->title;
    target->terminal = pp_terminal_detect("auto", out);
    target->out = out;
    return pp_plot_size_parse(job->wish->size, target, err);
}

enum pp_status pp_command_plot(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                               struct pp_error *err)
{
    struct job job = {.arena = arena, .wish = wish};

    PP_TRY(read_target(&job, out, err));
    PP_TRY(pp_plot_files_read(arena, wish->request.flags->operands,
                              wish->request.flags->operand_count, &job.files, err));
    PP_TRY(choose_kind(&job, err));
    return job.kind->draw(&job, err);
}
