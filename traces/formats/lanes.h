/* traces/formats/lanes.h — drawing of a trace: tracks of ranks with disjoint boxes, and arrows. */
#pragma once

#include "traces/events.h"
#include "traces/messages.h"

#include <stdbool.h>

enum pp_track {
    PP_TRACK_COMPUTE,
    PP_TRACK_BLOCKED, /* waits and other control ops that take time */
    PP_TRACK_RECV_F,
    PP_TRACK_SEND_F,
    PP_TRACK_RECV_B,
    PP_TRACK_SEND_B,
    PP_TRACK_REDUCE,
    PP_TRACK_COPY,
    PP_TRACK_WEIGHTS, /* W concurrent with other compute */
    PP_TRACK_HOST,    /* updates by the processors of the host */
    PP_TRACKS
};
extern const char *const pp_track_names[PP_TRACKS]; /* "compute", "send F", ... */

enum { PP_LANES = 1000 }; /* most lanes of a track */
struct pp_box {
    struct pp_trace_times span;
    enum pp_track track;
    int lane;                    /* from 0: a track has several if its events overlap */
    bool is_first;               /* first box of its lane */
    struct pp_trace_event event; /* without a cell, if it is made */
    int number;
};

enum { PP_FIRST_OF_LANE = 1 << 15 };
struct pp_drawing {
    const struct pp_trace *trace;
    int *boxes; /* [count] events by list, track and start; without those beyond the last lane */
    int count;
    uint16_t *lane_of;       /* [event] its lane from 1, and PP_FIRST_OF_LANE; 0 = it has no box */
    struct pp_arrow *arrows; /* [arrow_count] between boxes */
    int arrow_count;
};
/* Begins a drawing, without boxes and arrows. */
struct pp_drawing pp_drawing_begin(struct pp_arena *arena, const struct pp_trace *trace);
/* Adds the boxes of the list that begins at event `from` after those in `boxes`, which a caller may
 * forget. Returns the first event of the next list, or -1. */
int pp_drawing_add_list(struct pp_drawing *drawing, int from);
/* Adds the arrows, after all lists. */
void pp_drawing_add_arrows(struct pp_arena *arena, struct pp_drawing *drawing);
/* The box of an event that has one. */
struct pp_box pp_drawing_box(const struct pp_drawing *drawing, int event);

/* "P3 replica 1" */
void pp_write_rank(const struct pp_trace *trace, const struct pp_trace_event *event, FILE *out);
/* "send F 2" */
void pp_write_track(const struct pp_box *box, FILE *out);
