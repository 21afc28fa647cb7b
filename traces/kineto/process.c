/* One process: its ranges, by their names, and their times. */
#define _GNU_SOURCE /* memmem, strcasestr */
#include "traces/kineto/parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const int64_t LATEST_BASE_NS = INT64_C(4000000000000000000);

struct reader {
    struct pp_arena *arena;
    struct pp_kineto_file *file;
};

/* ---- ranges ---------------------------------------------------------------------------------- */

static enum pp_kineto_what what_of(const struct pp_op *op)
{
    return pp_op_is_compute(op->kind)                           ? PP_KINETO_COMPUTE
           : pp_op_is_send(op->kind) || pp_op_is_recv(op->kind) ? PP_KINETO_MESSAGE
                                                                : PP_KINETO_SUM;
}

/* Reads a cell in the form of all traces. False for other texts, and for gathers and drops. */
static bool read_cell(struct reader *r, const char *text, struct pp_kineto_range *range)
{
    struct pp_op ops[2];
    char cell[PP_OP_TEXT_BYTES];
    int count;

    if (pp_op_parse(text, ops, &count, NULL) != PP_OK) {
        r->file->unknown_count++;
        if (!r->file->unknown)
            r->file->unknown = pp_arena_strdup(r->arena, text);
        return false;
    }
    if (ops[0].kind != PP_AR && !(pp_op_kinds[ops[0].kind].has_mb && ops[0].kind != PP_WAIT))
        return false;
    range->op = ops[0];
    range->what = what_of(&ops[0]);
    range->is_fused = count == 2;
    if (count == 1)
        pp_op_print(&ops[0], (struct pp_op_style){.splits = ops[0].split > 0}, cell);
    range->cell = pp_arena_strdup(r->arena, count == 1 ? cell : text);
    return true;
}

static void add_drawn(struct reader *r, const struct pp_kineto_range *range, json_t *slice)
{
    struct pp_kineto_file *f = r->file;

    *PP_PUSH(r->arena, f->drawn, f->drawn_count, f->drawn_capacity) =
        (struct pp_kineto_drawn){.cell = range->cell,
                                 .stream = json_integer_value(json_object_get(slice, "tid")),
                                 .start_ns = range->start_ns,
                                 .end_ns = range->end_ns};
}

/* Adds "ProfilerStep#7". */
static enum pp_status add_window(struct reader *r, const char *number, struct pp_kineto_range range,
                                 struct pp_error *err)
{
    struct pp_kineto_file *f = r->file;
    char *end;
    const long value = strtol(number, &end, 10);

    if (*number < '0' || *number > '9' || *end || value > INT_MAX / 2)
        return pp_error_set(err, PP_EINVAL, "'ProfilerStep#%.20s' has no number of a step", number);
    range.step = (int)value;
    *PP_PUSH(r->arena, f->windows, f->window_count, f->window_capacity) = range;
    return PP_OK;
}

static enum pp_status add_slice(struct reader *r, json_t *slice, const char *name,
                                struct pp_error *err)
{
    static const char STEP[] = "ProfilerStep#", UPDATE[] = "Optimizer.step#";
    struct pp_kineto_file *f = r->file;
    const char *category = json_string_value(json_object_get(slice, "cat"));
    struct pp_kineto_range range = {.cell = "U", .what = PP_KINETO_UPDATE, .step = -1};
    const bool is_drawn = category && !strcasecmp(category, "gpu_user_annotation"),
               is_step = !strncmp(name, STEP, strlen(STEP));

    if (!is_drawn && category && strcmp(category, "user_annotation") != 0 &&
        strcmp(category, "cpu_op") != 0)
        return PP_OK;
    PP_TRY(pp_kineto_times(slice, &range.start_ns, &range.end_ns, err));
    if (is_step)
        return is_drawn ? PP_OK : add_window(r, name + strlen(STEP), range, err);
    if (strncmp(name, UPDATE, strlen(UPDATE)) != 0 && !read_cell(r, name + 3, &range))
        return PP_OK;
    if (is_drawn)
        add_drawn(r, &range, slice);
    else
        *PP_PUSH(r->arena, f->ranges, f->count, f->capacity) = range;
    return PP_OK;
}

