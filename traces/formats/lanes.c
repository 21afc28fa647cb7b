/* The drawing of a trace in viewers: boxes on tracks, and their names. */
#define _GNU_SOURCE /* qsort_r */
#include "traces/formats/lanes.h"

#include <stdlib.h>
#include <string.h>

const char *const pp_track_names[PP_TRACKS] = {
    [PP_TRACK_COMPUTE] = "compute",  [PP_TRACK_BLOCKED] = "blocked",
    [PP_TRACK_RECV_F] = "receive F", [PP_TRACK_SEND_F] = "send F",
    [PP_TRACK_RECV_B] = "receive B", [PP_TRACK_SEND_B] = "send B",
    [PP_TRACK_REDUCE] = "reduce",    [PP_TRACK_COPY] = "copy",
    [PP_TRACK_WEIGHTS] = "weights",  [PP_TRACK_HOST] = "host"};
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
    if (event->stream == PP_STREAM_COPY && event->cause == PP_MOVES_HOST)
        return PP_TRACK_HOST;
    return event->stream == PP_STREAM_CHANNEL ? track_of_message[event->kind]
                                              : track_of_stream[event->stream];
}

/* For qsort_r, of events of a track. */
static int compare_boxes(const void *left, const void *right, void *context)
{
    const int a = *(const int *)left, b = *(const int *)right;
    const struct pp_trace_times x = pp_trace_times_of(context, a),
                                y = pp_trace_times_of(context, b);

    if (x.start_ps != y.start_ps)
        return x.start_ps < y.start_ps ? -1 : 1;
    if (x.end_ps != y.end_ps)
        return x.end_ps < y.end_ps ? -1 : 1;
    return a - b;
}

/* Sorts the events of a track, most of which are in order. */
static void sort(const struct pp_trace *trace, int *boxes, int count)
{
    for (int i = 1; i < count; i++)
        if (compare_boxes(&boxes[i - 1], &boxes[i], (void *)trace) > 0) {
            qsort_r(boxes, (size_t)count, sizeof(*boxes), compare_boxes, (void *)trace);
            return;
        }
}

/* Gives lanes to the events of a track; returns the number of those that have one. */
static int add_track(const struct pp_trace *trace, uint16_t *lane_of, int *boxes, int count)
{
    int64_t end_ps[PP_LANES];
    int lanes = 0, drawn = 0;

    sort(trace, boxes, count);
    for (int i = 0; i < count; i++) {
        const struct pp_trace_times span = pp_trace_times_of(trace, boxes[i]);
        int lane = 0;
        while (lane < lanes && end_ps[lane] > span.start_ps)
            lane++;
        lane_of[boxes[i]] = 0;
        if (lane == PP_LANES) /* no schedule comes near it; no box is better than a wrong one */
            continue;
        lane_of[boxes[i]] = (uint16_t)((lane + 1) | (lane == lanes ? PP_FIRST_OF_LANE : 0));
        lanes += lane == lanes;
        end_ps[lane] = span.end_ps;
        boxes[drawn++] = boxes[i];
    }
    return drawn;
}

/* Waits and other control ops have a box only if they take time. */
int pp_drawing_add_list(struct pp_drawing *d, int from)
{
    const struct pp_trace *trace = d->trace;
    int counts[PP_TRACKS] = {0}, places[PP_TRACKS], list = -1, to = from;

    for (; to >= 0; to = pp_trace_next(trace, to)) {
        const struct pp_trace_event event = pp_trace_at(trace, to, NULL);
        const enum pp_track track = track_of(&event);
        if (list >= 0 && list != pp_trace_list_of(trace, &event))
            break;
        list = pp_trace_list_of(trace, &event);
        if (track == PP_TRACK_BLOCKED && event.end_s <= event.start_s)
            continue;
        counts[track]++;
        d->lane_of[to] = (uint16_t)(track + 1); /* for now */
    }
    for (int track = 0, place = d->count; track < PP_TRACKS; place += counts[track++])
        places[track] = place;
    for (int i = from; i != to; i = pp_trace_next(trace, i))
        if (d->lane_of[i])
            d->boxes[places[d->lane_of[i] - 1]++] = i;
    int begin = d->count;
    for (int track = 0; track < PP_TRACKS; begin += counts[track++]) {
        const int drawn = add_track(trace, d->lane_of, &d->boxes[begin], counts[track]);
        memmove(&d->boxes[d->count], &d->boxes[begin], sizeof(*d->boxes) * (size_t)drawn);
        d->count += drawn;
    }
    return to;
}

struct pp_drawing pp_drawing_begin(struct pp_arena *arena, const struct pp_trace *trace)
{
    return (struct pp_drawing){.trace = trace,
                               .boxes =
                                   pp_arena_alloc_raw(arena, sizeof(int) * (size_t)trace->count),
                               .lane_of = PP_ARRAY(arena, uint16_t, trace->count)};
}

void pp_drawing_add_arrows(struct pp_arena *arena, struct pp_drawing *d)
{
    d->arrow_count = pp_arrows_of(arena, d->trace, d->lane_of, &d->arrows);
}

struct pp_box pp_drawing_box(const struct pp_drawing *d, int event)
{
    struct pp_box box = {.span = pp_trace_times_of(d->trace, event),
                         .lane = (d->lane_of[event] & ~PP_FIRST_OF_LANE) - 1,
                         .is_first = d->lane_of[event] & PP_FIRST_OF_LANE,
                         .event = pp_trace_at(d->trace, event, NULL),
                         .number = event};

    box.track = track_of(&box.event);
    return box;
}

void pp_write_rank(const struct pp_trace *trace, const struct pp_trace_event *event, FILE *out)
{
    fprintf(out, "P%d", event->rank);
    if (trace->replicas > 1)
        fprintf(out, " replica %d", event->replica);
}

void pp_write_track(const struct pp_box *box, FILE *out)
{
    fputs(pp_track_names[box->track], out);
    if (box->lane > 0)
        fprintf(out, " %d", box->lane + 1);
}
