/* Reads the tables that nccl-tests print. */
#include "sim/import/nccl_log.h"

#include "core/lines.h"
#include "core/text/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 4096, MOST_WORDS = 64 };
/* Bandwidths are printed with two decimals, times with four digits. */
static const double ROUNDING_FRAC = 0.03, ROUNDING_GB_PER_S = 0.006;

static const char *const OPERATIONS[] = {"all_reduce", "all_gather", "reduce_scatter",
                                         "sendrecv",   "alltoall",   ""};

/* Columns of the table, by the words of its head. */
struct columns {
    int size, time, algbw, wrong[2]; /* wrong: out of place, in place */
    int count;                       /* least number of words in a row */
};
struct reader {
    struct pp_arena *arena;
    const char *name;
    int line;
    struct columns columns; /* count 0: no head so far */
    struct pp_nccl_log *log;
    int capacity;
    int rank_lines;
    const char **hosts; /* [log->nodes] different ones */
    int host_capacity;
};

static enum pp_status fail(const struct reader *r, struct pp_error *err, const char *what,
                           const char *word)
{
    return pp_error_set(err, PP_EINVAL, "%s:%d: %s '%.40s'", r->name, r->line, what, word);
}

/* Reads a number of at least 0 with nothing after it. */
static bool read_number(const char *word, double *value)
{
    char *end;

    if (word[strspn(word, "0123456789.eE+-")] != '\0' || *word == '\0')
        return false;
    errno = 0;
    *value = strtod(word, &end);
    return *end == '\0' && errno == 0 && isfinite(*value) && *value >= 0;
}

