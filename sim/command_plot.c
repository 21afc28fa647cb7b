#define _GNU_SOURCE /* memmem */

/* pipesim plot: files to a picture. */
#include "sim/commands.h"

#include "core/file.h"
#include "plots/report_read.h"
#include "sim/plot_kinds.h"

#include <assert.h>
#include <string.h>

struct source {
    const char *name;
    struct pp_bytes bytes;
    enum pp_plot_source type; /* of this file alone */
};
struct job {
    struct pp_arena *arena;
    const struct pp_parsed *parsed;
    const struct plot_kind *kind;
    struct source *sources;
    int count;
    struct pp_plot_target target;
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

/* ---- files ----------------------------------------------------------------------------------- */

static bool contains(const struct pp_bytes *bytes, const char *words)
{
    return memmem(bytes->data, bytes->length, words, strlen(words)) != NULL;
}

static enum pp_status recognize(struct source *source, struct pp_error *err)
{
    static const char TRACE_HEADER[] = "step,rank,replica,stream,";
    const struct pp_bytes *bytes = &source->bytes;
    const char *text = bytes->data + strspn(bytes->data, "\xef\xbb\xbf \t\r\n");

    if (*text != '{') {
        source->type =
            strncmp(text, TRACE_HEADER, strlen(TRACE_HEADER)) ? PP_FROM_TABLE : PP_FROM_TRACE;
        return PP_OK;
    }
    if (contains(bytes, "\"traceEvents\""))
        source->type = PP_FROM_TRACE;
    else if (contains(bytes, "\"pipesim.report/") || contains(bytes, "\"pipesim.comparison/"))
        source->type = PP_FROM_REPORT;
    else
        return pp_error_set(err, PP_EINVAL,
                            "%s: neither a trace nor a report of 'pipesim --json' with one or "
                            "several schedules",
                            source->name);
    return PP_OK;
}

static enum pp_status read_sources(struct job *job, struct pp_error *err)
{
    const struct pp_parsed *parsed = job->parsed;
    bool has_stdin = false;

    job->count = parsed->operand_count;
    job->sources = PP_ARRAY(job->arena, struct source, job->count);
    for (int i = 0; i < job->count; i++) {
        struct source *source = &job->sources[i];
        const bool is_stdin = !strcmp(parsed->operands[i], "-");
        if (is_stdin && has_stdin)
            return pp_error_set(err, PP_EINVAL, "plot: only one of the files can be stdin");
        has_stdin |= is_stdin;
        source->name = is_stdin ? "<stdin>" : parsed->operands[i];
        PP_TRY(pp_file_read(job->arena, parsed->operands[i], &source->bytes.data,
                            &source->bytes.length, err));
        PP_TRY(recognize(source, err));
    }
    return PP_OK;
}

static const char *type_name(enum pp_plot_source type)
{
    return type == PP_FROM_TABLE    ? "a sweep"
           : type == PP_FROM_TRACE  ? "a trace"
           : type == PP_FROM_TRACES ? "two traces"
                                    : "a report";
}

/* What the files are together. */
static enum pp_status combine(const struct job *job, enum pp_plot_source *type,
                              struct pp_error *err)
{
    *type = job->sources[0].type;
    for (int i = 1; i < job->count; i++)
        if (job->sources[i].type != job->sources[0].type)
            return pp_error_set(err, PP_EINVAL,
                                "%s is %s but %s is %s: one picture is drawn from "
                                "files of one sort",
                                job->sources[0].name, type_name(job->sources[0].type),
                                job->sources[i].name, type_name(job->sources[i].type));
    if (job->count == 2 && *type == PP_FROM_TRACE)
        *type = PP_FROM_TRACES;
    else if (job->count > 1)
        return pp_error_set(err, PP_EINVAL,
                            "%d files that are each %s: a picture has one sweep, one report, one "
                            "trace, or two traces (predicted, measured)%s",
                            job->count, type_name(*type),
                            *type == PP_FROM_TABLE ? "; pipesim sweep merges the parts of a sweep"
                                                   : "");
    return PP_OK;
}

/* ---- drawing --------------------------------------------------------------------------------- */

struct plot_kind {
    const char *name;
    unsigned sources;
    enum pp_status (*draw)(struct job *job, struct pp_error *err);
};

static enum pp_status read_table(const struct job *job, struct pp_table *table,
                                 struct pp_error *err)
{
    const struct source *source = &job->sources[0];

