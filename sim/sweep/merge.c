/* sim/sweep/merge.c — the result files of the parts of a sweep as one. */
#include "core/process/process.h"
#include "core/text/file.h"
#include "core/text/output.h"
#include "sim/sweep/lock.h"
#include "sim/sweep/missing.h"
#include "sim/sweep/set.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

struct merge {
    struct pp_sweep_set rows;
    FILE *notes;
};

static enum pp_status refuse_header(const struct pp_sweep_lines *a, const struct pp_sweep_lines *b,
                                    struct pp_error *err)
{
    for (int i = 0;; i++) {
        const struct pp_sweep_text x = pp_sweep_field(a->header, i);
        const struct pp_sweep_text y = pp_sweep_field(b->header, i);

        if (!pp_sweep_text_is_same(x, y))
            return pp_error_set(err, PP_EINVAL,
                                "%s and %s do not belong together: column %d is %.*s in one and "
                                "%.*s in the other",
                                a->name, b->name, i + 1, (int)x.length, x.data, (int)y.length,
                                y.data);
    }
}

/* Ends in points,key, so that headers that differ do so in a column that both have. */
static enum pp_status check_headers(const struct pp_sweep_lines *files, int count,
                                    struct pp_error *err)
{
    const struct pp_sweep_lines *first = NULL;

    for (int i = 0; i < count; i++) {
        if (!files[i].header.data)
            continue;
        if (!first)
            first = &files[i];
        if (!pp_sweep_text_is_same(first->header, files[i].header))
            return refuse_header(first, &files[i], err);
    }
    if (!first)
        return pp_error_set(err, PP_EINVAL, "nothing to merge: %s%s empty", files[0].name,
                            count > 1 ? " and the others are" : " is");
    return PP_OK;
}

static enum pp_status read_files(struct pp_arena *arena, const char *const *paths, int count,
                                 struct merge *m, struct pp_error *err)
{
    struct pp_sweep_lines *files = PP_ARRAY(arena, struct pp_sweep_lines, count);

    for (int i = 0; i < count; i++) {
        char *text;
        size_t length;

        PP_TRY(pp_file_read(arena, paths[i], &text, &length, err));
        PP_TRY(pp_sweep_read(arena, paths[i], text, length, &files[i], err));
        if (files[i].torn_line)
            fprintf(m->notes, "pipesim: note: %s:%d: the last row is cut off, and left out\n",
                    paths[i], files[i].torn_line);
        else if (!files[i].header.data)
            fprintf(m->notes, "pipesim: note: %s is empty\n", paths[i]);
    }
    PP_TRY(check_headers(files, count, err));
    m->rows = pp_sweep_set_of(arena, files, count);
    return PP_OK;
}

/* Sorted by point: one sweep has as many points and the same key in all its rows of a point. */
static bool is_one_sweep(const struct pp_sweep_set *rows)
{
    for (int64_t i = 1; i < rows->count; i++) {
        const struct pp_sweep_line *a = rows->entries[i - 1].row, *b = rows->entries[i].row;

        if (a->points != b->points || (a->point == b->point && strcmp(a->key, b->key) != 0))
            return false;
    }
    return true;
}

/* Rows of different sweeps, in the order of files, with new numbers. */
static enum pp_status join(struct merge *m, struct pp_error *err)
{
    const int64_t given = m->rows.count;

    PP_TRY(pp_sweep_set_once(&m->rows, pp_sweep_by_key, err));
    pp_sweep_set_sort(&m->rows, pp_sweep_by_file);
    for (int64_t i = 0; i < m->rows.count; i++)
        m->rows.entries[i].point = i;
    fprintf(m->notes,
            "pipesim: note: these are different sweeps: %" PRId64
            " rows in the order given, numbered anew",
            m->rows.count);
    if (m->rows.count < given)
        fprintf(m->notes, " (left out: %" PRId64 " that another one has too)",
                given - m->rows.count);
    fputc('\n', m->notes);
    return PP_OK;
}

static struct pp_sweep_points points_of(struct pp_arena *arena, const struct pp_sweep_set *rows)
{
    struct pp_sweep_points points = {.count = rows->count};
    int64_t *numbers = PP_ARRAY(arena, int64_t, rows->count);

    for (int64_t i = 0; i < rows->count; i++)
        numbers[i] = rows->entries[i].point;
    points.numbers = numbers;
    points.total = rows->entries[0].row->points;
    for (int i = 0; i < rows->file_count; i++)
        for (int64_t j = 0; j < rows->files[i].count; j++)
            points.parts = pp_sweep_parts(points.parts, rows->files[i].rows[0].point,
                                          rows->files[i].rows[j].point);
    return points;
}

/* `path` NULL: stdout, of which only what is missing is said. */
static void note_result(struct pp_arena *arena, const struct merge *m, bool is_one,
                        const char *path)
{
    const int64_t count = m->rows.count;
    const struct pp_sweep_points points =
        is_one && count > 0 ? points_of(arena, &m->rows)
                            : (struct pp_sweep_points){.count = count, .total = count};

    if (count == 0)
        fprintf(m->notes, "pipesim: note: there are no rows\n");
    else if (path)
        pp_sweep_note_merged(path, &points, m->notes);
    else
        pp_sweep_note_missing(&points, m->notes);
}

/* No sweep writes to it meanwhile. */
static enum pp_status replace_file(struct pp_arena *arena, const struct pp_sweep_set *rows,
                                   int64_t points, const char *path, struct pp_error *err)
{
    struct pp_output output;
    struct stat info;
    const bool is_there = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    const int fd = is_there ? open(path, O_RDWR | O_CLOEXEC) : -1;
    enum pp_status status = fd >= 0 ? pp_sweep_lock(fd, path, err) : PP_OK;

    if (status == PP_OK)
        status = pp_output_open(arena, path, &output, err);
    if (status == PP_OK) {
        pp_sweep_set_write(rows, points, output.file);
        status = pp_output_commit(&output, err);
    }
    if (fd >= 0)
        close(fd);
    return status;
}

static enum pp_status write_file(struct pp_arena *arena, const struct pp_sweep_set *rows,
                                 int64_t points, const char *path, FILE *out, struct pp_error *err)
{
    sigset_t before;

    if (!path) {
        pp_sweep_set_write(rows, points, out);
        return PP_OK;
    }
    pp_process_hold(&before);
    const enum pp_status status = replace_file(arena, rows, points, path, err);
    pp_process_release(&before);
    return status;
}

enum pp_status pp_sweep_merge(struct pp_arena *arena, const char *const *paths, int count,
                              const char *output, FILE *out, FILE *notes, struct pp_error *err)
{
    const char *path = output && strcmp(output, "-") != 0 ? output : NULL;
    struct merge m = {.notes = notes};

    if (count < 1)
        return pp_error_set(err, PP_EINVAL, "no files to merge");
    PP_TRY(read_files(arena, paths, count, &m, err));
    pp_sweep_set_sort(&m.rows, pp_sweep_by_point);
    const bool is_one = is_one_sweep(&m.rows);
    PP_TRY(is_one ? pp_sweep_set_once(&m.rows, pp_sweep_by_point, err) : join(&m, err));
    const int64_t points =
        is_one && m.rows.count > 0 ? m.rows.entries[0].row->points : m.rows.count;
    PP_TRY(write_file(arena, &m.rows, points, path, out, err));
    note_result(arena, &m, is_one, path);
    return PP_OK;
}