/* Returns the operation of a program, whose name ends in "_perf". */
static const char *operation_in(const char *text)
{
    for (int k = 0; *OPERATIONS[k]; k++)
        if (strstr(text, OPERATIONS[k]))
            return OPERATIONS[k];
    return NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Skips a launcher's label: of mpirun --tag-output ("[1,0]<stdout>:") or srun --label ("12:"). */
static char *after_label(char *line)
{
    char *tag = line[0] == '[' ? strstr(line, "<stdout>:") : NULL;
    char *const number = line + strspn(line, " "), *const end =
                                                       number + strspn(number, "0123456789");

    if (tag && strspn(line + 1, "0123456789,") == (size_t)(strchr(line, ']') - line - 1))
        return tag + strlen("<stdout>:");
    return end > number && end[0] == ':' && end[1] == ' ' ? end + 2 : line;
}

/* "host:4711:4722 [0] NCCL INFO Channel 00 ...": every process prints such lines, at any time. */
static bool is_debug(const char *line)
{
    static const char *const MARKS[] = {" NCCL INFO ", " NCCL WARN ", " NCCL TRACE ",
                                        " NCCL VERSION ", "NCCL version "};

    for (size_t k = 0; k < PP_COUNT(MARKS); k++)
        if (strstr(line, MARKS[k]))
            return true;
    return false;
}

/* Reads the columns of "# size count type redop root time algbw busbw ...". */
static bool read_head(struct reader *r, char *const *words, int count)
{
    struct columns c = {-1, -1, -1, {-1, -1}, 0};

    for (int k = 1; k < count; k++) {
        const bool is_wrong = !strcmp(words[k], "#wrong") || !strcmp(words[k], "error");
        int *const at = !strcmp(words[k], "size")    ? &c.size
                        : !strcmp(words[k], "time")  ? &c.time
                        : !strcmp(words[k], "algbw") ? &c.algbw
                        : !is_wrong                  ? NULL
                        : c.wrong[0] < 0             ? &c.wrong[0]
                                                     : &c.wrong[1];
        if (at && *at < 0)
            *at = k - 1; /* rows have no '#' */
    }
    if (c.size < 0 || c.time < 0 || c.algbw < 0)
        return false;
    c.count = (c.algbw > c.time ? c.algbw : c.time) + 1;
    r->columns = c;
    return true;
}

static void add_host(struct reader *r, const char *host)
{
    for (int k = 0; k < r->log->nodes; k++)
        if (!strcmp(r->hosts[k], host))
            return;
    *PP_PUSH(r->arena, r->hosts, r->log->nodes, r->host_capacity) = pp_arena_strdup(r->arena, host);
}

/* "#  Rank  0 Group  0 Pid   4711 on node0 device  0 [0000:18:00] NVIDIA H100 80GB HBM3" */
static void read_rank(struct reader *r, const char *line, char *const *words, int count)
{
    const char *bus = strchr(line, ']');

    r->rank_lines++;
    for (int k = 2; k + 1 < count; k++)
        if (!strcmp(words[k], "on")) {
            add_host(r, words[k + 1]);
            break;
        }
    if (bus && !r->log->device && bus[1 + strspn(bus + 1, " ")])
        r->log->device = bus + 1 + strspn(bus + 1, " ");
}

static enum pp_status read_comment(struct reader *r, const char *line, char *const *words,
                                   int count, struct pp_error *err)
{
    if (!r->log->operation)
        r->log->operation = operation_in(line);
    if (count > 2 && !strcmp(words[0], "#") && !strcmp(words[1], "Rank"))
        read_rank(r, line, words, count);
    if (read_head(r, words, count) && r->log->count > 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: a second table: give each run its own log (several that print "
                            "rank 0 are a build without MPI=1)",
                            r->name, r->line);
    return PP_OK;
}

static enum pp_status read_row(struct reader *r, char *const *words, int count,
                               struct pp_error *err)
{
    const struct columns *c = &r->columns;
    double bytes, time_us, algbw, wrong;

    if (count < c->count)
        return pp_error_set(err, PP_EINVAL, "%s:%d: %d words, a row has at least %d", r->name,
                            r->line, count, c->count);
    if (!read_number(words[c->size], &bytes))
        return fail(r, err, "the size is not a number of bytes:", words[c->size]);
    if (!read_number(words[c->time], &time_us) || time_us <= 0)
        return fail(r, err, "the time is not a number of microseconds above 0:", words[c->time]);
    if (!read_number(words[c->algbw], &algbw))
        return fail(r, err, "algbw is not a number of GB/s:", words[c->algbw]);
    for (int k = 0; k < 2; k++)
        if (c->wrong[k] >= 0 && c->wrong[k] < count && read_number(words[c->wrong[k]], &wrong) &&
            wrong >= 1)
            return pp_error_set(err, PP_EINVAL,
                                "%s:%d: %g wrong values: a network that changes data gives no "
                                "times; repair it, or run nccl-tests with -c 0",
                                r->name, r->line, wrong);
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

static enum pp_status read_line(struct reader *r, char *text, struct pp_error *err)
{
    char *const line = after_label(text);
    const char *whole = pp_arena_strdup(r->arena, line);
    char *words[MOST_WORDS];
    double ignored;

    if (is_debug(line))
        return PP_OK;
    const int count = pp_words(line, words, MOST_WORDS);
    if (count == 0)
        return PP_OK;
    if (words[0][0] == '#')
        return read_comment(r, whole, words, count, err);
    if (r->columns.count > 0 && (r->log->count == 0 || read_number(words[0], &ignored)))
        return read_row(r, words, count, err);
    if (!r->log->operation)
        r->log->operation = operation_in(whole); /* may be the command line */
    return PP_OK;
}

/* ---- the log --------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const struct pp_calibrate_message *x = a, *y = b;

    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static enum pp_status check(struct reader *r, const char *given, struct pp_error *err)
{
    const char *base = strrchr(r->name, '/');

    if (!r->log->operation)
        r->log->operation = given ? given : operation_in(base ? base + 1 : r->name);
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
                            "%s: neither the log nor its name gives the collective: --collective "
                            "all_reduce, all_gather, reduce_scatter, sendrecv or alltoall",
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
    qsort(r->log->sizes, (size_t)r->log->count, sizeof(*r->log->sizes), by_size);
    return PP_OK;
}

enum pp_status pp_nccl_log_parse(struct pp_arena *arena, const struct pp_nccl_log_source *source,
                                 const char *text, size_t length, struct pp_nccl_log *log,
                                 struct pp_error *err)
{
    struct reader r = {.arena = arena, .name = source->name, .log = log};
    struct pp_lines lines = {.name = source->name, .text = text, .length = length};
    char line[MOST_LINE];

    *log = (struct pp_nccl_log){0};
    for (bool found = true; found;) {
        PP_TRY(pp_lines_next(&lines, line, sizeof(line), &found, err));
        r.line = lines.number;
        if (found)
            PP_TRY(read_line(&r, line, err));
    }
    return check(&r, source->operation, err);
}

enum pp_status pp_nccl_log_read(struct pp_arena *arena, const struct pp_nccl_log_source *source,
                                struct pp_nccl_log *log, struct pp_error *err)
{
    char *text;
    size_t length;

    PP_TRY(pp_file_read(arena, source->name, &text, &length, err));
    return pp_nccl_log_parse(arena, source, text, length, log, err);
}
