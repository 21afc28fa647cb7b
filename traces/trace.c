#include "traces/trace.h"

#include "core/hash.h"
#include "core/text/file.h"
#include "core/text/output.h"

#include <stdint.h>
#include <string.h>

static const struct {
    const char *suffix;
    void (*print)(const struct pp_trace *trace, FILE *out);
} FORMATS[] = {
    {".csv", pp_trace_print_csv},     {".csv.gz", pp_trace_print_csv},
    {".json", pp_trace_print_chrome}, {".json.gz", pp_trace_print_chrome},
    {".paje", pp_trace_print_paje},   {".paje.gz", pp_trace_print_paje},
    {".trace", pp_trace_print_paje},  {".trace.gz", pp_trace_print_paje},
};

enum pp_status pp_trace_check_name(const char *path, struct pp_error *err)
{
    for (size_t i = 0; i < sizeof(FORMATS) / sizeof(*FORMATS); i++)
        if (pp_has_suffix(path, FORMATS[i].suffix))
            return PP_OK;
    return pp_error_set(err, PP_EINVAL, "trace file '%s': the name must end in " PP_TRACE_NAMES,
                        path);
}

static void print(const struct pp_trace *trace, const char *path, FILE *out)
{
    size_t i = 0;

    while (!pp_has_suffix(path, FORMATS[i].suffix))
        i++;
    FORMATS[i].print(trace, out);
}

enum pp_status pp_trace_write_all(const struct pp_trace *const *traces, const char *const *paths,
                                  int count, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_output *outputs = PP_ARRAY(arena, struct pp_output, count);
    enum pp_status status = PP_OK;
    int opened = 0;

    for (int i = 0; i < count; i++)
        PP_TRY(pp_trace_check_name(paths[i], err));
    for (; opened < count && status == PP_OK; opened += status == PP_OK)
        status = pp_output_open(arena, paths[opened], &outputs[opened], err);
    for (int i = 0; i < opened && status == PP_OK; i++)
        print(traces[i], paths[i], outputs[i].file);
    if (status == PP_OK)
        return pp_output_commit_all(outputs, count, err);
    for (int i = 0; i < opened; i++)
        pp_output_discard(&outputs[i]);
    return status;
}

enum pp_status pp_trace_write(const struct pp_trace *trace, const char *path, struct pp_error *err)
{
    return pp_trace_write_all(&trace, &path, 1, err);
}

enum pp_status pp_trace_refuse_paje(const char *name, const char *text, struct pp_error *err)
{
    return text[0] == '%'
               ? pp_error_set(err, PP_EINVAL,
                              "%s: a trace in Paje's format is for viewers; expected one in .csv "
                              "or .json, which hold all of it",
                              name)
               : PP_OK;
}

enum pp_status pp_trace_read(struct pp_arena *arena, const char *path, struct pp_trace **trace,
                             struct pp_error *err)
{
    const char *name = strcmp(path, "-") ? path : "<stdin>";
    char *text;
    size_t length;

    PP_TRY(pp_file_read(arena, path, &text, &length, err));
    PP_TRY(pp_trace_refuse_paje(name, text, err));
    if (text[strspn(text, " \t\r\n")] == '{')
        return pp_trace_parse_chrome(arena, name, text, length, trace, err);
    return pp_trace_parse_csv(arena, name, text, length, trace, err);
}

/* ---- what a WAIT waits for ------------------------------------------------------------------- */

/* Hash table over the cells of one list: the latest event of each text. */
struct index {
    const struct pp_trace *trace;
    int *slots; /* event + 1, 0 = free */
    size_t mask;
};
struct text {
    const char *start;
    size_t length;
};

/* The cell without its buffer slot "[k]"; of a WAIT that of the op waited for. */
static struct text subject(const struct pp_trace_event *event)
{
    struct text text = {event->cell, strlen(event->cell)};

    if (event->kind == PP_WAIT) {
        const char *end = strrchr(event->cell, ')');
        if (text.start[0] == '(' && end != NULL)
            text = (struct text){event->cell + 1, (size_t)(end - event->cell - 1)};
    }
    const char *bracket = memchr(text.start, '[', text.length);
    if (bracket != NULL)
        text.length = (size_t)(bracket - text.start);
    return text;
}

/* The slot that holds an event of this step and text, or the free one where it belongs. */
static int *find(const struct index *index, int step, struct text text)
{
    const uint64_t hash = pp_hash(PP_HASH_OF_NOTHING + (uint64_t)step, text.start, text.length);

    for (size_t at = (hash ^ hash >> 32) & index->mask;; at = (at + 1) & index->mask) {
        int *slot = &index->slots[at];
        if (*slot == 0)
            return slot;
        const struct pp_trace_event *event = &index->trace->events[*slot - 1];
        const struct text other = subject(event);
        if (event->step == step && other.length == text.length &&
            memcmp(other.start, text.start, text.length) == 0)
            return slot;
    }
}

static int end_of_list(const struct pp_trace *trace, int from)
{
    int to = from;

    while (to < trace->count && trace->events[to].rank == trace->events[from].rank &&
           trace->events[to].replica == trace->events[from].replica)
        to++;
    return to;
}

static enum pp_status link_list(struct pp_arena *arena, struct pp_trace *trace, int from, int to,
                                struct pp_error *err)
{
    struct index index = {.trace = trace, .mask = 15};

    while (index.mask < 2 * (size_t)(to - from))
        index.mask = 2 * index.mask + 1;
    index.slots = PP_ARRAY(arena, int, index.mask + 1);
    for (int i = from; i < to; i++) {
        struct pp_trace_event *event = &trace->events[i];
        int *slot = find(&index, event->step, subject(event));
        if (event->kind != PP_WAIT) {
            *slot = i + 1;
        } else if (*slot == 0) {
            return pp_error_set(err, PP_EINVAL,
                                "rank %d of replica %d: %s waits for what was not posted before it",
                                event->rank, event->replica, event->cell);
        } else {
            event->waits_for = *slot - 1;
        }
    }
    return PP_OK;
}

enum pp_status pp_trace_link_waits(struct pp_arena *arena, struct pp_trace *trace,
                                   struct pp_error *err)
{
    for (int from = 0, to; from < trace->count; from = to) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        to = end_of_list(trace, from);
        const enum pp_status status = link_list(arena, trace, from, to, err);
        pp_arena_release(arena, mark);
        if (status != PP_OK)
            return status;
    }
    return PP_OK;
}
