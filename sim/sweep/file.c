/* sim/sweep/file.c — opens, appends to and closes the result file of a sweep. */
#include "sim/sweep/file.h"

#include "core/text/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pp_sweep_counts pp_sweep_file_counts(const struct pp_sweep_file *file)
{
    return file->counts;
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum pp_status fail(const struct pp_sweep_file *file, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot write '%s': %s", file->path, strerror(errno));
}

static enum pp_status open_locked(struct pp_sweep_file *file, struct pp_error *err)
{
    const char *place = pp_output_place(file->arena, file->path);

    for (int attempt = 0; place && attempt < 100; attempt++) {
        file->fd = open(place, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
        if (file->fd < 0)
            break;
        PP_TRY(pp_sweep_lock(file->fd, file->path, err));
        /* a sweep that ends may replace the file opened here */
        if (pp_sweep_place_state(file->fd, place) == PP_PLACE_HELD)
            return PP_OK;
        close(file->fd);
        file->fd = -1;
        errno = EBUSY;
    }
    return fail(file, err);
}

/* Appends all of the text or nothing. */
static enum pp_status append(struct pp_sweep_file *file, const char *text, size_t length,
                             struct pp_error *err)
{
    for (size_t done = 0; done < length;) {
        const ssize_t wrote = write(file->fd, text + done, length - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            fail(file, err);
            file->is_broken = true;
            if (done > 0 && ftruncate(file->fd, file->size) != 0)
                pp_error_append(err, "; its last row is torn");
            return pp_error_append(
                err, "\n  the same command continues with the %" PRId64 " rows that are there",
                file->counts.rows);
        }
        done += (size_t)wrote;
    }
    file->size += (int64_t)length;
    return PP_OK;
}

/* Cuts off a torn end; writes the header into an empty file. */
static enum pp_status begin_at(struct pp_sweep_file *file, int64_t keep_bytes, struct pp_error *err)
{
    if (file->size > keep_bytes && ftruncate(file->fd, keep_bytes) != 0)
        return fail(file, err);
    file->size = keep_bytes;
    if (keep_bytes > 0)
        return PP_OK;
    return append(file, file->header.data, file->header.length + 1, err);
}

static enum pp_status open_file(struct pp_sweep_file *file, bool is_fresh, struct pp_error *err)
{
    int64_t keep_bytes = 0;
    struct stat info;

    if (pp_has_suffix(file->path, ".gz"))
        return pp_error_set(err, PP_EINVAL,
                            "-o %s: a sweep is written row by row, so that it can continue; "
                            "compress the file when the sweep is done",
                            file->path);
    PP_TRY(pp_output_check(file->arena, file->path, err));
    PP_TRY(open_locked(file, err));
    if (fstat(file->fd, &info) != 0)
        return fail(file, err);
    file->size = info.st_size;
    file->is_sorted = true;
    PP_TRY(is_fresh ? pp_sweep_check_fresh(file, err) : pp_sweep_resume(file, &keep_bytes, err));
    return begin_at(file, keep_bytes, err);
}

/* Devices, pipes and descriptors cannot be resumed. */
static bool is_stream(struct pp_sweep_file *file)
{
    const char *place = pp_output_place(file->arena, file->path);
    struct stat info;

    if (!strncmp(file->path, "/dev/fd/", 8) || !strcmp(file->path, "/dev/stderr"))
        return true;
    return place && stat(place, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static enum pp_status open_any(struct pp_sweep_file *file, FILE *out, bool is_fresh,
                               struct pp_error *err)
{
    const char *path = file->path;

    if (!path || !strcmp(path, "-") || !strcmp(path, "/dev/stdout")) {
        file->path = "stdout";
        file->out = out;
        return pp_sweep_stream_open(file, err);
    }
    if (!is_stream(file))
        return open_file(file, is_fresh, err);
    PP_TRY(pp_output_open(file->arena, path, &file->output, err));
    file->out = file->output.file;
    return pp_sweep_stream_open(file, err);
}

static void read_header(struct pp_sweep_file *file)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    pp_sweep_header(file->grid, out);
    fclose(out);
    file->header = (struct pp_sweep_text){pp_arena_printf(file->arena, "%s\n", text), length};
    free(text);
    file->status_column = pp_sweep_column(file->header, "status");
    file->reason_column = pp_sweep_column(file->header, "reason");
    file->fits_column = pp_sweep_column(file->header, "fits");
}

/* Releases everything that is still open. */
static void give_up(void *context)
{
    struct pp_sweep_file *file = context;

    if (!file->arena)
        return;
    if (file->fd >= 0)
        close(file->fd);
    if (file->output.file)
        pp_output_discard(&file->output);
    for (int64_t i = 0; i < file->held.count; i++)
        free(file->held.data[i].row);
    pp_arena_destroy(file->arena);
    file->arena = NULL;
}

enum pp_status pp_sweep_file_open(struct pp_arena *arena, const char *path, FILE *out,
                                  const struct pp_grid *grid, unsigned how, bool *wanted,
                                  struct pp_sweep_file **file, struct pp_error *err)
{
    struct pp_sweep_file *f = PP_NEW(arena, struct pp_sweep_file);

    *f = (struct pp_sweep_file){.arena = pp_arena_create(),
                                .grid = grid,
                                .path = path,
                                .wanted = wanted,
                                .fd = -1,
                                .is_json = how & PP_SWEEP_JSON};
    pp_arena_defer(arena, give_up, f);
    read_header(f);
    *file = f;
    return open_any(f, out, how & PP_SWEEP_FRESH, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum pp_status pp_sweep_file_add(struct pp_sweep_file *file, int64_t point, const char *row,
                                 size_t length, struct pp_error *err)
{
    if (file->is_broken)
        return pp_error_set(err, PP_EFAIL, "'%s' takes no more rows", file->path);
    if (file->fd < 0)
        PP_TRY(pp_sweep_stream_add(file, point, (struct pp_sweep_text){row, length}, err));
    else
        PP_TRY(append(file, row, length, err));
    file->is_sorted &= file->counts.rows == 0 || file->last_point < point;
    file->last_point = point;
    pp_sweep_file_count(file, point, (struct pp_sweep_text){row, length - 1});
    return PP_OK;
}

/* ---- closing --------------------------------------------------------------------------------- */

/* A removed file is written anew; a file that another process put there is kept. */
static enum pp_status check_place(struct pp_sweep_file *file, struct pp_error *err)
{
    const char *place = pp_output_place(file->arena, file->path);
    const enum pp_sweep_place_state state =
        place ? pp_sweep_place_state(file->fd, place) : PP_PLACE_EMPTY;

    if (state == PP_PLACE_OTHER)
        return pp_error_set(err, PP_EFAIL,
                            "'%s' was replaced by another file while the sweep wrote to it; its "
                            "%" PRId64 " rows are lost",
                            file->path, file->counts.rows);
    file->is_sorted &= state == PP_PLACE_HELD;
    return PP_OK;
}

static enum pp_status close_file(struct pp_sweep_file *file, struct pp_error *err)
{
    enum pp_status status = file->is_broken ? PP_OK : check_place(file, err);

    if (status == PP_OK && !file->is_broken && !file->is_sorted)
        status = pp_sweep_put_in_order(file, err);
    /* A full disk may show only here. The lock ends here, too. */
    if (close(file->fd) != 0 && status == PP_OK && errno != EINTR)
        status = fail(file, err);
    file->fd = -1;
    return status;
}

enum pp_status pp_sweep_file_close(struct pp_sweep_file *file, struct pp_error *err)
{
    enum pp_status status = PP_OK;

    if (file->fd >= 0)
        status = close_file(file, err);
    else if (file->out)
        status = pp_sweep_stream_close(file, err);
    file->output.file = NULL;
    give_up(file);
    return status;
}
