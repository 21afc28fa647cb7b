#include "sim/nccl_log.h"

#include "core/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 4096, MOST_WORDS = 64 };
/* Bandwidths are printed with two decimals, times with four digits. */
static const double ROUNDING_FRAC = 0.03, ROUNDING_GB_PER_S = 0.006;

static const struct operation {
    const char *program, *name;
} OPERATIONS[] = {{"all_reduce_perf", "all_reduce"},
                  {"all_gather_perf", "all_gather"},
                  {"reduce_scatter_perf", "reduce_scatter"},
                  {"sendrecv_perf", "sendrecv"},
                  {"alltoall_perf", "alltoall"}};
enum { OPERATION_COUNT = sizeof(OPERATIONS) / sizeof(*OPERATIONS) };

/* Columns of the table, by the words of its head. */
struct columns {
    int size, time, algbw, count; /* count: words of a row that are needed */
};
struct reader {
    struct pp_arena *arena;
    const char *name;
    int line;
    struct columns columns; /* count 0: the head has not come yet */
    struct pp_nccl_log *log;
    int capacity;
    int rank_lines;
};

static enum pp_status fail(const struct reader *r, struct pp_error *err, const char *what,
                           const char *word)
{
    return pp_error_set(err, PP_EINVAL, "%s:%d: %s '%.40s'", r->name, r->line, what, word);
}

static int split(char *line, char **words)
{
    int count = 0;

    for (char *save, *word = strtok_r(line, " \t\r", &save); word && count < MOST_WORDS;
         word = strtok_r(NULL, " \t\r", &save))
        words[count++] = word;
    return count;
}

/* A number of at least 0 and nothing behind it. */
static bool read_number(const char *word, double *value)
{
    char *end;

    if (word[strspn(word, "0123456789.eE+-")] != '\0' || *word == '\0')
        return false;
    errno = 0;
    *value = strtod(word, &end);
    return *end == '\0' && errno == 0 && isfinite(*value) && *value >= 0;
}

static const char *operation_in(const char *text)
{
    for (int k = 0; k < OPERATION_COUNT; k++)
        if (strstr(text, OPERATIONS[k].program) || strstr(text, OPERATIONS[k].name))
            return OPERATIONS[k].name;
    return NULL;
}

/* ---- lines ----------------------------------------------------------------------------------*/

/* "# size count type redop root time algbw busbw ...": where what stands. */
static bool read_head(struct reader *r, char *const *words, int count)
{
    struct columns c = {-1, -1, -1, 0};

    for (int k = 1; k < count; k++) {
        int *const at = !strcmp(words[k], "size")    ? &c.size
                        : !strcmp(words[k], "time")  ? &c.time
                        : !strcmp(words[k], "algbw") ? &c.algbw
                                                     : NULL;
        if (at && *at < 0)
            *at = k - 1; /* rows have no '#' */
    }
    if (c.size < 0 || c.time < 0 || c.algbw < 0)
        return false;
    c.count = (c.algbw > c.time ? c.algbw : c.time) + 1;
    r->columns = c;
    return true;
}

/* "#  Rank  0 Group  0 Pid ..." for each of them. */
static void read_comment(struct reader *r, const char *line, char *const *words, int count)
{
    if (!r->log->operation)
        r->log->operation = operation_in(line);
    if (count > 2 && !strcmp(words[0], "#") && !strcmp(words[1], "Rank"))
        r->rank_lines++;
    read_head(r, words, count);
}

static enum pp_status read_row(struct reader *r, char *const *words, int count,
                               struct pp_error *err)
{
    const struct columns *c = &r->columns;
    double bytes, time_us, algbw;

