/* Functions for readers of traces: events from cells, lists, and the events that WAITs wait for. */
#include "traces/trace.h"

#include "core/hash.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_LISTS = 1 << 24 };

int pp_trace_list_end(const struct pp_trace *trace, int from)
{
    int to = from;

    while (to < trace->count && trace->events[to].rank == trace->events[from].rank &&
           trace->events[to].replica == trace->events[from].replica)
        to++;
    return to;
}

enum pp_status pp_trace_read_cell(struct pp_arena *arena, const char *cell, bool is_concurrent,
                                  struct pp_trace_event *event, struct pp_error *err)
{
    struct pp_op ops[2];
    int count;

    if (pp_op_parse(cell, ops, &count, err) != PP_OK) {
        if (err != NULL)
            err->status = PP_EINVAL;
        return PP_EINVAL;
    }
    event->cell = pp_arena_strdup(arena, cell);
    event->kind = ops[0].kind;
    event->is_fused = count == 2;
    event->target = event->kind == PP_WAIT ? ops[0].aux : 0;
    const int kind = event->kind == PP_WAIT ? event->target : event->kind;
    if (pp_op_is_move(kind))
        event->cause = (uint8_t)pp_move_cause(kind, ops[0].purpose);
    event->stream = (uint8_t)pp_op_kinds[event->kind].stream;
    event->is_concurrent = event->kind == PP_W && is_concurrent;
    return PP_OK;
}

enum pp_status pp_trace_set_lists(struct pp_trace *trace, int64_t max_rank, int64_t max_replica,
                                  int64_t max_step, struct pp_error *err)
{
    const int64_t ranks = max_rank + 1, replicas = max_replica + 1;

    if (ranks > MAX_LISTS || replicas > MAX_LISTS || ranks * replicas > MAX_LISTS)
        return pp_error_set(err, PP_EINVAL, "%" PRId64 " ranks x %" PRId64 " replicas exceed %d",
                            ranks, replicas, MAX_LISTS);
    trace->ranks = (int)ranks;
    trace->replicas = (int)replicas;
    trace->steps = (int)max_step + 1;
    return PP_OK;
}

/* ---- waits ----------------------------------------------------------------------------------- */

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

/* The cell without its buffer slot "[k]"; of a WAIT the cell of the op waited for. */
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

/* The slot of an event of this step and text, or the free slot for it. */
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
        to = pp_trace_list_end(trace, from);
        const enum pp_status status = link_list(arena, trace, from, to, err);
        pp_arena_release(arena, mark);
        if (status != PP_OK)
            return status;
    }
    return PP_OK;
}
