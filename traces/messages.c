/* Messages of a trace: both ends have the same key. */
#include "traces/messages.h"

#include "core/heap.h"
#include "traces/events.h"

struct pp_message_end pp_message_end(const struct pp_op *op, int replica, int step, int event)
{
    const int direction = op->kind == PP_SEND_F || op->kind == PP_RECV_F ? 1 : -1;

    return (struct pp_message_end){.replica = replica,
                                   .step = step,
                                   .stage = op->stage + (pp_op_is_send(op->kind) ? direction : 0),
                                   .mb = op->mb,
                                   .direction = direction,
                                   .split = op->split,
                                   .is_recv = pp_op_is_recv(op->kind),
                                   .event = event};
}

bool pp_message_end_of(const struct pp_trace *trace, int event, struct pp_message_end *end)
{
    const struct pp_trace_event e = pp_trace_at(trace, event, NULL);
    struct pp_op ops[2];
    int count;

    if (!pp_op_is_send(e.kind) && !pp_op_is_recv(e.kind))
        return false;
    if (trace->source)
        ops[0] = pp_trace_source_op(trace->source, event);
    else if (!e.cell || pp_op_parse(e.cell, ops, &count, NULL) != PP_OK)
        return false;
    *end = pp_message_end(ops, e.replica, e.step, event);
    return true;
}

static int compare(int a, int b)
{
    return (a > b) - (a < b);
}

static int compare_keys(const struct pp_message_end *a, const struct pp_message_end *b)
{
    if (a->replica != b->replica)
        return compare(a->replica, b->replica);
    if (a->step != b->step)
        return compare(a->step, b->step);
    if (a->direction != b->direction)
        return compare(a->direction, b->direction);
    if (a->stage != b->stage)
        return compare(a->stage, b->stage);
    return a->mb != b->mb ? compare(a->mb, b->mb) : compare((int)a->split, (int)b->split);
}

bool pp_message_is_same(const struct pp_message_end *a, const struct pp_message_end *b)
{
    return compare_keys(a, b) == 0;
}

int pp_message_compare(const void *left, const void *right)
{
    const struct pp_message_end *a = left, *b = right;
    const int order = compare_keys(a, b);

    if (order != 0)
        return order;
    return a->is_recv != b->is_recv ? (int)a->is_recv - (int)b->is_recv : a->event - b->event;
}

static inline bool is_after(struct pp_message_end a, struct pp_message_end b)
{
    return pp_message_compare(&a, &b) > 0;
}
PP_HEAP(latest, struct pp_message_end, 4, is_after)

/* Sorts in place: they are many, and qsort() takes a copy. */
static void sort(struct pp_arena *arena, struct pp_message_end *ends, int count)
{
    struct latest heap = {.data = ends, .capacity = count};

    for (int i = 0; i < count; i++)
        latest_push(arena, &heap, ends[i]);
    for (int i = count - 1; i >= 0; i--)
        ends[i] = latest_pop(&heap);
}

/* Lists the ends of messages, sorted. */
static struct pp_message_end *ends_of(struct pp_arena *arena, const struct pp_trace *trace,
                                      const uint16_t *lane_of, int *count)
{
    struct pp_message_end *ends;
    int most = 0;

    for (int i = pp_trace_next(trace, -1); i >= 0; i = pp_trace_next(trace, i))
        most += lane_of[i] && pp_trace_at(trace, i, NULL).stream == PP_STREAM_CHANNEL;
    ends = pp_arena_alloc_raw(arena, sizeof(*ends) * (size_t)(most + 1));
    *count = 0;
    for (int i = pp_trace_next(trace, -1); i >= 0; i = pp_trace_next(trace, i))
        *count += lane_of[i] && pp_message_end_of(trace, i, &ends[*count]);
    sort(arena, ends, *count);
    return ends;
}

int pp_arrows_of(struct pp_arena *arena, const struct pp_trace *trace, const uint16_t *lane_of,
                 struct pp_arrow **arrows)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    int end_count, count = 0;
    struct pp_message_end *ends = ends_of(scratch, trace, lane_of, &end_count);

    *arrows = pp_arena_alloc_raw(arena, sizeof(**arrows) * (size_t)(end_count / 2));
    for (int from = 0, to, recv; from < end_count; from = to) {
        for (to = recv = from; to < end_count && pp_message_is_same(&ends[from], &ends[to]); to++)
            recv += !ends[to].is_recv;
        for (int k = 0; from + k < recv && recv + k < to; k++)
            (*arrows)[count++] = (struct pp_arrow){
                .send = ends[from + k].event, .recv = ends[recv + k].event, .id = from + k};
    }
    return count;
}
