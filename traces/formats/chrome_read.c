/* Reads the output of chrome.c only: other traces lack data (steps, posts, the program). */
#include "core/text/json.h"
#include "core/units.h"
#include "traces/formats/formats.h"

#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LISTS = 1 << 24, MAX_BYTES = 128 << 20, PLACE_BYTES = 48 };

struct reader {
    struct pp_arena *arena;
    struct pp_trace *trace;
    int capacity;
    bool has_process;
    int64_t pid;       /* process of the next events */
    int rank, replica; /* rank and replica of that process */
    int max_rank, max_replica, max_step;
};

/* "P3" or "P3 replica 1" */
static bool parse_process_name(const char *text, int *rank, int *replica)
{
    char again[64];

    *replica = 0;
    if (strlen(text) >= sizeof(again) || sscanf(text, "P%9d replica %9d", rank, replica) < 1)
        return false;
    if (*rank < 0 || *replica < 0)
        return false;
    snprintf(again, sizeof(again), "P%d", *rank);
    if (strcmp(text, again) == 0)
        return true;
    snprintf(again, sizeof(again), "P%d replica %d", *rank, *replica);
    return strcmp(text, again) == 0;
}

static enum pp_status read_process(struct reader *reader, const struct pp_json *json, json_t *event,
                                   struct pp_error *err)
{
    const char *name, *text;
    int rank, replica;

    PP_TRY(pp_json_string(json, event, "name", &name, NULL, err));
    if (strcmp(name, "process_name") != 0)
        return PP_OK;
    PP_TRY(pp_json_int(json, event, "pid", 0, MAX_LISTS, &reader->pid, NULL, err));
    PP_TRY(pp_json_string(json, json_object_get(event, "args"), "name", &text, NULL, err));
    if (!parse_process_name(text, &rank, &replica))
        return pp_error_set(err, PP_EINVAL,
                            "%s: process '%.40s', expected one such as 'P3' or 'P3 replica 1'",
                            json->name, text);
    if (reader->has_process &&
        (replica < reader->replica || (replica == reader->replica && rank <= reader->rank)))
        return pp_error_set(err, PP_EINVAL,
                            "%s: process '%s' after rank %d of replica %d: they are ordered by "
                            "replica and rank",
                            json->name, text, reader->rank, reader->replica);
    reader->has_process = true;
    reader->rank = rank;
    reader->replica = replica;
    reader->max_rank = rank > reader->max_rank ? rank : reader->max_rank;
    reader->max_replica = replica;
    return PP_OK;
}

static enum pp_status read_cell(struct reader *reader, const struct pp_json *json, json_t *object,
                                struct pp_trace_event *event, struct pp_error *err)
{
    const char *name, *track = json_string_value(json_object_get(object, "cat"));

    PP_TRY(pp_json_string(json, object, "name", &name, NULL, err));
    if (strncmp(name, "PP:", 3) != 0)
        return pp_error_set(err, PP_EINVAL, "%s: name '%.40s' does not begin with 'PP:'",
                            json->name, name);
    const enum pp_status status = pp_trace_read_cell(
        reader->arena, name + 3, track && strcmp(track, "weights") == 0, event, err);
    if (status != PP_OK)
        pp_error_prefix(err, "%s: ", json->name);
    return status;
}

/* Reads a time that the picoseconds of the event do not hold; it must be next to them. */
static enum pp_status read_exact(const struct pp_json *json, json_t *object, const char *key,
                                 double *time_s, struct pp_error *err)
{
    const double near_s = *time_s;
    bool found;

    PP_TRY(pp_json_number(json, json_object_get(object, "args"), key, 0, PP_TRACE_LONGEST_S, time_s,
                          &found, err));
    if (fabs(*time_s - near_s) <= 1e-11 + 1e-12 * near_s)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s: \"%s\" is %.17g, \"ts\" and \"dur\" give %.17g",
                        json->name, key, *time_s, near_s);
}

static enum pp_status read_times(const struct pp_json *json, json_t *object,
                                 struct pp_trace_event *event, struct pp_error *err)
{
    double start_us, duration_us;

