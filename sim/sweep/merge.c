/* sim/sweep/merge.c — the result files of the parts of a sweep as one. */
#include "core/process/process.h"
#include "core/text/file.h"
#include "core/text/output.h"
#include "sim/sweep/lock.h"
#include "sim/sweep/missing.h"
#include "sim/sweep/read.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    const struct pp_sweep_line *row;
    int file;
    int64_t order; /* of all rows as given */
};
struct merge {
    const struct pp_sweep_lines *files;
    int file_count;
    struct pp_sweep_text header;
    int status_column; /* -1: there is none */
    struct entry *entries;
    int64_t count;
    FILE *notes;
};

static int by_order(const struct entry *a, const struct entry *b)
{
    return (a->order > b->order) - (a->order < b->order);
}

static int by_point(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    if (a->row->point != b->row->point)
        return a->row->point < b->row->point ? -1 : 1;
    return by_order(a, b);
}

static int by_key(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const int order = strcmp(a->row->key, b->row->key);

    return order ? order : by_order(a, b);
}

static int by_file(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    return a->file != b->file ? a->file - b->file : by_point(a, b);
}

static void sort(struct merge *m, int (*compare)(const void *, const void *))
{
    if (m->count > 0)
        qsort(m->entries, (size_t)m->count, sizeof *m->entries, compare);
}

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
static enum pp_status check_headers(struct merge *m, struct pp_error *err)
{
    const struct pp_sweep_lines *first = NULL;

    for (int i = 0; i < m->file_count; i++) {
        const struct pp_sweep_lines *file = &m->files[i];

        if (!file->header.data)
            continue;
        if (!first)
            first = file;
        if (!pp_sweep_text_is_same(first->header, file->header))
            return refuse_header(first, file, err);
    }
    if (!first)
        return pp_error_set(err, PP_EINVAL, "nothing to merge: %s%s empty", m->files[0].name,
                            m->file_count > 1 ? " and the others are" : " is");
    m->header = first->header;
    m->status_column = pp_sweep_column(m->header, "status");
    return PP_OK;
}

static enum pp_status read_files(struct pp_arena *arena, const char *const *paths, struct merge *m,
                                 struct pp_error *err)
{
    struct pp_sweep_lines *files = PP_ARRAY(arena, struct pp_sweep_lines, m->file_count);

    m->files = files;
    for (int i = 0; i < m->file_count; i++) {
        char *text;
        size_t length;

        PP_TRY(pp_file_read(arena, paths[i], &text, &length, err));
        PP_TRY(pp_sweep_read(arena, paths[i], text, length, &files[i], err));
        if (files[i].torn_line)
            fprintf(m->notes, "pipesim: note: %s:%d: the last row is cut off, and left out\n",
                    paths[i], files[i].torn_line);
        else if (!files[i].header.data)
            fprintf(m->notes, "pipesim: note: %s is empty\n", paths[i]);
        m->count += files[i].count;
    }
    return check_headers(m, err);
}

static void collect(struct pp_arena *arena, struct merge *m)
{
    int64_t order = 0;

    m->entries = PP_ARRAY(arena, struct entry, m->count);
    for (int i = 0; i < m->file_count; i++)
        for (int64_t j = 0; j < m->files[i].count; j++, order++)
            m->entries[order] =
                (struct entry){.row = &m->files[i].rows[j], .file = i, .order = order};
}

/* Sorted by point: one sweep has as many points and the same key in all its rows of a point. */
static bool is_one_sweep(const struct merge *m)
{
    for (int64_t i = 1; i < m->count; i++) {
        const struct pp_sweep_line *a = m->entries[i - 1].row, *b = m->entries[i].row;

        if (a->points != b->points || (a->point == b->point && strcmp(a->key, b->key) != 0))
            return false;
    }
    return true;
}

static bool is_same_point(const struct entry *a, const struct entry *b)
{
    return a->row->point == b->row->point;
}

static bool is_same_key(const struct entry *a, const struct entry *b)
{
    return strcmp(a->row->key, b->row->key) == 0;
}

/* The program ended while it was at this point; another time it may not. */
static bool has_failed(const struct merge *m, const struct entry *entry)
{
    return m->status_column >= 0 &&
           pp_sweep_text_is(pp_sweep_field(entry->row->row, m->status_column), "failed");
}

static enum pp_status refuse_rows(const struct merge *m, const struct entry *a,
                                  const struct entry *b, struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL,
                        "%s:%d and %s:%d contradict each other: one point, and not the same values",
                        m->files[a->file].name, a->row->line, m->files[b->file].name, b->row->line);
}

/* Of neighbours that are the same, the first stays that has not failed. */
static enum pp_status drop_copies(struct merge *m,
                                  bool (*is_same)(const struct entry *, const struct entry *),
                                  struct pp_error *err)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < m->count; i++) {
        const struct entry *b = &m->entries[i];
        struct entry *a = kept ? &m->entries[kept - 1] : NULL;

        if (!a || !is_same(a, b))
            m->entries[kept++] = *b;
        else if (has_failed(m, a))
            *a = *b;
        else if (!has_failed(m, b) && !pp_sweep_text_is_same(a->row->values, b->row->values))
            return refuse_rows(m, a, b, err);
    }
    m->count = kept;
    return PP_OK;
}

