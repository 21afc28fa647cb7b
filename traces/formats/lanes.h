/* traces/formats/lanes.h — a trace as viewers draw it: ranks with tracks, tracks with boxes that do
 * not overlap, arrows from sends to receives. */
#pragma once

#include "traces/messages.h"

#include <stdbool.h>

enum pp_track {
    PP_TRACK_COMPUTE,
    PP_TRACK_BLOCKED, /* waits and other control ops, where they take time */
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

enum { PP_LANES = 1000 }; /* of one track, at most */
struct pp_box {
    int64_t start_ps, end_ps;
    enum pp_track track;
    int lane;      /* from 0: a track grows lanes where its events overlap */
    bool is_first; /* of its lane */
    int event;
};

/* All that is drawn of a trace. */
struct pp_drawing {
    struct pp_box
        *boxes; /* [count] by list, track and start. Beyond the last lane there are none */
    int count;
    int *box_of;             /* [event] of those that have one */
    struct pp_arrow *arrows; /* [arrow_count] between boxes */
    int arrow_count;
};
struct pp_drawing pp_drawing_of(struct pp_arena *arena, const struct pp_trace *trace);

/* "P3 replica 1" */
void pp_write_rank(const struct pp_trace *trace, int event, FILE *out);
/* "send F 2" */
void pp_write_track(const struct pp_box *box, FILE *out);