    return pp_table_parse(job->arena, source->name, source->bytes.data, source->bytes.length, table,
                          err);
}

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
    PP_TRY(read_table(job, &table, err));
    if (points) {
        PP_TRY(pp_table_read(job->arena, points, &marks, err));
        curves.points = &marks;
    }
    return pp_plot_curves(job->arena, &table, &curves, &job->target, err);
}

/* Options that choose columns and rows, given for a picture that has none. */
static enum pp_status refuse_columns(const struct job *job, bool has_rows, struct pp_error *err)
{
    static const char *const OPTIONS[] = {"x", "y", "log-x", "log-y", "points", "by", "where"};
    const int count = (int)(sizeof(OPTIONS) / sizeof(*OPTIONS)) - (has_rows ? 2 : 0);

    for (int i = 0; i < count; i++)
        if (get(job->parsed, OPTIONS[i])->count)
            return pp_error_set(err, PP_EINVAL, "--%s has no effect on --kind %s of %s", OPTIONS[i],
                                job->kind->name, type_name(job->sources[0].type));
    return PP_OK;
}

static enum pp_status read_report(const struct job *job, struct pp_report *report,
                                  struct pp_error *err)
{
    const struct source *source = &job->sources[0];

    return pp_report_parse(job->arena, source->name, source->bytes.data, source->bytes.length,
                           report, err);
}

static enum pp_status draw_memory(struct job *job, struct pp_error *err)
{
    const bool is_table = job->sources[0].type == PP_FROM_TABLE;
    const struct pp_curves options = curves_of(job);
    struct pp_plot_memory memory;
    struct pp_report report;
    struct pp_table table;

    PP_TRY(refuse_columns(job, is_table, err));
    if (is_table) {
        PP_TRY(read_table(job, &table, err));
        PP_TRY(pp_plot_memory_table(job->arena, &table, &options, &memory, err));
    } else {
        PP_TRY(read_report(job, &report, err));
        PP_TRY(pp_report_memory(job->arena, &report, &memory, err));
    }
    return pp_plot_memory(job->arena, &memory, &job->target, err);
}

static enum pp_status draw_links(struct job *job, struct pp_error *err)
{
    struct pp_plot_links links;
    struct pp_report report;

    PP_TRY(refuse_columns(job, false, err));
    PP_TRY(read_report(job, &report, err));
    PP_TRY(pp_report_links(job->arena, &report, &links, err));
    return pp_plot_links(job->arena, &links, &job->target, err);
}

static enum pp_status read_trace(const struct job *job, int index, struct pp_trace **trace,
                                 struct pp_error *err)
{
    const struct source *source = &job->sources[index];
    const struct pp_bytes *bytes = &source->bytes;
    const bool is_json = bytes->data[strspn(bytes->data, " \t\r\n")] == '{';

    return (is_json ? pp_trace_parse_chrome : pp_trace_parse_csv)(
        job->arena, source->name, bytes->data, bytes->length, trace, err);
}

static enum pp_status draw_held(struct job *job, struct pp_error *err)
{
    struct pp_plot_held held;
    struct pp_trace *trace;

    PP_TRY(refuse_columns(job, false, err));
    PP_TRY(read_trace(job, 0, &trace, err));
    PP_TRY(pp_plot_held_trace(job->arena, trace, 0, &held, err));
    return pp_plot_held(job->arena, &held, &job->target, err);
}

static enum pp_status draw_error(struct job *job, struct pp_error *err)
{
    struct pp_trace *predicted, *measured;

