/* Finds the rows of an existing result file that belong to this sweep. */
#include "core/map64.h"
#include "core/process/process.h"
#include "sim/sweep/file.h"
#include "sim/sweep/set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char WAYS_OUT[] = "\n  choose another -o, or start again with --fresh";

/* ---- keys ------------------------------------------------------------------------------------ */

/* Map of keys to points, for rows of a smaller sweep; made for the first of them. */
struct keys {
    const struct pp_grid *grid;
    struct pp_arena *arena;
    struct pp_map64 points; /* arena NULL: not made yet */
};

static uint64_t key_of_text(const char *key)
{
    return strtoull(key, NULL, 16);
}

static uint64_t key_of_point(const struct keys *keys, int64_t point)
{
    char key[PP_SWEEP_KEY_BYTES];

    return key_of_text(pp_grid_key(keys->grid, point, key));
}

/* The first of points with the same key counts. */
static void map_points(struct keys *keys)
{
    keys->points = pp_map64_create(keys->arena, keys->grid->points);
    for (int64_t point = 0; point < keys->grid->points; point++)
        pp_map64_at(&keys->points, key_of_point(keys, point), (int32_t)point);
}

/* Returns the point of a row, or -1. In a file of this sweep, rows have their own numbers. */
static int64_t point_of(struct keys *keys, const struct pp_sweep_line *row)
{
    const uint64_t key = key_of_text(row->key);

    if (row->point < keys->grid->points && key_of_point(keys, row->point) == key)
        return row->point;
    if (!keys->points.arena)
        map_points(keys);
    const int32_t *point = pp_map64_find(&keys->points, key);
    return point ? *point : -1;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static enum pp_status refuse_header(const struct pp_sweep_file *file,
                                    const struct pp_sweep_lines *lines, struct pp_error *err)
{
    for (int i = 0;; i++) {
        const struct pp_sweep_text there = pp_sweep_field(lines->header, i);
        const struct pp_sweep_text here = pp_sweep_field(file->header, i);
        if (pp_sweep_text_is_same(there, here) && there.data)
            continue;
        return pp_error_set(err, PP_EINVAL,
                            "%s:1: the result of another sweep: column %d is \"%.*s\", here \"%.*s"
                            "\"%s",
                            file->path, i + 1, (int)there.length, there.data ? there.data : "",
                            (int)here.length, here.data ? here.data : "", WAYS_OUT);
    }
}

/* Refuses a file of another kind, which must not be overwritten. */
static enum pp_status refuse_other(const struct pp_sweep_file *file, struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL,
                        "%s is there already, and not the result of a sweep\n  choose another -o",
                        file->path);
}

static enum pp_status refuse_row(const struct pp_sweep_file *file, struct keys *keys,
                                 const struct pp_sweep_line *row, struct pp_error *err)
{
    enum { SHOWN = 60 };
    const size_t length = row->values.length;

    pp_error_set(err, PP_EINVAL, "%s:%d: none of the points of this sweep: %.*s%s", file->path,
                 row->line, length < SHOWN ? (int)length : SHOWN, row->values.data,
                 length < SHOWN ? "" : "..");
    if (row->point < file->grid->points)
        pp_error_append(err, "\n  point %" PRId64 " of this one is %s", row->point,
                        pp_grid_text(keys->arena, file->grid, row->point));
    return pp_error_append(err,
                           "\n  it is of another sweep or version, or of a file that has changed"
                           "%s",
                           WAYS_OUT);
}

static enum pp_status check_header(const struct pp_sweep_file *file,
                                   const struct pp_sweep_lines *lines, struct pp_sweep_text text,
                                   struct pp_error *err)
{
    if (lines->header.data && pp_sweep_text_is_same(lines->header, file->header))
        return PP_OK;
    if (lines->header.data)
        return refuse_header(file, lines, err);
    /* a torn header, or other text without a newline */
    if (text.length <= file->header.length &&
        (text.length == 0 || memcmp(text.data, file->header.data, text.length) == 0))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s:1: not the result of this sweep%s", file->path,
                        WAYS_OUT);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Reads the rows of the file under their numbers in this sweep, each point once. */
static enum pp_status read_set(const struct pp_sweep_file *file, struct pp_arena *arena,
                               struct pp_sweep_text text, struct pp_sweep_set *rows,
                               struct pp_error *err)
{
    struct keys keys = {.grid = file->grid, .arena = arena};
    struct pp_sweep_lines *lines = PP_NEW(arena, struct pp_sweep_lines);