    PP_TRY(pp_json_number(json, object, "ts", 0, PP_TRACE_LONGEST_S * 1e6, &start_us, NULL, err));
    PP_TRY(
        pp_json_number(json, object, "dur", 0, PP_TRACE_LONGEST_S * 1e6, &duration_us, NULL, err));
    const int64_t start_ps = llround(start_us * 1e6);
    event->start_s = pp_units_s(start_ps);
    event->end_s = pp_units_s(start_ps + llround(duration_us * 1e6));
    PP_TRY(read_exact(json, object, "start_s", &event->start_s, err));
    PP_TRY(read_exact(json, object, "end_s", &event->end_s, err));
    if (event->end_s < event->start_s || event->end_s > PP_TRACE_LONGEST_S)
        return pp_error_set(err, PP_EINVAL, "%s: ends at %g s, outside %g to %g", json->name,
                            event->end_s, event->start_s, PP_TRACE_LONGEST_S);
    return PP_OK;
}

static enum pp_status read_arguments(struct reader *reader, const struct pp_json *json,
                                     json_t *object, struct pp_trace_event *event,
                                     struct pp_error *err)
{
    json_t *arguments = json_object_get(object, "args");
    int64_t step;
    bool found;

    if (!json_is_object(arguments))
        return pp_error_set(err, PP_EINVAL, "%s: \"args\" must be an object", json->name);
    PP_TRY(pp_json_int(json, arguments, "step", 0, INT_MAX - 1, &step, NULL, err));
    PP_TRY(pp_json_number(json, arguments, "bytes", 0, 1e300, &event->bytes, &found, err));
    PP_TRY(pp_json_number(json, arguments, "posted_s", 0, PP_TRACE_LONGEST_S, &event->posted_s,
                          &found, err));
    PP_TRY(pp_json_number(json, arguments, "matched_s", 0, PP_TRACE_LONGEST_S, &event->matched_s,
                          &found, err));
    event->step = (int)step;
    reader->max_step = event->step > reader->max_step ? event->step : reader->max_step;
    return PP_OK;
}

static enum pp_status read_slice(struct reader *reader, const struct pp_json *json, json_t *object,
                                 struct pp_error *err)
{
    struct pp_trace *trace = reader->trace;
    struct pp_trace_event event = {.posted_s = NAN,
                                   .matched_s = NAN,
                                   .forward_frac = NAN,
                                   .waits_for = -1,
                                   .rank = reader->rank,
                                   .replica = reader->replica};
    int64_t pid;

    PP_TRY(pp_json_int(json, object, "pid", 0, MAX_LISTS, &pid, NULL, err));
    if (!reader->has_process || pid != reader->pid)
        return pp_error_set(err, PP_EINVAL,
                            "%s: an event of process %" PRId64 " that does not follow its name",
                            json->name, pid);
    PP_TRY(read_cell(reader, json, object, &event, err));
    PP_TRY(read_arguments(reader, json, object, &event, err));
    PP_TRY(read_times(json, object, &event, err));
    *PP_PUSH(reader->arena, trace->events, trace->count, reader->capacity) = event;
    return PP_OK;
}

/* Arrows between messages, "s" and "f", follow from the events. */
static const struct {
    const char *phase;
    enum pp_status (*read)(struct reader *, const struct pp_json *, json_t *, struct pp_error *);
} phases[] = {{"X", read_slice}, {"M", read_process}, {"s", NULL}, {"f", NULL}};

static enum pp_status read_event(struct reader *reader, size_t index, json_t *object,
                                 struct pp_error *err)
{
    char place[PLACE_BYTES];
    const char *phase;

    snprintf(place, sizeof(place), "traceEvents[%zu]", index);
    const struct pp_json json = {.name = place};
    if (!json_is_object(object))
        return pp_error_set(err, PP_EINVAL, "%s is not an object", place);
    PP_TRY(pp_json_string(&json, object, "ph", &phase, NULL, err));
    for (size_t i = 0; i < PP_COUNT(phases); i++)
        if (strcmp(phase, phases[i].phase) == 0)
            return phases[i].read ? phases[i].read(reader, &json, object, err) : PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s: \"ph\" '%.20s', expected X, M, s or f", place, phase);
}

/* ---- the order of the lists ------------------------------------------------------------------ */

/* Time at which the rank reaches the op. */
static double arrival_s(const struct pp_trace_event *event)
{
    return pp_op_is_posted(event->kind) && !isnan(event->posted_s) ? event->posted_s
                                                                   : event->start_s;
}

