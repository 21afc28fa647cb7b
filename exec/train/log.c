/* The log of a training. */
#include "exec/train/log.h"

#include "core/text/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pp_log {
    const char *path;
    int fd;
    struct pp_log_past past;
};

/* ---- what is there --------------------------------------------------------------------------- */

enum { COLUMNS = 8, STEP = 0, TOKENS = 5, TIME = 7, LINE_BYTES = 512 };

/* Splits a line at commas. */
static int cells_of(char *line, char **cells)
{
    int count = 0;

    for (char *cell; (cell = strsep(&line, ",")); count++)
        if (count < COLUMNS)
            cells[count] = cell;
    return count;
}

static bool read_number(const char *cell, double *value)
{
    char *end;

    *value = strtod(cell, &end);
    return end > cell && !*end && isfinite(*value) && *value >= 0 && *value < 1e18;
}

/* Reads a row; `before` is the step of the last one. */
static enum pp_status parse_row(char *line, double before, double *step, struct pp_log_past *past,
                                struct pp_error *err)
{
    char *cells[COLUMNS];
    double tokens, time_s;
    const int count = cells_of(line, cells);

    if (count != COLUMNS)
        return pp_error_set(err, PP_EINVAL, "%d cells; a row of a log has %d", count, COLUMNS);
    if (!read_number(cells[STEP], step) || !read_number(cells[TOKENS], &tokens) ||
        !read_number(cells[TIME], &time_s))
        return pp_error_set(err, PP_EINVAL, "step, tokens or time_s is no number");
    if (!(*step > before))
        return pp_error_set(err, PP_EINVAL, "step %g follows step %g", *step, before);
    past->tokens = (int64_t)tokens;
    past->time_s = time_s;
    return PP_OK;
}

enum pp_status pp_log_parse(const char *name, const char *text, size_t length, int steps,
                            struct pp_log_past *past, struct pp_error *err)
{
    static const size_t header = sizeof(PP_LOG_HEADER) - 1;
    double step = 0;

    *past = (struct pp_log_past){0};
    if (memcmp(text, PP_LOG_HEADER, length < header ? length : header) != 0)
        return pp_error_set(err, PP_EINVAL, "%s is no log: it does not begin with %.*s", name,
                            (int)header - 1, PP_LOG_HEADER);
    if (length < header)
        return PP_OK;
    past->bytes = header;
    for (int number = 2; past->bytes < length; number++) {
        const char *begin = text + past->bytes, *end = memchr(begin, '\n', length - past->bytes);
        const size_t bytes = end ? (size_t)(end - begin) : 0;
        struct pp_log_past with = {past->bytes + bytes + 1, 0, 0};
        char line[LINE_BYTES];
        const double before = step;

        if (!end)
            break;
        snprintf(line, sizeof(line), "%.*s", (int)(bytes < LINE_BYTES ? bytes : LINE_BYTES), begin);
        if (parse_row(line, before, &step, &with, err) != PP_OK)
            return pp_error_prefix(err, "%s:%d: ", name, number);
        if (step > steps)
            break;
        *past = with;
    }
    return PP_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static enum pp_status fail(const struct pp_log *log, const char *what, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "cannot %s %s: %s", what, log->path, strerror(errno));
}

static void end(void *context)
{
    const struct pp_log *log = context;

    close(log->fd);
}

/* Appends a text whole, or not at all. */
static enum pp_status append(struct pp_log *log, const char *text, size_t length,
                             struct pp_error *err)
{
    const ssize_t written = write(log->fd, text, length);

    if (written == (ssize_t)length) {
        log->past.bytes += length;
        return PP_OK;
    }
    if (written >= 0)
        errno = ENOSPC;
    fail(log, "write to", err);
    (void)!ftruncate(log->fd, (off_t)log->past.bytes); /* pipes have no end to go back to */
    return err->status;
}

enum pp_status pp_log_open(struct pp_arena *arena, const char *path, int steps, struct pp_log **log,
                           struct pp_error *err)
{
    struct pp_log *made = *log = PP_NEW(arena, struct pp_log);
    char *text;
    size_t length;

    made->path = pp_arena_strdup(arena, path);
    if (steps > 0 && access(path, F_OK) == 0) {
        PP_TRY(pp_file_read(arena, path, &text, &length, err));
        PP_TRY(pp_log_parse(path, text, length, steps, &made->past, err));
    }
    made->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (made->fd < 0)
        return fail(made, "open", err);
    pp_arena_defer(arena, end, made);
    return PP_OK;
}

enum pp_status pp_log_begin(struct pp_log *log, struct pp_error *err)
{
    if (ftruncate(log->fd, (off_t)log->past.bytes) != 0 && errno != EINVAL)
        return fail(log, "shorten", err);
    return log->past.bytes > 0 ? PP_OK : append(log, PP_LOG_HEADER, sizeof(PP_LOG_HEADER) - 1, err);
}

/* Prints a number that reads as the same one; nothing for NAN. */
static void put(char *line, size_t *used, double value)
{
    if (!isnan(value))
        *used += (size_t)snprintf(line + *used, LINE_BYTES - *used, "%.17g", value);
    line[(*used)++] = ',';
}

enum pp_status pp_log_add(struct pp_log *log, const struct pp_log_row *row, struct pp_error *err)
{
    const double values[] = {row->loss, row->valid_loss, row->grad_norm, row->rate};
    char line[LINE_BYTES];
    size_t used = (size_t)snprintf(line, sizeof(line), "%d,", row->step);

    log->past.tokens += row->tokens;
    log->past.time_s += row->elapsed_s;
    for (size_t i = 0; i < PP_COUNT(values); i++)
        put(line, &used, values[i]);
    used +=
        (size_t)snprintf(line + used, sizeof(line) - used, "%" PRId64 ",%.6g,%.3f\n",
                         log->past.tokens, (double)row->tokens / row->elapsed_s, log->past.time_s);
    return append(log, line, used, err);
}
