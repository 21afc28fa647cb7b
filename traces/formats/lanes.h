/* traces/formats/lanes.h — a trace as viewers draw it: ranks with tracks, tracks with boxes that do
 * not overlap, arrows from sends to receives. */
#pragma once

#include "traces/trace.h"

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

/* The number of an event's list: of its rank and replica. */
int pp_trace_process(const struct pp_trace *trace, int event);
/* The boxes of events from .. to-1, by track and start, in the arena; returns how many. Beyond the
 * last lane nothing is drawn. */
int pp_boxes_of(struct pp_arena *arena, const struct pp_trace *trace, int from, int to,
                struct pp_box **boxes);

/* A message whose two events are both in the trace. */
struct pp_arrow {
    int send, recv; /* events */
    int id;         /* another one for each arrow, not always the next */
};
/* All of them in the arena, but those of events that `is_drawn` [event] leaves out; returns how
 * many. */
int pp_arrows_of(struct pp_arena *arena, const struct pp_trace *trace, const bool *is_drawn,
                 struct pp_arrow **arrows);
