/* Traces written as CSV, and read strictly. */
#include "core/text/csv.h"
#include "core/units.h"
#include "traces/events.h"
#include "traces/formats/formats.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum column {
    STEP,
    RANK,
    REPLICA,
    STREAM,
    CELL,
    POSTED,
    MATCHED,
    START,
    END,
    DURATION,
    BYTES,
    HASH,
    COLUMNS
};
static const char *const column_names[COLUMNS] = {
    "step",      "rank",    "replica", "stream",     "cell",  "posted_s",
    "matched_s", "start_s", "end_s",   "duration_s", "bytes", "program_hash"};
static const char *const stream_names[] = {[PP_STREAM_COMPUTE] = "compute",
                                           [PP_STREAM_CHANNEL] = "channel",
                                           [PP_STREAM_REDUCE] = "reduce",
                                           [PP_STREAM_COPY] = "copy",
                                           [PP_STREAM_CONTROL] = "control"};
static const char weights_name[] = "weights"; /* stream of W concurrent with other compute */

#define CLOCK_ERROR "# clock_error_s: "

/* ---- writing --------------------------------------------------------------------------------- */

static void write_time(FILE *out, double seconds)
{
    if (isnan(seconds))
        fputc(',', out);
    else
        fprintf(out, ",%.17g", seconds);
}

static void write_event(FILE *out, const struct pp_trace_event *event, uint64_t hash)
{
    /* A control op is a point in time: posted at the rank's arrival, over when it continues. */
    const bool is_control = event->stream == PP_STREAM_CONTROL;
    const double start_s = is_control ? event->end_s : event->start_s;

    fprintf(out, "%d,%d,%d,%s,", event->step, event->rank, event->replica,
            event->is_concurrent ? weights_name : stream_names[event->stream]);
    pp_csv_write_field(out, event->cell);
    write_time(out, is_control ? event->start_s : event->posted_s);
    write_time(out, event->matched_s);
    write_time(out, start_s);
    write_time(out, event->end_s);
    write_time(out, event->end_s - start_s);
    write_time(out, event->bytes);
    fprintf(out, ",%016" PRIx64 "\n", hash);
}

