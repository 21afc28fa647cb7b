/* sim/export/walk.h — the walk that turns a rank's list into tasks. Private to sim/export. */
#pragma once

#include "sim/export/export.h"

enum { LANE_COMPUTE, LANE_MESSAGES, LANE_REDUCE, LANE_COPY, LANE_WIRES = LANE_COPY + 2 };
enum { MAX_LANES = 256, RING_PORT = 255, LATER = -2 };

/* The walk over the list of one node. */
struct pp_export_walk {
    const struct pp_export *export;
    const struct pp_program *program;
    struct pp_arena *arena;
    struct pp_tasks *tasks;
    int rank, replica;
    int event;  /* of the trace: that of the instruction at hand */
    int *clock; /* tasks that are over when the rank is free */
    int clock_count, clock_capacity;
    int32_t *done; /* [position]: the task at whose end the instruction is over; -1 = at once, LATER
                    * = it is added where it is waited for */
    int32_t *inside; /* [position]: the part of a backward after which a bucket is posted, or
                      * -1 */
    int32_t *wire;   /* [channel]: the last transfer that this node has begun, or -1 */
    int last_wire, last_collective, last_copy[PP_COPY_STREAMS], barriers;
};

/* ---- sim/export/walk.c ---- */
/* Its index. */
int pp_export_add(struct pp_export_walk *w, struct pp_task task);
int pp_walk_calc(struct pp_export_walk *w, int lane, int64_t ps, int instruction);
/* What orders nodes and is no message of the program. */
int pp_walk_token(struct pp_export_walk *w, enum pp_task_kind kind, int peer, uint32_t tag);
/* The last task added needs another (-1 is over from the start), or all that the rank's clock says.
 */
void pp_walk_need(struct pp_export_walk *w, int input);
void pp_walk_need_clock(struct pp_export_walk *w);
/* The rank continues after this task; after this one, too. */
void pp_walk_set_clock(struct pp_export_walk *w, int task);
void pp_walk_wait(struct pp_export_walk *w, int task);
/* Of the instruction at hand. */
const struct pp_trace_event *pp_walk_event(const struct pp_export_walk *w);
int64_t pp_walk_lasted_ps(const struct pp_export_walk *w);

static inline bool pp_walk_has_collectives(const struct pp_export_walk *w)
{
    return w->export->wires == PP_WIRES_COLLECTIVES;
}

/* ---- sim/export/collectives.c ---- */
void pp_walk_collective(struct pp_export_walk *w, int i);
/* Work of the node alone, after `last` of its lane. */
int pp_walk_alone(struct pp_export_walk *w, int lane, int last, int i);
/* All ranks of all replicas meet. */
int pp_walk_barrier(struct pp_export_walk *w, int i);