/* Orders events as a list: by time, steps may alternate; posts come before waits of that time. */
static int by_list(const void *left, const void *right)
{
    const struct pp_trace_event *a = left, *b = right;
    const double a_s = arrival_s(a), b_s = arrival_s(b);
    const int a_posted = pp_op_is_posted(a->kind), b_posted = pp_op_is_posted(b->kind);

    if (a_s != b_s)
        return a_s < b_s ? -1 : 1;
    if (a_posted != b_posted)
        return b_posted - a_posted;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->end_s != b->end_s)
        return a->end_s < b->end_s ? -1 : 1;
    if (a->start_s != b->start_s)
        return a->start_s < b->start_s ? -1 : 1;
    return strcmp(a->cell, b->cell);
}

static void sort_lists(struct pp_trace *trace)
{
    struct pp_trace_event *events = trace->events;

    for (int from = 0, to; from < trace->count; from = to) {
        to = pp_trace_list_end(trace, from);
        qsort(&events[from], (size_t)(to - from), sizeof(*events), by_list);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static enum pp_status read_unit(const struct pp_json *json, json_t *other, struct pp_trace *trace,
                                struct pp_error *err)
{
    const char *unit;
    bool found;

    PP_TRY(pp_json_string(json, other, "time_unit", &unit, &found, err));
    if (found && strcmp(unit, "units") != 0)
        return pp_error_set(err, PP_EINVAL,
                            "\"time_unit\" is '%.40s'; \"units\" is expected, or no such key for "
                            "seconds",
                            unit);
    trace->time_unit = found ? "units" : NULL;
    return PP_OK;
}

static enum pp_status read_head(struct reader *reader, const struct pp_json *json,
                                struct pp_error *err)
{
    json_t *other = json_object_get(json->root, "otherData");
    const char *hash, *engine;
    bool found;

    if (json_object_get(json->root, "schema"))
        return pp_error_set(err, PP_EINVAL,
                            "the output of --json, which has no events; --trace FILE writes them");
    if (!json_is_object(other) || !json_is_array(json_object_get(json->root, "traceEvents")))
        return pp_error_set(err, PP_EINVAL,
                            "\"otherData\" and \"traceEvents\" are expected, as this program "
                            "writes them; other Chrome traces are not read");
    PP_TRY(pp_json_string(json, other, "program_hash", &hash, NULL, err));
    PP_TRY(pp_json_string(json, other, "engine", &engine, NULL, err));
    PP_TRY(pp_json_number(json, other, "clock_error_s", 0, DBL_MAX, &reader->trace->clock_error_s,
                          &found, err));
    PP_TRY(read_unit(json, other, reader->trace, err));
    if (strlen(hash) != 16 || strspn(hash, "0123456789abcdef") != 16)
        return pp_error_set(err, PP_EINVAL, "\"program_hash\" '%.40s' is not 16 hexadecimal digits",
                            hash);
    reader->trace->program_hash = strtoull(hash, NULL, 16);
    reader->trace->engine = pp_arena_strdup(reader->arena, engine);
    json_t *run = json_object_get(other, "run");
    return run ? pp_trace_about_read(reader->arena, "run", run, &reader->trace->about, err) : PP_OK;
}

static enum pp_status read_root(struct reader *reader, const struct pp_json *json,
                                struct pp_error *err)
{
    struct pp_trace *trace = reader->trace;
    json_t *event;
    size_t i;

    PP_TRY(read_head(reader, json, err));
    json_array_foreach(json_object_get(json->root, "traceEvents"), i, event)
        PP_TRY(read_event(reader, i, event, err));
    if (trace->count == 0)
        return pp_error_set(err, PP_EINVAL, "no events");
    PP_TRY(pp_trace_set_lists(trace, reader->max_rank, reader->max_replica, reader->max_step, err));
    sort_lists(trace);
    return pp_trace_link_waits(reader->arena, trace, err);
}

enum pp_status pp_trace_parse_chrome(struct pp_arena *arena, const char *name, const char *text,
                                     size_t length, struct pp_trace **trace, struct pp_error *err)
{
    struct reader reader = {.arena = arena, .trace = PP_NEW(arena, struct pp_trace)};
    struct pp_json json;

    if (length > MAX_BYTES)
        return pp_error_set(err, PP_EINVAL, "%s: more than %d MiB of JSON; give the trace as CSV",
                            name, MAX_BYTES >> 20);
    PP_TRY(pp_json_parse(name, text, length, &json, err));
    json.name = "otherData";
    reader.trace->program = pp_arena_strdup(arena, name);
    const enum pp_status status = read_root(&reader, &json, err);
    pp_json_close(&json);
    if (status != PP_OK)
        return pp_error_prefix(err, "%s: ", name);
    *trace = reader.trace;
    return PP_OK;
}
