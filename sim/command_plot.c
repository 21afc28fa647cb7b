/* pipesim plot: files to a picture. */
#include "sim/commands.h"

#include "plots/plot.h"
#include "sim/plot_sources.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct plot_kind;
struct job {
    struct pp_arena *arena;
    const struct pp_parsed *parsed;
    const struct plot_kind *kind;
    struct pp_plot_files files;
    struct pp_plot_target target;
};
struct plot_kind {
    const char *name;
    unsigned sources;
    enum pp_status (*draw)(struct job *job, struct pp_error *err);
};

static const struct pp_option_value *get(const struct pp_parsed *parsed, const char *name)
{
    return pp_options_get(&pp_sim_cli, parsed, name);
}

static const char *text_of(const struct job *job, const char *name)
{
    const struct pp_option_value *value = get(job->parsed, name);

    return value->count ? value->text : NULL;
}

/* ---- drawing --------------------------------------------------------------------------------- */

static struct pp_curves curves_of(const struct job *job)
{
    const struct pp_option_value *where = get(job->parsed, "where");
    const char *by = text_of(job, "by");

    return (struct pp_curves){
        .x = text_of(job, "x"),
        .y = text_of(job, "y"),
        .by = by && !strcmp(by, "none") ? "" : by,
        .where = where->all,
        .where_count = where->count,
        .has_log_x = get(job->parsed, "log-x")->count > 0,
        .has_log_y = get(job->parsed, "log-y")->count > 0,
        .notes = stderr,
    };
}

static enum pp_status draw_curves(struct job *job, struct pp_error *err)
{
    struct pp_curves curves = curves_of(job);
    const char *points = text_of(job, "points");
    struct pp_table table, marks;

    for (curves.kind = pp_curve_kinds; strcmp(curves.kind->name, job->kind->name) != 0;) {
        curves.kind++;
        assert(curves.kind->name);
    }
    PP_TRY(pp_plot_file_table(job->arena, &job->files.files[0], &table, err));
    if (points) {
        PP_TRY(pp_table_read(job->arena, points, &marks, err));
        curves.points = &marks;
    }
    return pp_plot_curves(job->arena, &table, &curves, &job->target, err);
}

static enum pp_status draw_memory(struct job *job, struct pp_error *err)
{
    const struct pp_plot_file *file = &job->files.files[0];
    const struct pp_curves options = curves_of(job);
    struct pp_plot_memory memory;
    struct pp_report report;
    struct pp_table table;

    if (file->source == PP_FROM_TABLE) {
        PP_TRY(pp_plot_file_table(job->arena, file, &table, err));
        PP_TRY(pp_plot_memory_table(job->arena, &table, &options, &memory, err));
    } else {
        PP_TRY(pp_plot_file_report(job->arena, file, &report, err));
        PP_TRY(pp_report_memory(job->arena, &report, &memory, err));
    }
    return pp_plot_memory(job->arena, &memory, &job->target, err);
}

static enum pp_status draw_links(struct job *job, struct pp_error *err)
{
    struct pp_plot_links links;
    struct pp_report report;

    PP_TRY(pp_plot_file_report(job->arena, &job->files.files[0], &report, err));
    PP_TRY(pp_report_links(job->arena, &report, &links, err));
    return pp_plot_links(job->arena, &links, &job->target, err);
}

static enum pp_status draw_held(struct job *job, struct pp_error *err)
{
    struct pp_plot_held held;
    struct pp_trace *trace;

    PP_TRY(pp_plot_file_trace(job->arena, &job->files.files[0], &trace, err));
    PP_TRY(pp_plot_held_trace(job->arena, trace, 0, &held, err));
    return pp_plot_held(job->arena, &held, &job->target, err);
}

/* A trace does not say whether its times are seconds or the units of --unit. */
static const struct pp_plot_timeline WHOLE = {.has_arrows = true,
                                              .first_rank = -1,
                                              .last_rank = -1,
                                              .from_s = (double)NAN,
                                              .to_s = (double)NAN};

