/* Messages of a trace: both ends have the same key. */
#include "traces/messages.h"

#include <stdlib.h>

struct pp_message_end pp_message_end(const struct pp_op *op, int replica, int step, int event)
{
    const int direction = op->kind == PP_SEND_F || op->kind == PP_RECV_F ? 1 : -1;
    const int stage = op->stage + (pp_op_is_send(op->kind) ? direction : 0);

    return (struct pp_message_end){.key = {replica, step, direction, stage, op->mb, op->split},
                                   .is_recv = pp_op_is_recv(op->kind),
                                   .event = event};
}

bool pp_message_end_of(const struct pp_trace *trace, int event, struct pp_message_end *end)
{
    const struct pp_trace_event *e = &trace->events[event];
    struct pp_op ops[2];
    int count;

    if (!pp_op_is_send(e->kind) && !pp_op_is_recv(e->kind))
        return false;
    if (!e->cell || pp_op_parse(e->cell, ops, &count, NULL) != PP_OK)
        return false;
    *end = pp_message_end(ops, e->replica, e->step, event);
    return true;
}

static int compare_keys(const struct pp_message_end *a, const struct pp_message_end *b)
{
    for (int i = 0; i < PP_MESSAGE_KEY; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return 0;
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

int pp_arrows_of(struct pp_arena *arena, const struct pp_trace *trace, const bool *is_drawn,
                 struct pp_arrow **arrows)
{
    struct pp_message_end *ends = PP_ARRAY(arena, struct pp_message_end, trace->count);
    int end_count = 0, count = 0, capacity = 0;

    for (int i = 0; i < trace->count; i++)
        end_count += is_drawn[i] && pp_message_end_of(trace, i, &ends[end_count]);
    qsort(ends, (size_t)end_count, sizeof(*ends), pp_message_compare);
    *arrows = NULL;
    for (int from = 0, to, recv; from < end_count; from = to) {
        for (to = recv = from; to < end_count && pp_message_is_same(&ends[from], &ends[to]); to++)
            recv += !ends[to].is_recv;
        for (int k = 0; from + k < recv && recv + k < to; k++)
            *PP_PUSH(arena, *arrows, count, capacity) = (struct pp_arrow){
                .send = ends[from + k].event, .recv = ends[recv + k].event, .id = from + k};
    }
    return count;
}