void pp_trace_print_csv(const struct pp_trace *trace, FILE *out)
{
    if (trace->clock_error_s > 0)
        fprintf(out, CLOCK_ERROR "%.17g\n", trace->clock_error_s);
    for (int c = 0; c < COLUMNS; c++)
        fprintf(out, "%s%s", c ? "," : "", column_names[c]);
    fputc('\n', out);
    for (int i = pp_trace_next(trace, -1); i >= 0 && !ferror(out); i = pp_trace_next(trace, i)) {
        char cell[PP_TRACE_CELL_BYTES];
        const struct pp_trace_event event = pp_trace_at(trace, i, cell);
        write_event(out, &event, trace->program_hash);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    struct pp_arena *arena;
    const char *path;
    struct pp_trace *trace;
    int64_t max_rank, max_replica, max_step;
};

static enum pp_status parse_number(const char *text, const char *column, bool may_be_empty,
                                   double *value, struct pp_error *err)
{
    char *end;

    if (may_be_empty && *text == '\0') {
        *value = NAN;
        return PP_OK;
    }
    *value = strtod(text, &end);
    if (end == text || text[strspn(text, "0123456789.eE+-")] != '\0' || *end != '\0' ||
        !isfinite(*value) || *value < 0)
        return pp_error_set(err, PP_EINVAL, "%s '%s' is not a number of at least 0", column, text);
    return PP_OK;
}

static enum pp_status parse_index(const char *text, const char *column, int64_t *max, int *value,
                                  struct pp_error *err)
{
    int64_t number;

    if (pp_units_parse_int(text, 0, INT_MAX - 1, &number, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", column);
    *value = (int)number;
    if (number > *max)
        *max = number;
    return PP_OK;
}

static enum pp_status parse_hash(const char *text, uint64_t *hash, struct pp_error *err)
{
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return pp_error_set(err, PP_EINVAL, "program_hash '%s' is not 16 hexadecimal digits", text);
    *hash = strtoull(text, NULL, 16);
    return PP_OK;
}

static enum pp_status parse_cell(struct reader *reader, const char *const *fields,
                                 struct pp_trace_event *event, struct pp_error *err)
{
    PP_TRY(pp_trace_read_cell(reader->arena, fields[CELL],
                              strcmp(fields[STREAM], weights_name) == 0, event, err));
    if (!event->is_concurrent && strcmp(fields[STREAM], stream_names[event->stream]) != 0)
        return pp_error_set(err, PP_EINVAL, "stream '%s' of %s, expected '%s'", fields[STREAM],
                            event->cell, stream_names[event->stream]);
    return PP_OK;
}

static enum pp_status parse_times(const char *const *fields, struct pp_trace_event *event,
                                  struct pp_error *err)
{
    double duration_s;

    PP_TRY(parse_number(fields[POSTED], column_names[POSTED], true, &event->posted_s, err));
    PP_TRY(parse_number(fields[MATCHED], column_names[MATCHED], true, &event->matched_s, err));
    PP_TRY(parse_number(fields[START], column_names[START], false, &event->start_s, err));
    PP_TRY(parse_number(fields[END], column_names[END], false, &event->end_s, err));
    PP_TRY(parse_number(fields[DURATION], column_names[DURATION], false, &duration_s, err));
    PP_TRY(parse_number(fields[BYTES], column_names[BYTES], false, &event->bytes, err));
    if (event->end_s < event->start_s)
        return pp_error_set(err, PP_EINVAL, "end_s %s lies before start_s %s", fields[END],
                            fields[START]);
    if (fabs(event->end_s - event->start_s - duration_s) > 1e-9 * fmax(1e-3, event->end_s))
        return pp_error_set(err, PP_EINVAL, "duration_s %s is not end_s - start_s = %.12g",
                            fields[DURATION], event->end_s - event->start_s);
    if (event->stream == PP_STREAM_CONTROL) {
        if (isnan(event->posted_s) || event->posted_s > event->end_s || duration_s > 0)
            return pp_error_set(err, PP_EINVAL,
                                "%s: a control op has duration 0 and a posted_s that is not later "
                                "than its end",
                                event->cell);
        event->start_s = event->posted_s;
        event->posted_s = NAN;
    }
    return PP_OK;
}

static enum pp_status parse_event(struct reader *reader, const struct pp_csv_row *row,
                                  struct pp_trace_event *event, struct pp_error *err)
{
    uint64_t hash = 0;

    *event = (struct pp_trace_event){.forward_frac = NAN, .waits_for = -1};
    if (row->count != COLUMNS)
        return pp_error_set(err, PP_EINVAL, "%d fields, expected %d", row->count, COLUMNS);
    const char *const *fields = row->fields;
    PP_TRY(parse_index(fields[STEP], "step", &reader->max_step, &event->step, err));
    PP_TRY(parse_index(fields[RANK], "rank", &reader->max_rank, &event->rank, err));
    PP_TRY(parse_index(fields[REPLICA], "replica", &reader->max_replica, &event->replica, err));
    PP_TRY(parse_cell(reader, fields, event, err));
    PP_TRY(parse_times(fields, event, err));
    PP_TRY(parse_hash(fields[HASH], &hash, err));
    if (event == reader->trace->events) {
        reader->trace->program_hash = hash;
        return PP_OK;
    }
    if (hash != reader->trace->program_hash)
        return pp_error_set(err, PP_EINVAL, "program_hash %s differs from the rows before",
                            fields[HASH]);
    const struct pp_trace_event *before = event - 1;
    if (event->replica < before->replica ||
        (event->replica == before->replica && event->rank < before->rank))
        return pp_error_set(err, PP_EINVAL,
                            "rank %d of replica %d after rank %d of replica %d: rows are ordered "
                            "by replica and rank",
                            event->rank, event->replica, before->rank, before->replica);
    return PP_OK;
}

static enum pp_status check_header(const struct pp_csv *csv, struct pp_error *err)
{
    if (csv->count == 0)
        return pp_error_set(err, PP_EINVAL, "1: empty, expected a trace: a header and rows");
    const struct pp_csv_row *row = &csv->rows[0];
    for (int c = 0; c < COLUMNS; c++)
        if (c >= row->count || strcmp(row->fields[c], column_names[c]) != 0)
            return pp_error_set(err, PP_EINVAL, "%d: column %d is '%s', expected '%s'", row->line,
                                c + 1, c < row->count ? row->fields[c] : "", column_names[c]);
    if (row->count != COLUMNS)
        return pp_error_set(err, PP_EINVAL, "%d: %d columns, expected %d", row->line, row->count,
                            COLUMNS);
    return PP_OK;
}

static enum pp_status parse_rows(struct reader *reader, const struct pp_csv *csv,
                                 struct pp_error *err)
{
    struct pp_trace *trace = reader->trace;

    if (check_header(csv, err) != PP_OK)
        return pp_error_prefix(err, "%s:", reader->path);
    trace->events = PP_ARRAY(reader->arena, struct pp_trace_event, csv->count);
    for (int i = 1; i < csv->count; i++) {
        if (csv->rows[i].count == 0)
            continue;
        if (parse_event(reader, &csv->rows[i], &trace->events[trace->count], err) != PP_OK)
            return pp_error_prefix(err, "%s:%d: ", reader->path, csv->rows[i].line);
        trace->count++;
    }
    if (trace->count == 0)
        return pp_error_set(err, PP_EINVAL, "%s:1: a header without rows", reader->path);
    const enum pp_status status =
        pp_trace_set_lists(trace, reader->max_rank, reader->max_replica, reader->max_step, err);
    if (status != PP_OK)
        pp_error_prefix(err, "%s: ", reader->path);
    return status;
}

/* Reads "# clock_error_s"; ignores other comments. */
static enum pp_status parse_comments(struct reader *reader, const struct pp_csv *comments,
                                     struct pp_error *err)
{
    static const size_t length = sizeof(CLOCK_ERROR) - 1;

    for (int i = 0; i < comments->count; i++) {
        const struct pp_csv_row *row = &comments->rows[i];

        if (strncmp(row->fields[0], CLOCK_ERROR, length) == 0 &&
            parse_number(row->fields[0] + length, "clock_error_s", false,
                         &reader->trace->clock_error_s, err) != PP_OK)
            return pp_error_prefix(err, "%s:%d: ", reader->path, row->line);
    }
    return PP_OK;
}

enum pp_status pp_trace_parse_csv(struct pp_arena *arena, const char *name, const char *text,
                                  size_t length, struct pp_trace **trace, struct pp_error *err)
{
    struct reader reader = {.arena = arena, .path = name, .trace = PP_NEW(arena, struct pp_trace)};
    struct pp_csv csv, comments = {0};

    PP_TRY(pp_csv_parse(arena, name, text, length, &csv, &comments, err));
    PP_TRY(parse_comments(&reader, &comments, err));
    PP_TRY(parse_rows(&reader, &csv, err));
    reader.trace->program = pp_arena_strdup(arena, name);
    reader.trace->engine = "file";
    if (pp_trace_link_waits(arena, reader.trace, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", name);
    *trace = reader.trace;
    return PP_OK;
}