static bool holds(const struct pp_json_piece *piece, const char *text)
{
    return memmem(piece->text, piece->length, text, strlen(text)) != NULL;
}

/* Parses only elements with such a name anywhere in their text. */
static enum pp_status read_element(struct reader *r, const struct pp_json_piece *piece,
                                   struct pp_error *err)
{
    enum pp_status status = PP_OK;
    json_t *slice;

    r->file->element_count++;
    if (!holds(piece, "\"PP:") && !holds(piece, "\"ProfilerStep#") &&
        !holds(piece, "\"Optimizer.step#"))
        return PP_OK;
    PP_TRY(pp_kineto_parse(r->file->name, piece, &slice, err));
    const char *phase = json_string_value(json_object_get(slice, "ph")),
               *name = json_string_value(json_object_get(slice, "name"));
    if (phase && name && !strcmp(phase, "X") &&
        (!strncmp(name, "PP:", 3) || !strncmp(name, "ProfilerStep#", 13) ||
         !strncmp(name, "Optimizer.step#", 15)))
        status = add_slice(r, slice, name, err);
    json_decref(slice);
    if (status != PP_OK)
        pp_error_prefix(err, "%s: %s[%" PRId64 "]: ", r->file->name, piece->key, piece->index);
    return status;
}

/* ---- members --------------------------------------------------------------------------------- */

static void read_distributed(struct reader *r, const json_t *value)
{
    const json_t *rank = json_object_get(value, "rank");

    r->file->has_rank = json_is_integer(rank) && json_integer_value(rank) >= 0 &&
                        json_integer_value(rank) <= INT_MAX;
    if (r->file->has_rank)
        r->file->rank = (int)json_integer_value(rank);
}

static void read_base(struct reader *r, const json_t *value)
{
    const int64_t ns = json_integer_value(value);

    r->file->base_ns = ns > 0 && ns <= LATEST_BASE_NS ? ns : 0;
}

static void read_device(struct reader *r, const json_t *value)
{
    const char *name = json_string_value(json_object_get(json_array_get(value, 0), "name"));

    if (name)
        r->file->device = pp_arena_strdup(r->arena, name);
}

static const struct member {
    const char *key;
    void (*read)(struct reader *r, const json_t *value);
} MEMBERS[] = {{"distributedInfo", read_distributed},
               {"baseTimeNanoseconds", read_base},
               {"deviceProperties", read_device}};

