/* Which op made a message and which one uses it. */
#include "traces/messages.h"

#include "plots/timeline/timeline.h"

#include <math.h>
#include <stdlib.h>

/* Boxes under the keys of the messages that they use, or of those made for their own stage. */
struct boxes {
    struct pp_message_end *ends; /* `event`: the box */
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
                *PP_PUSH(arena, boxes.ends, boxes.count, boxes.capacity) = (struct pp_message_end){
                    .key = {0, t->steps[box->step].number, direction_of(ops[k]->kind),
                            ops[k]->stage, ops[k]->mb + g, ops[k]->split},
                    .event = i};
    }
    if (boxes.count > 0)
        qsort(boxes.ends, (size_t)boxes.count, sizeof(*boxes.ends), pp_message_compare);
    return boxes;
}

/* `key` is a SEND of event -1, which no box comes before. */
static const struct pp_timeline_box *find_box(const struct pp_timeline *t,
                                              const struct boxes *boxes,
                                              const struct pp_message_end *key, int rank)
{
    int low = 0, high = boxes->count;

    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (pp_message_compare(&boxes->ends[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < boxes->count && pp_message_is_same(&boxes->ends[low], key); low++)
        if (t->boxes[boxes->ends[low].event].rank == rank)
            return &t->boxes[boxes->ends[low].event];
    return NULL;
}

static struct pp_timeline_message describe(const struct pp_timeline *t, const struct boxes *boxes,
                                           const struct pp_arrow *arrow)
{
    const struct pp_trace_event *from = &t->trace->events[arrow->send],
                                *to = &t->trace->events[arrow->recv];
    struct pp_message_end key;

    pp_message_end_of(t->trace, arrow->send, &key);
    key.event = -1;
    const struct pp_timeline_box *used = find_box(t, boxes, &key, to->rank);
    key.key[3] -= key.key[2]; /* made for the stage before it */
    const struct pp_timeline_box *made = find_box(t, boxes, &key, from->rank);
    return (struct pp_timeline_message){.from = from->rank,
                                        .to = to->rank,
                                        .start_s = to->start_s,
                                        .end_s = to->end_s,
                                        .made_s = made ? made->end_s : (double)NAN,
                                        .used_s = used ? used->start_s : (double)NAN};
}

struct pp_timeline_message *pp_timeline_messages(struct pp_arena *arena,
                                                 const struct pp_timeline *timeline, int *count)
{
    const struct pp_trace *trace = timeline->trace;
    const struct boxes boxes = index_boxes(arena, timeline);
    bool *is_ours = PP_ARRAY(arena, bool, trace->count);
    struct pp_arrow *arrows;

    for (int i = 0; i < trace->count; i++)
        is_ours[i] = trace->events[i].replica == 0;
    *count = pp_arrows_of(arena, trace, is_ours, &arrows);
    struct pp_timeline_message *messages = PP_ARRAY(arena, struct pp_timeline_message, *count);
    for (int i = 0; i < *count; i++)
        messages[i] = describe(timeline, &boxes, &arrows[i]);
    return messages;
}
