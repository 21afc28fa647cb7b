/* Messages of a timeline: the op that made each and the op that uses it. */
#include "traces/messages.h"

#include "plots/timeline/timeline.h"

#include <math.h>

/* 1 if the kind makes or uses activations (F), -1 if it does gradients (B, I), else 0. */
static int direction_of(int kind)
{
    return kind == PP_F ? 1 : kind == PP_B || kind == PP_I ? -1 : 0;
}

static bool is_for(const struct pp_timeline_op *op, const struct pp_message_end *end, int stage)
{
    return direction_of(op->kind) == end->direction && op->stage == stage &&
           op->split == end->split && end->mb >= op->mb && end->mb < op->mb + op->granules;
}

/* The box of a rank that computes the message's data at that stage. */
static const struct pp_timeline_box *find_box(const struct pp_timeline *t,
                                              const struct pp_message_end *end, int stage, int rank)
{
    for (int i = t->begin[rank]; i < t->begin[rank + 1]; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        if (t->steps[box->step].number == end->step &&
            (is_for(&box->op, end, stage) || (box->is_fused && is_for(&box->second, end, stage))))
            return box;
    }
    return NULL;
}

static struct pp_timeline_message describe(const struct pp_timeline *t,
                                           const struct pp_trace_event *from,
                                           const struct pp_trace_event *to,
                                           const struct pp_message_end *end)
{
    const struct pp_timeline_box *made = find_box(t, end, end->stage - end->direction, from->rank);
    const struct pp_timeline_box *used = find_box(t, end, end->stage, to->rank);

    return (struct pp_timeline_message){.from = from->rank,
                                        .to = to->rank,
                                        .start_s = to->start_s,
                                        .end_s = to->end_s,
                                        .made_s = made ? made->end_s : (double)NAN,
                                        .used_s = used ? used->start_s : (double)NAN};
}

struct pp_timeline_message *pp_timeline_messages(struct pp_arena *arena,
                                                 const struct pp_timeline *timeline, double from_s,
                                                 double to_s, int most, int *count)
{
    const struct pp_trace *trace = timeline->trace;
    uint16_t *is_ours = PP_ARRAY(arena, uint16_t, trace->count);
    struct pp_timeline_message *messages = NULL;
    struct pp_arrow *arrows;
    int shown = 0, capacity = 0;

    *count = 0;
    for (int i = 0; i < trace->count; i++)
        is_ours[i] = trace->events[i].replica == 0;
    const int all = pp_arrows_of(arena, trace, is_ours, &arrows);
    for (int i = 0; i < all; i++) {
        const struct pp_trace_event *from = &trace->events[arrows[i].send],
                                    *to = &trace->events[arrows[i].recv];
        if (from->rank != to->rank && to->end_s >= from_s && to->start_s <= to_s)
            arrows[shown++] = arrows[i];
    }
    for (int i = 0; i < shown && shown <= most; i++) {
        struct pp_message_end end;
        pp_message_end_of(trace, arrows[i].send, &end);
        *PP_PUSH(arena, messages, *count, capacity) = describe(
            timeline, &trace->events[arrows[i].send], &trace->events[arrows[i].recv], &end);
    }
    return messages;
}
