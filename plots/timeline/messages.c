/* Which SEND is which RECV, which op made the message and which one uses it. */
#include "plots/timeline/timeline.h"

#include <math.h>
#include <stdlib.h>

/* Common to a SEND, its RECV, the box that makes the message and the box that uses it. */
struct key {
    int step, direction, stage, mb, split; /* stage: the receiving one, or that of the box */
};
struct end {
    struct key key;
    int index; /* of the event or box */
    bool is_recv;
};

static int compare_keys(const struct key *a, const struct key *b)
{
    const int differences[] = {a->step - b->step, a->direction - b->direction, a->stage - b->stage,
                               (a->mb > b->mb) - (a->mb < b->mb), a->split - b->split};

    for (int i = 0; i < 5; i++)
        if (differences[i] != 0)
            return differences[i];
    return 0;
}

/* Equal ones in the order of the trace. */
static int compare_ends(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    const int order = compare_keys(&a->key, &b->key);

    if (order != 0)
        return order;
    if (a->is_recv != b->is_recv)
        return a->is_recv - b->is_recv;
    return (a->index > b->index) - (a->index < b->index);
}

/* ---- boxes by what they compute -------------------------------------------------------------- */

struct boxes {
    struct end *ends;
    int count, capacity;
};

/* A forward makes or uses activations; B and I make or use gradients. */
static int direction_of(int kind)
{
    return kind == PP_F ? 1 : kind == PP_B || kind == PP_I ? -1 : 0;
}

static struct boxes index_boxes(struct pp_arena *arena, const struct pp_timeline *t)
{
    struct boxes boxes = {0};

    for (int i = 0; i < t->count; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        const struct pp_timeline_op *ops[] = {&box->op, &box->second};
        for (int k = 0; k <= box->is_fused; k++)
            for (int g = 0; direction_of(ops[k]->kind) != 0 && g < ops[k]->granules; g++)
                *PP_PUSH(arena, boxes.ends, boxes.count, boxes.capacity) =
                    (struct end){.key = {box->step, direction_of(ops[k]->kind), ops[k]->stage,
                                         ops[k]->mb + g, ops[k]->split},
                                 .index = i};
    }
    if (boxes.count > 0)
        qsort(boxes.ends, (size_t)boxes.count, sizeof(*boxes.ends), compare_ends);
    return boxes;
}

static const struct pp_timeline_box *find_box(const struct pp_timeline *t,
                                              const struct boxes *boxes, struct key key, int rank)
{
    int low = 0, high = boxes->count;

    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (compare_keys(&boxes->ends[middle].key, &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < boxes->count && compare_keys(&boxes->ends[low].key, &key) == 0; low++)
        if (t->boxes[boxes->ends[low].index].rank == rank)
            return &t->boxes[boxes->ends[low].index];
    return NULL;
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool describe(const struct pp_timeline *t, int index, int step, struct end *end)
{
    const struct pp_trace_event *event = &t->trace->events[index];
    struct pp_op ops[2];
    int count;

    if (!(pp_op_is_send(event->kind) || pp_op_is_recv(event->kind)) || !event->cell ||
        pp_op_parse(event->cell, ops, &count, NULL) != PP_OK)
        return false;
    const int direction = event->kind == PP_SEND_F || event->kind == PP_RECV_F ? 1 : -1;
    const bool is_recv = pp_op_is_recv(event->kind);
    *end = (struct end){
        .key = {step, direction, ops[0].stage + (is_recv ? 0 : direction), ops[0].mb, ops[0].split},
        .index = index,
        .is_recv = is_recv};
    return true;
}

static int step_of(const struct pp_timeline *t, int number)
{
    int step = 0;

    while (t->steps[step].number != number)
        step++;
    return step;
}

static struct end *collect(struct pp_arena *arena, const struct pp_timeline *t, int *count)
{
    struct end *ends = NULL, end;
    int capacity = 0, step = 0;

    *count = 0;
    for (int i = 0; i < t->trace->count; i++) {
        const struct pp_trace_event *event = &t->trace->events[i];
        if (event->replica != t->replica)
            continue;
        if (t->steps[step].number != event->step)
            step = step_of(t, event->step);
        if (describe(t, i, step, &end))
            *PP_PUSH(arena, ends, *count, capacity) = end;
    }
    if (*count > 0)
        qsort(ends, (size_t)*count, sizeof(*ends), compare_ends);
    return ends;
}

static struct pp_timeline_message join(const struct pp_timeline *t, const struct boxes *boxes,
                                       const struct end *send, const struct end *recv)
{
    const struct pp_trace_event *from = &t->trace->events[send->index],
                                *to = &t->trace->events[recv->index];
    struct key maker = send->key;

    maker.stage -= send->key.direction;
    const struct pp_timeline_box *made = find_box(t, boxes, maker, from->rank);
    const struct pp_timeline_box *used = find_box(t, boxes, recv->key, to->rank);
    return (struct pp_timeline_message){.from = from->rank,
                                        .to = to->rank,
                                        .step = send->key.step,
                                        .is_backward = send->key.direction < 0,
                                        .start_s = to->start_s,
                                        .end_s = to->end_s,
                                        .made_s = made ? made->end_s : (double)NAN,
                                        .used_s = used ? used->start_s : (double)NAN};
}

/* Ends of one key: first all sends, then all receives; the k-th belongs to the k-th. */
struct pp_timeline_message *pp_timeline_messages(struct pp_arena *arena,
                                                 const struct pp_timeline *timeline, int *count)
{
    struct pp_timeline_message *messages = NULL;
    int ends_count, capacity = 0;
    const struct end *ends = collect(arena, timeline, &ends_count);
    const struct boxes boxes = index_boxes(arena, timeline);

    *count = 0;
    for (int from = 0, to, recv; from < ends_count; from = to) {
        for (to = recv = from; to < ends_count && compare_keys(&ends[from].key, &ends[to].key) == 0;
             to++)
            recv += !ends[to].is_recv;
        for (int k = 0; from + k < recv && recv + k < to; k++)
            *PP_PUSH(arena, messages, *count, capacity) =
                join(timeline, &boxes, &ends[from + k], &ends[recv + k]);
    }
    return messages;
}
