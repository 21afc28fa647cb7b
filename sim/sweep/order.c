#include "core/process/process.h"
#include "sim/sweep/file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int compare_places(const void *a, const void *b)
{
    const struct pp_sweep_place *left = a, *right = b;

    return left->point < right->point ? -1 : left->point > right->point;
}

static bool read_at(int fd, char *text, size_t length, int64_t offset)
{
    for (size_t done = 0; done < length;) {
        const ssize_t got = pread(fd, text + done, length - done, (off_t)offset + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* Point and points, in front and before the key, become those of this sweep. */
static void print_renamed(const struct pp_sweep_file *file, int64_t point, const char *row,
                          size_t length, FILE *out)
{
    const size_t key = length - PP_SWEEP_KEY_BYTES; /* a newline behind, not a NUL */
    size_t begin = 0, end = key - 1;

    while (isdigit((unsigned char)row[begin]))
        begin++;
    while (isdigit((unsigned char)row[end - 1]))
        end--;
    fprintf(out, "%" PRId64, point);
    fwrite(row + begin, 1, end - begin, out);
    fprintf(out, "%" PRId64 ",", file->grid->points);
    fwrite(row + key, 1, length - key, out);
}

/* `text` is the whole file, or NULL: then rows are read one by one. */
static bool print_rows(const struct pp_sweep_file *file, const char *text, FILE *out)
{
    const struct pp_sweep_place *const end = file->rows + file->row_count;
    uint32_t longest = 0;

    for (const struct pp_sweep_place *place = file->rows; place < end; place++)
        longest = place->length > longest ? place->length : longest;
    char *room = pp_arena_alloc_raw(file->arena, longest + 1);
    for (const struct pp_sweep_place *place = file->rows; place < end; place++) {
        const char *row = text ? text + place->offset : room;
        if (!text && !read_at(file->fd, room, place->length, place->offset))
            return false;
        if (place->is_old_name)
            print_renamed(file, place->point, row, place->length, out);
        else
            fwrite(row, 1, place->length, out);
    }
    return true;
}

static enum pp_status cannot_read(const struct pp_sweep_file *file, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot read '%s': %s", file->path, strerror(errno));
}

static enum pp_status write_rows(const struct pp_sweep_file *file, const char *path,
                                 const char *text, struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(file->arena, path, &output, err));
    fwrite(file->header.data, 1, file->header.length + 1, output.file);
    if (!print_rows(file, text, output.file)) {
        cannot_read(file, err);
        pp_output_discard(&output);
        return PP_EFAIL;
    }
    return pp_output_commit(&output, err);
}

/* Some files are written in place (core/text/output.h). Whatever ends that, all rows are in another
 * one beside it, and nothing can be read from the file meanwhile. */
static enum pp_status rewrite_in_place(const struct pp_sweep_file *file, struct pp_error *err)
{
    const char *place = pp_output_place(file->arena, file->path);
    const char *spare =
        pp_arena_printf(file->arena, "%s.%ld.rows", place ? place : file->path, (long)getpid());
    char *text = pp_arena_alloc_raw(file->arena, (size_t)file->size + 1);

    if (!read_at(file->fd, text, (size_t)file->size, 0))
        return cannot_read(file, err);
    PP_TRY(write_rows(file, spare, text, err));
    if (write_rows(file, file->path, text, err) != PP_OK)
        return pp_error_append(err, "\n  all rows are in '%s'", spare);
    unlink(spare);
    return PP_OK;
}

static enum pp_status rewrite(const struct pp_sweep_file *file, struct pp_error *err)
{
    struct stat info;

    if (fstat(file->fd, &info) == 0 && info.st_nlink <= 1 && info.st_uid == geteuid())
        return write_rows(file, file->path, NULL, err);
    return rewrite_in_place(file, err);
}

/* An interrupt waits until it is done. */
static enum pp_status rewrite_undisturbed(const struct pp_sweep_file *file, struct pp_error *err)
{
    sigset_t before;

    pp_process_hold(&before);
    const enum pp_status status = rewrite(file, err);
    pp_process_release(&before);
    return status;
}

enum pp_status pp_sweep_put_in_order(struct pp_sweep_file *file, struct pp_error *err)
{
    if (file->row_count > 0)
        qsort(file->rows, (size_t)file->row_count, sizeof(*file->rows), compare_places);
    if (rewrite_undisturbed(file, err) == PP_OK)
        return PP_OK;
    return pp_error_append(err, "\n  its rows are there, but not in the order of points");
}
