/* A result file that is there already: which of its rows belong to this sweep. */
#include "sim/sweep/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char WAYS_OUT[] = "\n  choose another -o, or start anew with --fresh";

/* ---- keys --------------------------------------------------------------------------------- */

/* From keys to points, for rows of a smaller sweep; made when the first of them is met. */
struct keys {
    const struct pp_grid *grid;
    struct pp_arena *arena;
    struct slot {
        uint64_t key;
        int64_t point; /* -1: an empty slot */
    } * slots;
    uint64_t mask;
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

static struct slot *find_slot(const struct keys *keys, uint64_t key)
{
    uint64_t i = (key ^ key >> 32) & keys->mask;

    while (keys->slots[i].point >= 0 && keys->slots[i].key != key)
        i = (i + 1) & keys->mask;
    return &keys->slots[i];
}

static void make_slots(struct keys *keys)
{
    uint64_t size = 16;

    while (size < 2 * (uint64_t)keys->grid->points)
        size *= 2;
    keys->mask = size - 1;
    keys->slots = pp_arena_alloc_raw(keys->arena, size * sizeof(*keys->slots));
    for (uint64_t i = 0; i < size; i++)
        keys->slots[i].point = -1;
    for (int64_t point = 0; point < keys->grid->points; point++) {
        const uint64_t key = key_of_point(keys, point);
        struct slot *slot = find_slot(keys, key);
        if (slot->point < 0)
            *slot = (struct slot){key, point};
    }
}

/* -1: none. In a file of the same sweep every row is at its own number. */
static int64_t point_of(struct keys *keys, const struct pp_sweep_line *row)
{
    const uint64_t key = key_of_text(row->key);

    if (row->point < keys->grid->points && key_of_point(keys, row->point) == key)
        return row->point;
    if (!keys->slots)
        make_slots(keys);
    return find_slot(keys, key)->point;
}

/* ---- what does not belong here --------------------------------------------------------------- */

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

/* Somebody's file, not one to be written over. */
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
    /* torn, or something else without a newline */
    if (text.length <= file->header.length &&
        (text.length == 0 || memcmp(text.data, file->header.data, text.length) == 0))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s:1: not the result of this sweep%s", file->path,
                        WAYS_OUT);
}

/* ---- rows --------------------------------------------------------------------------------- */

struct found {
    int64_t point;
    const struct pp_sweep_line *row;
    bool is_failed;
};

/* Rows of one point together, in the order of the file. */
static int compare_found(const void *a, const void *b)
{
    const struct found *left = a, *right = b;

    if (left->point != right->point)
        return left->point < right->point ? -1 : 1;
    return left->row->line < right->row->line ? -1 : left->row->line > right->row->line;
}

static bool is_failed(const struct pp_sweep_file *file, const struct pp_sweep_line *row)
{
    static const struct pp_sweep_text failed = {"failed", 6};

    return pp_sweep_text_is_same(pp_sweep_field(row->row, file->status_column), failed);
}

/* The one that counts of the rows of a point: none that has failed while there is another. */
static enum pp_status choose(const struct pp_sweep_file *file, const struct found *found,
                             int64_t count, const struct found **chosen, struct pp_error *err)
{
    *chosen = NULL;
    for (int64_t i = 0; i < count; i++) {
        if (found[i].is_failed)
            continue;
        if (!*chosen)
            *chosen = &found[i];
        else if (!pp_sweep_text_is_same(found[i].row->values, (*chosen)->row->values))
            return pp_error_set(err, PP_EINVAL,
                                "%s:%d: contradicts line %d, which is of the same "
                                "point%s",
                                file->path, found[i].row->line, (*chosen)->row->line, WAYS_OUT);
    }
    return PP_OK;
}

static void keep(struct pp_sweep_file *file, const struct found *found, const char *text)
{
    const struct pp_sweep_line *row = found->row;
    const struct pp_sweep_place place = {.point = found->point,
                                         .offset = row->row.data - text,
                                         .length = (uint32_t)row->row.length + 1,
                                         .is_old_name = row->point != found->point ||
                                                        row->points != file->grid->points};
    const int64_t before = file->row_count;

    *PP_PUSH(file->arena, file->rows, file->row_count, file->row_capacity) = place;
    if (place.is_old_name || (before > 0 && file->rows[before - 1].offset > place.offset))
        file->is_sorted = false;
    file->counts.resumed++;
    pp_sweep_file_count(file, found->point, row->row);
}

static enum pp_status keep_rows(struct pp_sweep_file *file, struct found *found, int64_t count,
                                const char *text, bool *wanted, struct pp_error *err)
{
    qsort(found, (size_t)count, sizeof(*found), compare_found);
    for (int64_t i = 0, next; i < count; i = next) {
        const struct found *chosen;
        for (next = i + 1; next < count && found[next].point == found[i].point; next++)
            ;
        PP_TRY(choose(file, &found[i], next - i, &chosen, err));
        if (!chosen && !wanted[found[i].point]) /* nobody here does it again */
            chosen = &found[next - 1];
        file->is_sorted &= chosen && next == i + 1;
        if (!chosen)
            continue;
        keep(file, chosen, text);
        wanted[chosen->point] = false;
    }
    return PP_OK;
}

static enum pp_status take_over(struct pp_sweep_file *file, struct pp_arena *arena,
                                struct pp_sweep_text text, bool *wanted, int64_t *keep_bytes,
                                struct pp_error *err)
{
    struct keys keys = {.grid = file->grid, .arena = arena};
    struct pp_sweep_lines lines;

    if (!pp_sweep_is_begin(text.data, text.length))
        return refuse_other(file, err);
    if (pp_sweep_read(arena, file->path, text.data, text.length, &lines, err) != PP_OK)
        return pp_error_append(err, "%s", WAYS_OUT);
    PP_TRY(check_header(file, &lines, text, err));
    struct found *found = PP_ARRAY(arena, struct found, lines.count + 1);
    for (int64_t i = 0; i < lines.count; i++) {
        const struct pp_sweep_line *row = &lines.rows[i];
        found[i] = (struct found){point_of(&keys, row), row, is_failed(file, row)};
        if (found[i].point < 0)
            return refuse_row(file, &keys, row, err);
    }
    *keep_bytes = (int64_t)lines.whole_bytes;
    return keep_rows(file, found, lines.count, text.data, wanted, err);
}

/* By this descriptor: closing another one of the file would take the lock away. */
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

enum pp_status pp_sweep_resume(struct pp_sweep_file *file, bool *wanted, int64_t *keep_bytes,
                               struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const size_t size = (size_t)file->size;
    char *text = pp_arena_alloc_raw(arena, size + 1);

    PP_TRY(read_begin(file, text, size, err));
    return take_over(file, arena, (struct pp_sweep_text){text, size}, wanted, keep_bytes, err);
}
