/* pipesim sweep: runs every combination of the given values, one row each. */
#include "core/clock.h"
#include "core/printable.h"
#include "core/process/pool.h"
#include "core/text/progress.h"
#include "sim/command/commands.h"
#include "sim/sweep/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sweep {
    struct pp_grid grid;
    struct pp_sweep_part part;
    const char *path;        /* NULL: stdout */
    const char *merged_path; /* path as typed if `path` is that of a part; else NULL */
    int64_t *points;         /* [count], to be computed now */
    int64_t count, done, resumed;
    double seconds;
    struct pp_sweep_file *file;
    struct pp_progress progress;
};

/* ---- options --------------------------------------------------------------------------------- */

/* Text of an option that has one value; NULL if it is not given. */
static enum pp_status take(const struct pp_parsed *parsed, const char *name, const char **text,
                           struct pp_error *err)
{
    const struct pp_option_value *value = pp_options_get(parsed, name);

    *text = NULL;
    for (int i = 1; i < value->count; i++)
        if (strcmp(value->all[i], value->all[0]) != 0)
            return pp_error_set(err, PP_EINVAL,
                                "%s %s contradicts %s before it: the sweep has one --%s",
                                value->typed, value->all[i], value->all[0], name);
    if (value->count)
        *text = value->text;
    return PP_OK;
}

static enum pp_status take_jobs(const struct pp_parsed *parsed, int *jobs, struct pp_error *err)
{
    const struct pp_option_value *value = pp_options_get(parsed, "jobs");
    struct pp_option_value read = {0};
    const char *text;

    *jobs = 0;
    PP_TRY(take(parsed, "jobs", &text, err));
    if (!text)
        return PP_OK;
    if (pp_option_read(&pp_sim_cli.options[value - parsed->values], text, &read, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", value->typed);
    *jobs = (int)read.integer;
    return PP_OK;
}

static enum pp_status take_path(struct pp_arena *arena, const struct pp_wish *wish, struct sweep *s,
                                struct pp_error *err)
{
    PP_TRY(take(wish->request.flags, "output", &s->path, err));
    if (s->path && !strcmp(s->path, "-"))
        s->path = NULL;
    if (!s->path && s->part.source)
        return pp_error_set(err, PP_EINVAL,
                            "-o FILE is needed: this is part %d of %d (%s), and each part has a "
                            "file of its own; --part all computes every point here",
                            s->part.index, s->part.count, s->part.source);
    if (s->path && wish->json)
        return pp_error_set(err, PP_EINVAL,
                            "--json prints lines to stdout, and -o %s is a table that the next "
                            "sweep continues: give one of them",
                            s->path);
    if (!s->path && wish->fresh)
        return pp_error_set(err, PP_EINVAL, "--fresh has no effect without -o FILE");
    if (s->part.source) {
        s->merged_path = s->path;
        s->path = pp_sweep_part_path(arena, s->path, s->part);
        pp_tell("pipesim: part %d of %d (%s) goes to %s", s->part.index, s->part.count,
                s->part.source, s->path);
    }
    return PP_OK;
}

static enum pp_status check_path(const struct sweep *s, struct pp_error *err)
{
    const char *option, *input = s->path ? pp_sweep_inputs_find(&s->grid, s->path, &option) : NULL;

    if (!input)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "-o %s is what --%s %s reads: choose another -o", s->path,
                        option, input);
}

/* ---- merging --------------------------------------------------------------------------------- */

static enum pp_status merge(struct pp_arena *arena, const struct pp_parsed *parsed, FILE *out,
                            struct pp_error *err)
{
    const char *path;

    for (int i = 0; i < pp_sim_cli.option_count; i++) {
        const char *name = pp_sim_cli.options[i].name;
        if (parsed->values[i].count && strcmp(name, "merge") != 0 && strcmp(name, "output") != 0)
            return pp_error_set(err, PP_EINVAL,
                                "%s has no effect with --merge, which computes nothing: give the "
                                "files of the parts and -o FILE",
                                parsed->values[i].typed);
    }
    if (parsed->operand_count == 0)
        return pp_error_set(err, PP_EINVAL,
                            "--merge needs files: pipesim sweep --merge part-*.csv -o sweep.csv");
    PP_TRY(take(parsed, "output", &path, err));
    return pp_sweep_merge(arena, parsed->operands, parsed->operand_count, path, out, stderr, err);
}

/* ---- running --------------------------------------------------------------------------------- */

static void work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    const struct sweep *s = context;

    pp_sweep_run_point(scratch, &s->grid, s->points[item], out);
}

