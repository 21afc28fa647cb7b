/* Reads step times from the log of a training run. */
#define _GNU_SOURCE /* memmem */
#include "sim/import/step_log.h"

#include "core/quantile.h"
#include "core/text/file.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_NUMBER = 48, LOOK_BYTES = 1 << 22 };
static const double WARM_UP_FACTOR = 1.1, LONGEST_S = 1e7, SHORTEST_S = 1e-6;

/* Words before a time, common ones first. The first form that any line has is the log's. */
static const struct form {
    const char *words;
    double seconds;
} FORMS[] = {{"elapsed time per iteration (ms)", 1e-3},
             {"elapsed time per iteration (s)", 1},
             {"train_step_timing in s", 1},
             {"Step Time", 1}};
enum { FORM_COUNT = PP_COUNT(FORMS) };

/* Words before the other figures of a log. */
static const char *const THROUGHPUTS[] = {"throughput per GPU (TFLOP/s/GPU)", "TFLOPS_per_GPU",
                                          "GPU utilization", "TFLOPs", NULL},
                         *const BATCHES[] = {"global batch size", "global_batch_size", NULL};

struct line {
    const char *text;
    size_t length;
};
struct reader {
    struct pp_arena *arena;
    struct pp_step_log *log;
    const struct form *form;
    int number;          /* of the line */
    long long iteration; /* the last one; -1 = none */
    int capacity;
    double *flops; /* [log->count]; NAN: not in the line */
    int flops_count, flops_capacity;
};

/* ---- words ----------------------------------------------------------------------------------- */

/* Returns the text after `words` and ':' or '='; NULL if they are not in the line. */
static const char *after(struct line line, const char *words)
{
    const char *end = line.text + line.length,
               *p = memmem(line.text, line.length, words, strlen(words));

    if (!p)
        return NULL;
    p += strlen(words);
    while (p < end && *p == ' ')
        p++;
    if (p == end || (*p != ':' && *p != '='))
        return NULL;
    do
        p++;
    while (p < end && *p == ' ');
    return p;
}

/* Reads a number above 0; any text may follow it. */
static bool read_number(struct line line, const char *at, double *value)
{
    char text[MOST_NUMBER];
    size_t length = 0;
    char *end;

    while (at + length < line.text + line.length && length < sizeof(text) - 1 &&
           strchr("0123456789.eE+-", at[length]) && at[length])
        length++;
    memcpy(text, at, length);
    text[length] = '\0';
    *value = strtod(text, &end);
    return end > text && isfinite(*value) && *value > 0;
}

static double find_number(struct line line, const char *const *words)
{
    for (; *words; words++) {
        const char *at = after(line, *words);
        double value;
        if (at && read_number(line, at, &value))
            return value;
    }
    return (double)NAN;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Refuses a second run in the log: its iterations begin anew ("iteration 1/ 10 | ..."). */
static enum pp_status check_iteration(struct reader *r, struct line line, struct pp_error *err)
{
    static const char WORD[] = "iteration ";
    const char *end = line.text + line.length, *at = memmem(line.text, line.length, WORD, 10);

    for (at = at ? at + 10 : end; at < end && *at == ' ';)
        at++;
    long long iteration = 0;
    const char *digit = at;
    for (; digit < end && digit - at < 15 && *digit >= '0' && *digit <= '9'; digit++)
        iteration = 10 * iteration + (*digit - '0');
    if (digit == at || digit == end || *digit != '/')
        return PP_OK;
    if (iteration < r->iteration)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: iteration %lld after iteration %lld: a second run; give each "
                            "its own log",
                            r->log->name, r->number, iteration, r->iteration);
    r->iteration = iteration;
    return PP_OK;
}

static enum pp_status read_line(struct reader *r, struct line line, struct pp_error *err)
{
    struct pp_step_log *log = r->log;
    const char *at = after(line, r->form->words);
    double value;

    if (!at)
        return PP_OK;
    if (!read_number(line, at, &value) || value * r->form->seconds > LONGEST_S ||
        value * r->form->seconds < SHORTEST_S)
        return pp_error_set(
            err, PP_EINVAL, "%s:%d: '%.*s' after '%s' is not the time of a step", log->name,
            r->number, (int)(line.text + line.length - at < 20 ? line.text + line.length - at : 20),
            at, r->form->words);
    PP_TRY(check_iteration(r, line, err));
    *PP_PUSH(r->arena, log->step_s, log->count, r->capacity) = value * r->form->seconds;
    *PP_PUSH(r->arena, r->flops, r->flops_count, r->flops_capacity) =
        find_number(line, THROUGHPUTS) * 1e12;
    const double batch = find_number(line, BATCHES);
    log->global_batch = isnan(batch) ? log->global_batch : batch;
    return PP_OK;
}