static void put(struct pp_sweep_text text, FILE *out)
{
    fwrite(text.data, 1, text.length, out);
}

/* Rows as they are. */
static void write_rows(const struct merge *m, FILE *out)
{
    for (int64_t i = 0; i < m->count; i++) {
        put(m->entries[i].row->row, out);
        fputc('\n', out);
    }
}

static void write_numbered(const struct merge *m, FILE *out)
{
    for (int64_t i = 0; i < m->count; i++) {
        const struct pp_sweep_line *row = m->entries[i].row;

        fprintf(out, "%" PRId64 ",", i);
        put(row->values, out);
        fprintf(out, "%s%" PRId64 ",%s\n", row->values.length ? "," : "", m->count, row->key);
    }
}

static enum pp_status join(struct merge *m, struct pp_error *err)
{
    const int64_t given = m->count;

    sort(m, by_key);
    PP_TRY(drop_copies(m, is_same_key, err));
    sort(m, by_file);
    fprintf(m->notes,
            "pipesim: note: these are different sweeps: %" PRId64
            " rows in the order given, numbered anew",
            m->count);
    if (m->count < given)
        fprintf(m->notes, " (left out: %" PRId64 " that another one has too)", given - m->count);
    fputc('\n', m->notes);
    return PP_OK;
}

static struct pp_sweep_points points_of(struct pp_arena *arena, const struct merge *m)
{
    struct pp_sweep_points points = {.count = m->count};
    int64_t *numbers = PP_ARRAY(arena, int64_t, m->count);

    for (int64_t i = 0; i < m->count; i++)
        numbers[i] = m->entries[i].row->point;
    points.numbers = numbers;
    points.total = m->entries[0].row->points;
    for (int i = 0; i < m->file_count; i++)
        for (int64_t j = 0; j < m->files[i].count; j++)
            points.parts =
                pp_sweep_parts(points.parts, m->files[i].rows[0].point, m->files[i].rows[j].point);
    return points;
}

/* `path` NULL: stdout, of which only what is missing is said. */
static void note_result(struct pp_arena *arena, const struct merge *m, bool is_one,
                        const char *path)
{
    const struct pp_sweep_points points =
        is_one && m->count > 0 ? points_of(arena, m)
                               : (struct pp_sweep_points){.count = m->count, .total = m->count};

    if (m->count == 0)
        fprintf(m->notes, "pipesim: note: there are no rows\n");
    else if (path)
        pp_sweep_note_merged(path, &points, m->notes);
    else
        pp_sweep_note_missing(&points, m->notes);
}

static bool is_stdout(const char *path)
{
    return !path || !strcmp(path, "-");
}

static void write_to(const struct merge *m, bool is_one, FILE *out)
{
    put(m->header, out);
    fputc('\n', out);
    (is_one ? write_rows : write_numbered)(m, out);
}

/* No sweep writes to it meanwhile. */
static enum pp_status replace_file(struct pp_arena *arena, const struct merge *m, bool is_one,
                                   const char *path, struct pp_error *err)
{
    struct pp_output output;
    struct stat info;
    const bool is_there = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    const int fd = is_there ? open(path, O_RDWR | O_CLOEXEC) : -1;
    enum pp_status status = fd >= 0 ? pp_sweep_lock(fd, path, err) : PP_OK;

    if (status == PP_OK)
        status = pp_output_open(arena, path, &output, err);
    if (status == PP_OK) {
        write_to(m, is_one, output.file);
        status = pp_output_commit(&output, err);
    }
    if (fd >= 0)
        close(fd);
    return status;
}

static enum pp_status write_file(struct pp_arena *arena, const struct merge *m, bool is_one,
                                 const char *path, FILE *out, struct pp_error *err)
{
    sigset_t before;

    if (is_stdout(path)) {
        write_to(m, is_one, out);
        return PP_OK;
    }
    pp_process_hold(&before);
    const enum pp_status status = replace_file(arena, m, is_one, path, err);
    pp_process_release(&before);
    return status;
}

enum pp_status pp_sweep_merge(struct pp_arena *arena, const char *const *paths, int count,
                              const char *output, FILE *out, FILE *notes, struct pp_error *err)
{
    struct merge m = {.file_count = count, .notes = notes};

    if (count < 1)
        return pp_error_set(err, PP_EINVAL, "no files to merge");
    PP_TRY(read_files(arena, paths, &m, err));
    collect(arena, &m);
    sort(&m, by_point);
    const bool is_one = is_one_sweep(&m);
    if (is_one)
        PP_TRY(drop_copies(&m, is_same_point, err));
    else
        PP_TRY(join(&m, err));
    PP_TRY(write_file(arena, &m, is_one, output, out, err));
    note_result(arena, &m, is_one, is_stdout(output) ? NULL : output);
    return PP_OK;
}