    if (!pp_sweep_is_begin(text.data, text.length))
        return refuse_other(file, err);
    if (pp_sweep_read(arena, file->path, text.data, text.length, lines, err) != PP_OK)
        return pp_error_append(err, "%s", WAYS_OUT);
    PP_TRY(check_header(file, lines, text, err));
    *rows = pp_sweep_set_of(arena, lines, 1);
    for (int64_t i = 0; i < rows->count; i++) {
        rows->entries[i].point = point_of(&keys, rows->entries[i].row);
        if (rows->entries[i].point < 0)
            return refuse_row(file, &keys, rows->entries[i].row, err);
    }
    if (pp_sweep_set_once(rows, pp_sweep_by_point, err) != PP_OK)
        return pp_error_append(err, "%s", WAYS_OUT);
    return PP_OK;
}

/* Counts rows as computed, except failed ones that this part computes again. Closing sorts the file
 * unless its rows are those of this sweep in the order of points. */
static void take_over(struct pp_sweep_file *file, const struct pp_sweep_set *rows)
{
    const struct pp_sweep_line *last = NULL;

    file->is_sorted = rows->count == rows->files[0].count;
    for (int64_t i = 0; i < rows->count; i++) {
        const struct pp_sweep_entry *entry = &rows->entries[i];

        if (pp_sweep_set_has_failed(rows, entry) && file->wanted[entry->point]) {
            file->is_sorted = false;
            continue;
        }
        file->is_sorted &= entry->row->point == entry->point &&
                           entry->row->points == file->grid->points && last < entry->row;
        last = entry->row;
        file->counts.resumed++;
        file->last_point = entry->point;
        pp_sweep_file_count(file, entry->point, entry->row->row);
        file->wanted[entry->point] = false;
    }
}

/* Reads by this descriptor: closing another one of the file would release the lock. */
static enum pp_status read_begin(const struct pp_sweep_file *file, char *text, size_t size,
                                 struct pp_error *err)
{
    for (size_t length = 0; length < size;) {
        const ssize_t got = pread(file->fd, text + length, size - length, (off_t)length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return pp_error_set(err, PP_EFAIL, "cannot read '%s': %s", file->path,
                                got < 0 ? strerror(errno) : "it has become shorter");
        length += (size_t)got;
    }
    text[size] = '\0';
    return PP_OK;
}

enum pp_status pp_sweep_check_fresh(const struct pp_sweep_file *file, struct pp_error *err)
{
    enum { HEADER_MOST = 1 << 16 };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const size_t size = file->size < HEADER_MOST ? (size_t)file->size : HEADER_MOST;
    char *text = pp_arena_alloc_raw(arena, size + 1);

    PP_TRY(read_begin(file, text, size, err));
    return pp_sweep_is_begin(text, size) ? PP_OK : refuse_other(file, err);
}

static enum pp_status read_all(const struct pp_sweep_file *file, struct pp_arena *arena,
                               struct pp_sweep_set *rows, struct pp_error *err)
{
    const size_t size = (size_t)file->size;
    char *text = pp_arena_alloc_raw(arena, size + 1);

    PP_TRY(read_begin(file, text, size, err));
    return read_set(file, arena, (struct pp_sweep_text){text, size}, rows, err);
}

enum pp_status pp_sweep_resume(struct pp_sweep_file *file, int64_t *keep_bytes,
                               struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_sweep_set rows;

    PP_TRY(read_all(file, arena, &rows, err));
    *keep_bytes = (int64_t)rows.files[0].whole_bytes;
    take_over(file, &rows);
    return PP_OK;
}

/* ---- the order of points --------------------------------------------------------------------- */

/* Rewrites the file; if that is done in place (core/text/output.h) and fails, a second file next to
 * it has all rows. */
static enum pp_status rewrite(const struct pp_sweep_file *file, const struct pp_sweep_set *rows,
                              struct pp_error *err)
{
    const char *place = pp_output_place(file->arena, file->path);
    const char *spare =
        pp_arena_printf(file->arena, "%s.%ld.rows", place ? place : file->path, (long)getpid());
    const int64_t points = file->grid->points;
    struct stat info;

    if (fstat(file->fd, &info) == 0 && info.st_nlink <= 1 && info.st_uid == geteuid())
        return pp_sweep_set_save(file->arena, rows, points, file->path, err);
    PP_TRY(pp_sweep_set_save(file->arena, rows, points, spare, err));
    if (pp_sweep_set_save(file->arena, rows, points, file->path, err) != PP_OK)
        return pp_error_append(err, "\n  all rows are in '%s'", spare);
    unlink(spare);
    return PP_OK;
}

/* Interrupts wait until it is done. */
enum pp_status pp_sweep_put_in_order(struct pp_sweep_file *file, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_sweep_set rows;
    sigset_t before;

    pp_process_hold(&before);
    enum pp_status status = read_all(file, arena, &rows, err);
    if (status == PP_OK)
        status = rewrite(file, &rows, err);
    pp_process_release(&before);
    if (status == PP_OK)
        return PP_OK;
    return pp_error_append(err, "\n  its rows are there, but not in the order of points");
}
