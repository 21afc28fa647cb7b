/* sim/sweep/merge.c — merges the result files of the parts of a sweep. */
#include "core/process/process.h"
#include "core/text/file.h"
#include "sim/sweep/file.h"
#include "sim/sweep/set.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- missing points, as ranges and parts ----------------------------------------------------- */

struct points {
    const int64_t *numbers; /* points that are there, ascending, each once */
    int64_t count;
    int64_t total; /* points of the sweep */
    int64_t parts; /* parts of the sweep; 0 or 1: unknown */
};

/* Most ranges and parts that are listed; more are "..". */
enum { RANGES_MAX = 8, PARTS_MAX = 8 };

/* Returns the parts of a sweep: the greatest common divisor of distances of points in a file. */
static int64_t common_parts(int64_t parts, int64_t point_a, int64_t point_b)
{
    int64_t rest = point_a < point_b ? point_b - point_a : point_a - point_b;

    while (rest != 0) {
        const int64_t next = parts % rest;
        parts = rest;
        rest = next;
    }
    return parts;
}

/* Iterator over the gaps between points that are there; ends are included. */
struct gaps {
    const struct points *points;
    int64_t next;  /* index of the point after the gap */
    int64_t begin; /* first point not looked at */
};

static bool next_gap(struct gaps *gaps, int64_t *from, int64_t *to)
{
    const struct points *points = gaps->points;

    while (gaps->next < points->count && points->numbers[gaps->next] == gaps->begin) {
        gaps->next++;
        gaps->begin++;
    }
    if (gaps->begin >= points->total)
        return false;
    *from = gaps->begin;
    *to = (gaps->next < points->count ? points->numbers[gaps->next] : points->total) - 1;
    gaps->begin = *to + 1;
    return true;
}

static void list_points(const struct points *points, FILE *notes)
{
    struct gaps gaps = {.points = points};
    int64_t from, to;

    for (int i = 0; next_gap(&gaps, &from, &to); i++) {
        fputs(i ? ", " : ": ", notes);
        if (i == RANGES_MAX) {
            fputs("..", notes);
            return;
        }
        fprintf(notes, to > from ? "%" PRId64 "-%" PRId64 : "%" PRId64, from, to);
    }
}

/* Lists parts with missing points, ascending. Returns their number; -1 if there are too many. */
static int find_parts(const struct points *points, int64_t parts[PARTS_MAX])
{
    struct gaps gaps = {.points = points};
    int64_t from, to;
    int count = 0;

    while (next_gap(&gaps, &from, &to)) {
        for (int64_t point = from; point <= to; point++) {
            const int64_t part = point % points->parts + 1;
            int at = 0;

            while (at < count && parts[at] < part)
                at++;
            if (at < count && parts[at] == part)
                continue;
            if (count == PARTS_MAX)
                return -1;
            for (int i = count++; i > at; i--)
                parts[i] = parts[i - 1];
            parts[at] = part;
        }
    }
    return count;
}

/* Is true if half of a part's points are there: the number of parts is then no accident. */
static bool is_divided(const struct points *points)
{
    return points->parts > 1 && points->parts <= points->total &&
           2 * points->count >= points->total / points->parts;
}

static void list_parts(const struct points *points, FILE *notes)
{
    int64_t parts[PARTS_MAX];
    const int count = is_divided(points) ? find_parts(points, parts) : 0;

    if (count == 1)
        fprintf(notes, " (part %" PRId64 "/%" PRId64 ")", parts[0], points->parts);
    if (count < 2)
        return;
    fputs(" (parts ", notes);
    for (int i = 0; i < count; i++)
        fprintf(notes, "%s%" PRId64, i ? ", " : "", parts[i]);
    fprintf(notes, " of %" PRId64 ")", points->parts);
}

static void list_missing(const struct points *points, FILE *notes)
{
    const int64_t missing = points->total - points->count;

    fprintf(notes, "%" PRId64 " of %" PRId64 " points %s missing", missing, points->total,
            missing == 1 ? "is" : "are");
    list_points(points, notes);
    list_parts(points, notes);
}

