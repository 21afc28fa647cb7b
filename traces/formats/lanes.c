/* A trace as viewers draw it: boxes on tracks, arrows between them. */
#include "traces/formats/lanes.h"

#include <math.h>
#include <stdlib.h>

const char *const pp_track_names[PP_TRACKS] = {
    [PP_TRACK_COMPUTE] = "compute",  [PP_TRACK_BLOCKED] = "blocked",
    [PP_TRACK_RECV_F] = "receive F", [PP_TRACK_SEND_F] = "send F",
    [PP_TRACK_RECV_B] = "receive B", [PP_TRACK_SEND_B] = "send B",
    [PP_TRACK_REDUCE] = "reduce",    [PP_TRACK_COPY] = "copy",
    [PP_TRACK_WEIGHTS] = "weights"};
static const enum pp_track track_of_message[PP_OP_KINDS] = {[PP_RECV_F] = PP_TRACK_RECV_F,
                                                            [PP_SEND_F] = PP_TRACK_SEND_F,
                                                            [PP_RECV_B] = PP_TRACK_RECV_B,
                                                            [PP_SEND_B] = PP_TRACK_SEND_B};
static const enum pp_track track_of_stream[] = {[PP_STREAM_COMPUTE] = PP_TRACK_COMPUTE,
                                                [PP_STREAM_REDUCE] = PP_TRACK_REDUCE,
                                                [PP_STREAM_COPY] = PP_TRACK_COPY,
                                                [PP_STREAM_CONTROL] = PP_TRACK_BLOCKED};

int pp_trace_process(const struct pp_trace *trace, int event)
{
    return trace->events[event].replica * trace->ranks + trace->events[event].rank;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static int64_t picoseconds(double seconds)
{
    return llround(fmin(fmax(seconds * 1e12, 0), 4e18));
}

static enum pp_track track_of(const struct pp_trace_event *event)
{
    if (event->is_concurrent)
        return PP_TRACK_WEIGHTS;
    return event->stream == PP_STREAM_CHANNEL ? track_of_message[event->kind]
                                              : track_of_stream[event->stream];
}

static int compare_boxes(const void *left, const void *right)
{
    const struct pp_box *a = left, *b = right;

    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->end_ps != b->end_ps)
        return a->end_ps < b->end_ps ? -1 : 1;
    return a->event - b->event;
}

/* Waits and other control ops only where they take time. */
static int collect(const struct pp_trace *trace, int from, int to, struct pp_box *boxes)
{
    int count = 0;

    for (int i = from; i < to; i++) {
        const struct pp_trace_event *event = &trace->events[i];
        const struct pp_box box = {.start_ps = picoseconds(event->start_s),
                                   .end_ps = picoseconds(event->end_s),
                                   .track = track_of(event),
                                   .event = i};
        if (box.track != PP_TRACK_BLOCKED || box.end_ps > box.start_ps)
            boxes[count++] = box;
    }
    qsort(boxes, (size_t)count, sizeof(*boxes), compare_boxes);
    return count;
}

int pp_boxes_of(struct pp_arena *arena, const struct pp_trace *trace, int from, int to,
                struct pp_box **boxes)
{
    struct pp_box *list = *boxes = PP_ARRAY(arena, struct pp_box, to - from);
    const int collected = collect(trace, from, to, list);
    int64_t end_ps[PP_LANES];
    int lanes = 0, count = 0;

    for (int i = 0; i < collected; i++) {
        struct pp_box box = list[i];
        if (i > 0 && box.track != list[i - 1].track)
            lanes = 0;
        while (box.lane < lanes && end_ps[box.lane] > box.start_ps)
            box.lane++;
        if (box.lane == PP_LANES) /* nothing of ours comes near; better no box than a wrong one */
            continue;
        box.is_first = box.lane == lanes;
        lanes += box.is_first;
        end_ps[box.lane] = box.end_ps;
        list[count++] = box;
    }
    return count;
}

/* ---- arrows ---------------------------------------------------------------------------------- */

struct message {
    int key[6]; /* replica, step, direction, receiving stage, micro-batch, split */
    bool is_recv;
    int event;
};

static int compare_messages(const void *left, const void *right)
{
    const struct message *a = left, *b = right;

    for (int i = 0; i < 6; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return (int)a->is_recv - (int)b->is_recv;
}

static bool describe(const struct pp_trace *trace, int event, struct message *message)
{
    const struct pp_trace_event *e = &trace->events[event];
    struct pp_op ops[2];
    int count;

    if (e->stream != PP_STREAM_CHANNEL || pp_op_parse(e->cell, ops, &count, NULL) != PP_OK)
        return false;
    const int direction = e->kind == PP_SEND_F || e->kind == PP_RECV_F ? 1 : -1;
    const int stage = ops[0].stage + (pp_op_is_send(e->kind) ? direction : 0);
    *message =
        (struct message){.key = {e->replica, e->step, direction, stage, ops[0].mb, ops[0].split},
                         .is_recv = pp_op_is_recv(e->kind),
                         .event = event};
    return true;
}

int pp_arrows_of(struct pp_arena *arena, const struct pp_trace *trace, const bool *is_drawn,
                 struct pp_arrow **arrows)
{
    struct message *messages = PP_ARRAY(arena, struct message, trace->count);
    int ends = 0, count = 0, capacity = 0;

    for (int i = 0; i < trace->count; i++)
        if (is_drawn[i] && describe(trace, i, &messages[ends]))
            ends++;
    qsort(messages, (size_t)ends, sizeof(*messages), compare_messages);
    *arrows = NULL;
    for (int i = 0; i + 1 < ends; i++) {
        struct message as_send = messages[i + 1];
        as_send.is_recv = false;
        if (messages[i].is_recv || !messages[i + 1].is_recv ||
            compare_messages(&messages[i], &as_send) != 0)
            continue;
        *PP_PUSH(arena, *arrows, count, capacity) =
            (struct pp_arrow){.send = messages[i].event, .recv = messages[i + 1].event, .id = i};
    }
    return count;
}