    PP_TRY(refuse_columns(job, false, err));
    PP_TRY(read_trace(job, 0, &predicted, err));
    PP_TRY(read_trace(job, 1, &measured, err));
    return pp_plot_error(job->arena, predicted, measured, &job->target, err);
}

#define ROW(name, summary, sources, function) {name, sources, draw_##function},
static const struct plot_kind KINDS[] = {PP_PLOT_KINDS(ROW)};
enum { KINDS_COUNT = sizeof(KINDS) / sizeof(*KINDS) };

static enum pp_status choose_kind(struct job *job, struct pp_error *err)
{
    const struct pp_option_value *option = get(job->parsed, "kind");
    enum pp_plot_source type;
    int wanted = 0;

    PP_TRY(combine(job, &type, err));
    if (option->count) {
        job->kind = &KINDS[option->integer];
        for (unsigned s = PP_FROM_REPORT; s; s >>= 1)
            if (job->kind->sources & s)
                wanted = (int)s;
        if (job->kind->sources & type)
            return PP_OK;
        pp_error_set(err, PP_EINVAL,
                     "--kind %s is drawn from %s, but %s is %s; from that:", job->kind->name,
                     type_name((enum pp_plot_source)wanted), job->sources[0].name, type_name(type));
    } else {
        for (int i = 0; i < KINDS_COUNT && !job->kind; i++)
            if (KINDS[i].sources & type)
                job->kind = &KINDS[i];
        if (job->kind)
            return PP_OK;
        return pp_error_set(err, PP_EINVAL, "%s is %s, of which no picture can be drawn",
                            job->sources[0].name, type_name(type));
    }
    for (int i = 0; i < KINDS_COUNT; i++)
        if (KINDS[i].sources & type)
            pp_error_append(err, " %s", KINDS[i].name);
    return PP_EINVAL;
}

/* ---- options --------------------------------------------------------------------------------- */

/* "6x4", "6x4in", "15x10cm" */
static enum pp_status read_size(const char *text, struct pp_plot_target *target,
                                struct pp_error *err)
{
    const double MIN_IN = 0.5, MAX_IN = 100, CM = 1 / 2.54;
    char unit[4] = "";
    double width, height;
    int end = -1;

    if ((sscanf(text, "%lfx%lf%n%3s", &width, &height, &end, unit) >= 2) && end > 0 &&
        strlen(text) == (size_t)end + strlen(unit) &&
        (!*unit || !strcmp(unit, "in") || !strcmp(unit, "cm"))) {
        const double factor = !strcmp(unit, "cm") ? CM : 1;
        target->width_in = width * factor;
        target->height_in = height * factor;
        if (target->width_in >= MIN_IN && target->width_in <= MAX_IN &&
            target->height_in >= MIN_IN && target->height_in <= MAX_IN)
            return PP_OK;
    }
    return pp_error_set(err, PP_EINVAL,
                        "--size %s: WIDTHxHEIGHT is expected, such as 6x4 (inches) or 15x10cm, "
                        "from %g to %g inches",
                        text, MIN_IN, MAX_IN);
}

static enum pp_status read_target(struct job *job, FILE *out, struct pp_error *err)
{
    const char *size = text_of(job, "size");
    struct pp_plot_target *target = &job->target;

    PP_TRY(pp_plot_target_parse(text_of(job, "output"), target, err));
    target->is_paper = get(job->parsed, "paper")->count > 0;
    target->title = text_of(job, "title");
    target->terminal = pp_terminal_detect("auto", out);
    target->out = out;
    return size ? read_size(size, target, err) : PP_OK;
}

enum pp_status pp_command_plot(struct pp_arena *arena, const struct pp_parsed *parsed, FILE *out,
                               struct pp_error *err)
{
    struct job job = {.arena = arena, .parsed = parsed};

    PP_TRY(read_target(&job, out, err));
    PP_TRY(read_sources(&job, err));
    PP_TRY(choose_kind(&job, err));
    return job.kind->draw(&job, err);
}