    if (count < c->count)
        return pp_error_set(err, PP_EINVAL, "%s:%d: %d words, a row has at least %d", r->name,
                            r->line, count, c->count);
    if (!read_number(words[c->size], &bytes))
        return fail(r, err, "the size is not a number of bytes:", words[c->size]);
    if (!read_number(words[c->time], &time_us) || time_us <= 0)
        return fail(r, err, "the time is not a number of microseconds above 0:", words[c->time]);
    if (!read_number(words[c->algbw], &algbw))
        return fail(r, err, "algbw is not a number of GB/s:", words[c->algbw]);
    const double expected = bytes / time_us * 1e-3;
    if (fabs(algbw - expected) > ROUNDING_FRAC * expected + ROUNDING_GB_PER_S)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: %g bytes in %g us are %.4g GB/s, but algbw is %g", r->name,
                            r->line, bytes, time_us, expected, algbw);
    if (bytes > 0) /* the first rows of an all-gather are empty */
        *PP_PUSH(r->arena, r->log->sizes, r->log->count, r->capacity) =
            (struct pp_calibrate_message){bytes, time_us * 1e-6};
    return PP_OK;
}

static enum pp_status read_line(struct reader *r, char *line, struct pp_error *err)
{
    const char *whole = pp_arena_strdup(r->arena, line);
    char *words[MOST_WORDS];
    const int count = split(line, words);
    double ignored;

    if (count == 0)
        return PP_OK;
    if (words[0][0] == '#') {
        read_comment(r, whole, words, count);
        return PP_OK;
    }
    if (r->columns.count > 0 && (r->log->count == 0 || read_number(words[0], &ignored)))
        return read_row(r, words, count, err);
    if (!r->log->operation)
        r->log->operation = operation_in(whole); /* the command line, perhaps */
    return PP_OK;
}

/* ---- the log --------------------------------------------------------------------------------*/

static enum pp_status check(struct reader *r, struct pp_error *err)
{
    const char *base = strrchr(r->name, '/');

    if (!r->log->operation)
        r->log->operation = operation_in(base ? base + 1 : r->name);
    if (r->columns.count == 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: ends without a table of nccl-tests (a line '# size count type "
                            "redop root time algbw busbw')",
                            r->name, r->line);
    if (r->log->count == 0)
        return pp_error_set(err, PP_EINVAL, "%s:%d: ends before the first row of the table",
                            r->name, r->line);
    if (!r->log->operation)
        return pp_error_set(err, PP_EINVAL,
                            "%s: neither the log nor its name says what ran: all_reduce, "
                            "all_gather, reduce_scatter, sendrecv or alltoall",
                            r->name);
    if (r->rank_lines == 0 && strcmp(r->log->operation, "sendrecv") != 0)
        return pp_error_set(err, PP_EINVAL, "%s: no '#  Rank' lines say how many took part",
                            r->name);
    if (r->rank_lines == 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s: one rank took part, which sends nothing over a network: run "
                            "nccl-tests with 2 or more (-g 2)",
                            r->name);
    r->log->ranks = r->rank_lines;
    return PP_OK;
}

enum pp_status pp_nccl_log_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, struct pp_nccl_log *log, struct pp_error *err)
{
    struct reader r = {.arena = arena, .name = name, .log = log};
    char line[MOST_LINE];

    *log = (struct pp_nccl_log){0};
    for (size_t from = 0; from < length;) {
        const char *end = memchr(text + from, '\n', length - from);
        const size_t bytes = end ? (size_t)(end - text) - from : length - from;

        r.line++;
        if (bytes >= sizeof(line) || memchr(text + from, '\0', bytes))
            return pp_error_set(err, PP_EINVAL, "%s:%d: not a line of text", name, r.line);
        memcpy(line, text + from, bytes);
        line[bytes] = '\0';
        PP_TRY(read_line(&r, line, err));
        from += bytes + 1;
    }
    return check(&r, err);
}

enum pp_status pp_nccl_log_read(struct pp_arena *arena, const char *path, struct pp_nccl_log *log,
                                struct pp_error *err)
{
    char *text;
    size_t length;

    PP_TRY(pp_file_read(arena, path, &text, &length, err));
    return pp_nccl_log_parse(arena, path, text, length, log, err);
}