/* Adds the row of a point whose worker ended early. */
static enum pp_status add_death(struct sweep *s, int64_t point, const char *death,
                                struct pp_error *err)
{
    struct pp_error reason = {0};
    char *row = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&row, &length);

    if (!out)
        return pp_error_set(err, PP_EFAIL, "no memory for a row");
    pp_error_set(&reason, PP_EFAIL, "%s", death);
    pp_sweep_row(&s->grid, point, NULL, &reason, out);
    enum pp_status status = PP_OK;
    if (fclose(out) != 0)
        status = pp_error_set(err, PP_EFAIL, "no memory for a row");
    else
        status = pp_sweep_file_add(s->file, point, row, length, err);
    free(row);
    return status;
}

static enum pp_status done(void *context, int64_t item, const char *text, size_t length,
                           const char *death, struct pp_error *err)
{
    struct sweep *s = context;

    s->done++;
    if (death)
        return add_death(s, s->points[item], death, err);
    return pp_sweep_file_add(s->file, s->points[item], text, length, err);
}

static void tick(void *context)
{
    struct sweep *s = context;

    if (!s->path && isatty(STDOUT_FILENO)) /* the rows on the terminal show the progress */
        return;
    pp_progress_count(&s->progress, s->resumed + s->done, s->resumed + s->count, "points");
}

/* Collects the points of this part that are not in the file yet. */
static enum pp_status open_file(struct pp_arena *arena, const struct pp_wish *wish, struct sweep *s,
                                FILE *out, struct pp_error *err)
{
    const int64_t points = s->grid.points;
    bool *wanted = PP_ARRAY(arena, bool, points);

    for (int64_t point = s->part.index - 1; point < points; point += s->part.count)
        wanted[point] = true;
    const unsigned how = (wish->fresh ? PP_SWEEP_FRESH : 0u) | (wish->json ? PP_SWEEP_JSON : 0u);
    PP_TRY(pp_sweep_file_open(arena, s->path, out, &s->grid, how, wanted, &s->file, err));
    s->points = PP_ARRAY(arena, int64_t, points + 1);
    for (int64_t point = 0; point < points; point++)
        if (wanted[point])
            s->points[s->count++] = point;
    s->resumed = pp_sweep_file_counts(s->file).resumed;
    return PP_OK;
}

static enum pp_status run_points(struct sweep *s, int jobs, struct pp_error *err)
{
    const struct pp_pool pool = {
        .items = s->count, .workers = jobs, .context = s, .work = work, .done = done, .tick = tick};
    const double started_s = pp_clock_s();

    tick(s);
    pp_arena_keep_memory(); /* each point reuses the memory that the point before it has freed */
    const enum pp_status status = s->count > 0 ? pp_pool_run(&pool, err) : PP_OK;
    s->seconds = pp_clock_s() - started_s;
    pp_progress_clear(&s->progress);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* A pipe or a device cannot be drawn afterwards. */
static bool is_file(const char *path)
{
    struct stat info;

    return path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Closes the file in any case; the first error counts. */
static enum pp_status finish(struct sweep *s, enum pp_status status, struct pp_error *err)
{
    const struct pp_sweep_counts counts = pp_sweep_file_counts(s->file);
    struct pp_error closing = {0};
    const enum pp_status closed = pp_sweep_file_close(s->file, &closing);

    if (status == PP_OK && closed != PP_OK) {
        if (err)
            *err = closing;
        return closed;
    }
    if (closed != PP_OK) {
        pp_error_append(err, "\n  %s", closing.message);
        return status;
    }
    if (status == PP_EINTR && s->path)
        return pp_error_set(err, PP_EINTR,
                            "interrupted: %s has %" PRId64 " of %" PRId64
                            " points; the same command continues",
                            s->path, counts.rows, s->resumed + s->count);
    if (status != PP_OK)
        return status;
    const struct pp_sweep_summary summary = {.path = s->path,
                                             .is_file = is_file(s->path),
                                             .merged_path = s->merged_path,
                                             .part = s->part,
                                             .counts = counts,
                                             .computed = s->done,
                                             .seconds = s->seconds};
    pp_sweep_summary(&summary, stderr);
    return PP_OK;
}

enum pp_status pp_command_sweep(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                struct pp_error *err)
{
    const struct pp_parsed *parsed = wish->request.flags;
    struct sweep sweep = {.count = 0};
    const char *part;
    int jobs;

    if (wish->merge)
        return merge(arena, parsed, out, err);
    if (parsed->operand_count > 0)
        return pp_error_set(err, PP_EINVAL,
                            "\"%s\" belongs to no option: only --merge takes files by themselves",
                            parsed->operands[0]);
    PP_TRY(take_jobs(parsed, &jobs, err));
    PP_TRY(take(parsed, "part", &part, err));
    PP_TRY(pp_grid_open(arena, parsed, &sweep.grid, err));
    PP_TRY(pp_sweep_part(arena, part, &sweep.part, err));
    PP_TRY(take_path(arena, wish, &sweep, err));
    PP_TRY(check_path(&sweep, err));
    PP_TRY(open_file(arena, wish, &sweep, out, err));
    return finish(&sweep, run_points(&sweep, jobs, err), err);
}