/* Prints "21 points in p.csv, 6 of 27 points are missing: 7, 11, 15-17, .. (part 4/4)". Names the
 * parts to run again if they are few. For stdout (`path` NULL) it prints only missing points. */
static void note_points(const char *path, const struct points *points, FILE *notes)
{
    const bool is_whole = points->count >= points->total;

    if (!path && is_whole)
        return;
    if (path)
        fprintf(notes, "pipesim: %" PRId64 " point%s in %s%s", points->count,
                points->count == 1 ? "" : "s", path, is_whole ? "" : ", ");
    else
        fputs("pipesim: note: ", notes);
    if (!is_whole)
        list_missing(points, notes);
    fputc('\n', notes);
}

/* ---- rows of the files ----------------------------------------------------------------------- */

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

/* Headers end in points,key, so two different ones differ in a column that both have. */
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

/* Is true if sorted rows agree in the number of points, and rows of a point in their key. */
static bool is_one_sweep(const struct pp_sweep_set *rows)
{
    for (int64_t i = 1; i < rows->count; i++) {
        const struct pp_sweep_line *a = rows->entries[i - 1].row, *b = rows->entries[i].row;

        if (a->points != b->points || (a->point == b->point && strcmp(a->key, b->key) != 0))
            return false;
    }
    return true;
}

/* Joins rows of different sweeps in the order of files, with new numbers. */
static enum pp_status join(struct merge *m, struct pp_error *err)
{
    const int64_t given = m->rows.count;

    PP_TRY(pp_sweep_set_once(&m->rows, pp_sweep_by_key, err));
    pp_sweep_set_sort(&m->rows, pp_sweep_by_file);
    for (int64_t i = 0; i < m->rows.count; i++)
        m->rows.entries[i].point = i;
    fprintf(m->notes,
            "pipesim: note: these are different sweeps: %" PRId64
            " rows in the given order, renumbered",
            m->rows.count);
    if (m->rows.count < given)
        fprintf(m->notes, " (left out: %" PRId64 " that another one has too)",
                given - m->rows.count);
    fputc('\n', m->notes);
    return PP_OK;
}

static struct points points_of(struct pp_arena *arena, const struct pp_sweep_set *rows)
{
    struct points points = {.count = rows->count};
    int64_t *numbers = PP_ARRAY(arena, int64_t, rows->count);

    for (int64_t i = 0; i < rows->count; i++)
        numbers[i] = rows->entries[i].point;
    points.numbers = numbers;
    points.total = rows->entries[0].row->points;
    for (int i = 0; i < rows->file_count; i++)
        for (int64_t j = 0; j < rows->files[i].count; j++)
            points.parts = common_parts(points.parts, rows->files[i].rows[0].point,
                                        rows->files[i].rows[j].point);
    return points;
}

static void note_result(struct pp_arena *arena, const struct merge *m, bool is_one,
                        const char *path)
{
    const int64_t count = m->rows.count;
    const struct points points = is_one && count > 0
                                     ? points_of(arena, &m->rows)
                                     : (struct points){.count = count, .total = count};

    if (count == 0)
        fprintf(m->notes, "pipesim: note: there are no rows\n");
    else
        note_points(path, &points, m->notes);
}

/* Replaces a file under a lock, so that no sweep writes to it. */
static enum pp_status replace_file(struct pp_arena *arena, const struct pp_sweep_set *rows,
                                   int64_t points, const char *path, struct pp_error *err)
{
    struct stat info;
    const bool is_there = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    const int fd = is_there ? open(path, O_RDWR | O_CLOEXEC) : -1;
    enum pp_status status = fd >= 0 ? pp_sweep_lock(fd, path, err) : PP_OK;

    if (status == PP_OK)
        status = pp_sweep_set_save(arena, rows, points, path, err);
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