/* Returns the first form of the table that any line has. */
static const struct form *find_form(const char *text, size_t length)
{
    for (int k = 0; k < FORM_COUNT; k++) {
        const struct line all = {text, length};
        for (struct line rest = all; rest.length > 0;) {
            const char *p = memmem(rest.text, rest.length, FORMS[k].words, strlen(FORMS[k].words));
            if (!p)
                break;
            rest = (struct line){p, (size_t)(text + length - p)};
            if (after(rest, FORMS[k].words))
                return &FORMS[k];
            rest = (struct line){p + 1, rest.length - 1};
        }
    }
    return NULL;
}

/* ---- figures --------------------------------------------------------------------------------- */

static double median_of(struct pp_arena *arena, const double *values, int count)
{
    double *copy = PP_ARRAY(arena, double, count);

    memcpy(copy, values, sizeof(*copy) * (size_t)count);
    return pp_median(copy, count);
}

static int count_warm_up(struct pp_arena *arena, const struct pp_step_log *log)
{
    int skip = log->count > 1;

    while (skip < log->count / 2 &&
           log->step_s[skip] >
               WARM_UP_FACTOR * median_of(arena, &log->step_s[skip + 1], log->count - skip - 1))
        skip++;
    return skip;
}

static void fill_figures(struct reader *r)
{
    struct pp_step_log *log = r->log;
    const int count = log->count - log->skipped;
    double *values = PP_ARRAY(r->arena, double, count);
    int known = 0;

    for (int k = 0; k < log->skipped; k++)
        log->longest_skipped_s = fmax(log->longest_skipped_s, log->step_s[k]);
    for (int k = log->skipped; k < log->count; k++)
        if (!isnan(r->flops[k]))
            values[known++] = r->flops[k];
    log->flops_per_s_per_gpu = known > 0 ? pp_median(values, known) : (double)NAN;
    memcpy(values, &log->step_s[log->skipped], sizeof(*values) * (size_t)count);
    log->median_s = pp_median(values, count);
    log->low_s = pp_quantile(values, count, 0.05);
    log->high_s = pp_quantile(values, count, 0.95);
}

/* ---- the log --------------------------------------------------------------------------------- */

static enum pp_status read_lines(struct reader *r, const char *text, size_t length,
                                 struct pp_error *err)
{
    /* A progress bar writes its lines over each other. */
    for (size_t from = 0, to; from < length; from = to + 1) {
        for (to = from; to < length && text[to] != '\n' && text[to] != '\r'; to++)
            ;
        r->number += from == 0 || text[from - 1] == '\n';
        PP_TRY(read_line(r, (struct line){text + from, to - from}, err));
    }
    return PP_OK;
}

enum pp_status pp_step_log_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, int skip, struct pp_step_log *log,
                                 struct pp_error *err)
{
    struct reader r = {
        .arena = arena, .log = log, .form = find_form(text, length), .iteration = -1};

    *log = (struct pp_step_log){.name = name, .global_batch = (double)NAN};
    if (!r.form)
        return pp_error_set(err, PP_EINVAL,
                            "%s: no line says 'elapsed time per iteration (ms): ...', as the logs "
                            "of Megatron-LM do",
                            name);
    log->form = r.form->words;
    PP_TRY(read_lines(&r, text, length, err));
    log->skipped = skip >= 0 ? skip : count_warm_up(arena, log);
    if (log->skipped >= log->count)
        return pp_error_set(err, PP_EINVAL,
                            "%s has %d line%s with the time of a step: --skip-steps %d leaves none",
                            name, log->count, log->count == 1 ? "" : "s", log->skipped);
    fill_figures(&r);
    return PP_OK;
}

enum pp_status pp_step_log_read(struct pp_arena *arena, const char *path, int skip,
                                struct pp_step_log *log, struct pp_error *err)
{
    char *text;
    size_t length;

    PP_TRY(pp_file_read(arena, path, &text, &length, err));
    return pp_step_log_parse(arena, path, text, length, skip, log, err);
}

bool pp_step_log_is_one(const char *path)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char *text = pp_arena_alloc_raw(arena, LOOK_BYTES + 1);
    size_t length = 0, got = 1;
    struct pp_file *file;
    struct stat info;

    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        pp_file_open(path, SIZE_MAX, &file, NULL) != PP_OK)
        return false;
    while (got > 0 && length < LOOK_BYTES &&
           pp_file_next(file, text + length, LOOK_BYTES - length, &got, NULL) == PP_OK)
        length += got;
    pp_file_close(file);
    text[length] = '\0';
    return length > 0 && text[strspn(text, " \t\r\n")] != '{' && find_form(text, length);
}
