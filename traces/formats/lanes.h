/* traces/formats/lanes.h — drawing of a trace: tracks of ranks with disjoint boxes, and arrows. */
#pragma once

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
    PP_TRACKS
};
extern const char *const pp_track_names[PP_TRACKS]; /* "compute", "send F", ... */

enum { PP_LANES = 1000 }; /* most lanes of a track */
struct pp_box {
    int64_t start_ps, end_ps;
    enum pp_track track;
    int lane;      /* from 0: a track has several if its events overlap */
    bool is_first; /* first box of its lane */
    int event;
};

struct pp_drawing {
    struct pp_box *boxes; /* [count] by list, track and start; without those beyond the last lane */
    int count;
    int *box_of;             /* [event] index of its box, if it has one */
    struct pp_arrow *arrows; /* [arrow_count] between boxes */
    int arrow_count;
};
struct pp_drawing pp_drawing_of(struct pp_arena *arena, const struct pp_trace *trace);

/* "P3 replica 1" */
void pp_write_rank(const struct pp_trace *trace, int event, FILE *out);
/* "send F 2" */
void pp_write_track(const struct pp_box *box, FILE *out);
