/* The drawing of a trace in viewers: boxes on tracks, and their names. */
#include "traces/formats/lanes.h"

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

/* Collects boxes; waits and other control ops only if they take time. */
static int collect(const struct pp_trace *trace, int from, int to, struct pp_box *boxes)
{
    int count = 0;

    for (int i = from; i < to; i++) {
        const struct pp_trace_event *event = &trace->events[i];
        const struct pp_box box = {.start_ps = pp_trace_ps(event->start_s),
                                   .end_ps = pp_trace_ps(event->end_s),
                                   .track = track_of(event),
                                   .event = i};
        if (box.track != PP_TRACK_BLOCKED || event->end_s > event->start_s)
            boxes[count++] = box;
    }
    qsort(boxes, (size_t)count, sizeof(*boxes), compare_boxes);
    return count;
}

/* Makes the boxes of events from .. to-1; returns their number. */
static int add_list(const struct pp_trace *trace, int from, int to, struct pp_box *list)
{
    const int collected = collect(trace, from, to, list);
    int64_t end_ps[PP_LANES];
    int lanes = 0, count = 0;

    for (int i = 0; i < collected; i++) {
        struct pp_box box = list[i];
        if (i > 0 && box.track != list[i - 1].track)
            lanes = 0;
        while (box.lane < lanes && end_ps[box.lane] > box.start_ps)
            box.lane++;
        if (box.lane == PP_LANES) /* no schedule comes near it; no box is better than a wrong one */
            continue;
        box.is_first = box.lane == lanes;
        lanes += box.is_first;
        end_ps[box.lane] = box.end_ps;
        list[count++] = box;
    }
    return count;
}

struct pp_drawing pp_drawing_of(struct pp_arena *arena, const struct pp_trace *trace)
{
    struct pp_drawing drawing = {.boxes = PP_ARRAY(arena, struct pp_box, trace->count),
                                 .box_of = PP_ARRAY(arena, int, trace->count)};
    bool *is_drawn = PP_ARRAY(arena, bool, trace->count);

    for (int from = 0, to; from < trace->count; from = to) {
        to = pp_trace_list_end(trace, from);
        drawing.count += add_list(trace, from, to, &drawing.boxes[drawing.count]);
    }
    for (int i = 0; i < drawing.count; i++) {
        is_drawn[drawing.boxes[i].event] = true;
        drawing.box_of[drawing.boxes[i].event] = i;
    }
    drawing.arrow_count = pp_arrows_of(arena, trace, is_drawn, &drawing.arrows);
    return drawing;
}

void pp_write_rank(const struct pp_trace *trace, int event, FILE *out)
{
    fprintf(out, "P%d", trace->events[event].rank);
    if (trace->replicas > 1)
        fprintf(out, " replica %d", trace->events[event].replica);
}

void pp_write_track(const struct pp_box *box, FILE *out)
{
    fputs(pp_track_names[box->track], out);
    if (box->lane > 0)
        fprintf(out, " %d", box->lane + 1);
}