static enum pp_status draw_timeline(struct job *job, struct pp_error *err)
{
    struct pp_trace *trace;

    PP_TRY(pp_plot_file_trace(job->arena, &job->files.files[0], &trace, err));
    return pp_plot_timeline(job->arena, trace, &WHOLE, &job->target, err);
}

struct pair {
    struct pp_trace *predicted, *measured;
};

static enum pp_status read_pair(const struct job *job, struct pair *pair, struct pp_error *err)
{
    PP_TRY(pp_plot_file_trace(job->arena, &job->files.files[0], &pair->predicted, err));
    return pp_plot_file_trace(job->arena, &job->files.files[1], &pair->measured, err);
}

static enum pp_status draw_compare(struct job *job, struct pp_error *err)
{
    struct pair pair;

    PP_TRY(read_pair(job, &pair, err));
    return pp_plot_timelines(job->arena, pair.predicted, pair.measured, &WHOLE, &job->target, err);
}

static enum pp_status draw_error(struct job *job, struct pp_error *err)
{
    struct pair pair;

    PP_TRY(read_pair(job, &pair, err));
    return pp_plot_error(job->arena, pair.predicted, pair.measured, &job->target, err);
}

/* ---- kinds ----------------------------------------------------------------------------------- */

#define ROW(name, summary, sources, function) {name, sources, draw_##function},
static const struct plot_kind KINDS[] = {PP_PLOT_KINDS(ROW)};
enum { KINDS_COUNT = sizeof(KINDS) / sizeof(*KINDS) };

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

/* Options that choose columns and rows, given for a picture that has none. */
static enum pp_status check_columns(const struct job *job, struct pp_error *err)
{
    static const char *const OPTIONS[] = {"x", "y", "log-x", "log-y", "points", "by", "where"};
    const bool has_rows = job->files.source == PP_FROM_TABLE;
    const int count = (int)(sizeof(OPTIONS) / sizeof(*OPTIONS)) - (has_rows ? 2 : 0);

    for (int i = 0; i < count && job->kind->draw != draw_curves; i++)
        if (get(job->parsed, OPTIONS[i])->count)
            return pp_error_set(err, PP_EINVAL, "%s has no effect on --kind %s of %s",
                                get(job->parsed, OPTIONS[i])->typed, job->kind->name,
                                pp_plot_source_name(job->files.source));
    return PP_OK;
}

static enum pp_status choose_kind(struct job *job, struct pp_error *err)
{
    const struct pp_option_value *option = get(job->parsed, "kind");

    for (int i = 0; i < KINDS_COUNT && !job->kind; i++)
        if (option->count ? i == option->integer : (KINDS[i].sources & job->files.source) != 0)
            job->kind = &KINDS[i];
    assert(job->kind); /* every source has one: tests/unit/test_plot_kinds.c */
    if (!(job->kind->sources & job->files.source))
        return refuse_kind(job, err);
    return check_columns(job, err);
}

/* ---- options --------------------------------------------------------------------------------- */

static enum pp_status read_target(struct job *job, FILE *out, struct pp_error *err)
{
    struct pp_plot_target *target = &job->target;

    PP_TRY(pp_plot_target_parse(text_of(job, "output"), target, err));
    target->is_paper = get(job->parsed, "paper")->count > 0;
    target->title = text_of(job, "title");
    target->terminal = pp_terminal_detect("auto", out);
    target->out = out;
    return pp_plot_size_parse(text_of(job, "size"), target, err);
}

enum pp_status pp_command_plot(struct pp_arena *arena, const struct pp_parsed *parsed, FILE *out,
                               struct pp_error *err)
{
    struct job job = {.arena = arena, .parsed = parsed};

    PP_TRY(read_target(&job, out, err));
    PP_TRY(pp_plot_files_read(arena, parsed->operands, parsed->operand_count, &job.files, err));
    PP_TRY(choose_kind(&job, err));
    return job.kind->draw(&job, err);
}