/* Reads a member; ignores unexpected values, because versions differ. */
static void read_member(struct reader *r, const struct pp_json_piece *piece)
{
    for (size_t k = 0; k < PP_COUNT(MEMBERS); k++) {
        if (strcmp(piece->key, MEMBERS[k].key) != 0)
            continue;
        json_t *value = json_loadb(piece->text, piece->length, JSON_DECODE_ANY, NULL);
        MEMBERS[k].read(r, value);
        json_decref(value);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
    const struct pp_kineto_range *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

/* Sorts ranges by time; of nested ones, such as the ops of an overlapped pair, keeps the outer. */
static void sort_ranges(struct pp_kineto_file *f)
{
    int64_t end_ns = INT64_MIN;
    int count = 0;

    if (f->count > 0)
        qsort(f->ranges, (size_t)f->count, sizeof(*f->ranges), by_start);
    if (f->window_count > 0)
        qsort(f->windows, (size_t)f->window_count, sizeof(*f->windows), by_start);
    for (int k = 0; k < f->count; k++) {
        if (f->ranges[k].start_ns < end_ns && f->ranges[k].end_ns <= end_ns)
            continue;
        end_ns = f->ranges[k].end_ns;
        f->ranges[count++] = f->ranges[k];
    }
    f->count = count;
}

/* Steps by the windows of ProfilerStep#N. Without them the k-th range of a cell is of step k. */
static void number_by_windows(struct pp_kineto_file *f)
{
    for (int k = 0, w = 0; k < f->count; k++) {
        while (w < f->window_count && f->windows[w].end_ns <= f->ranges[k].start_ns)
            w++;
        if (w < f->window_count && f->windows[w].start_ns <= f->ranges[k].start_ns)
            f->ranges[k].step = f->windows[w].step;
    }
}

static void number_by_order(struct pp_arena *arena, struct pp_kineto_file *f)
{
    struct pp_kineto_range **order = PP_ARRAY(arena, struct pp_kineto_range *, f->count);

    for (int k = 0; k < f->count; k++)
        order[k] = &f->ranges[k];
    qsort(order, (size_t)f->count, sizeof(*order), pp_kineto_by_cell);
    for (int k = 0; k < f->count; k++)
        order[k]->step =
            k > 0 && !strcmp(order[k]->cell, order[k - 1]->cell) ? order[k - 1]->step + 1 : 0;
    /* An update, of which a step may have several, is of the step of the previous range. */
    for (int k = 0; k < f->count; k++)
        if (f->ranges[k].what == PP_KINETO_UPDATE)
            f->ranges[k].step = k > 0 ? f->ranges[k - 1].step : -1;
}

/* Finds the rank: the last "rank3", "rank_3" or "rank-3" in the name of the file. */
static void find_rank_in_name(struct pp_kineto_file *f)
{
    const char *slash = strrchr(f->name, '/'), *base = slash ? slash + 1 : f->name;

    for (const char *p = base; (p = strcasestr(p, "rank")); p++) {
        const char *digits = p + 4 + (strchr("_-=.", p[4]) && p[4]);
        char *end;
        const long rank = strtol(digits, &end, 10);
        if (!isdigit((unsigned char)*digits) || rank > INT_MAX)
            continue;
        f->has_rank = f->is_rank_of_name = true;
        f->rank = (int)rank;
    }
}

static enum pp_status read_all(struct reader *r, struct pp_json_stream *stream,
                               struct pp_error *err)
{
    struct pp_json_piece piece;

    for (;;) {
        PP_TRY(pp_json_stream_next(stream, &piece, err));
        if (!piece.key)
            return PP_OK;
        if (piece.index >= 0)
            PP_TRY(read_element(r, &piece, err));
        else
            read_member(r, &piece);
    }
}

static enum pp_status check(const struct pp_kineto_file *f, struct pp_error *err)
{
    if (f->element_count == 0)
        return pp_error_set(err, PP_EINVAL, "%s: no \"traceEvents\" are in it", f->name);
    for (int k = 0; k < f->count; k++)
        if (f->ranges[k].what == PP_KINETO_COMPUTE)
            return PP_OK;
    pp_error_set(err, PP_EINVAL,
                 "%s: none of its %" PRId64 " events is a range of the host that computes, such as "
                 "PP:0F3",
                 f->name, f->element_count);
    if (f->unknown)
        return pp_error_append(err, "; 'PP:%.40s' names no op", f->unknown);
    return pp_error_append(err,
                           "; PyTorch's pipeline schedules draw them since 2.6 where the profiler "
                           "records ProfilerActivity.CPU");
}

enum pp_status pp_kineto_file_read(struct pp_arena *arena, const char *name,
                                   const struct pp_bytes *bytes, struct pp_kineto_file *file,
                                   struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct reader r = {.arena = arena, .file = file};
    struct pp_json_stream *stream;

    *file = (struct pp_kineto_file){.name = name};
    if (bytes)
        stream = pp_json_stream_of(scratch, name, bytes, "traceEvents");
    else
        PP_TRY(pp_json_stream_open(scratch, name, "traceEvents", &stream, err));
    PP_TRY(read_all(&r, stream, err));
    PP_TRY(check(file, err));
    if (!file->has_rank)
        find_rank_in_name(file);
    sort_ranges(file);
    if (file->window_count > 0)
        number_by_windows(file);
    else
        number_by_order(scratch, file);
    PP_TRY(pp_json_stream_rewind(stream, err));
    return pp_kineto_find_device(stream, file, err);
}
