/* sim/export/walk.h — turns a rank's list into tasks. Private to sim/export. */
#pragma once

#include "sim/export/export.h"

enum {
    LANE_COMPUTE,
    LANE_MESSAGES,
    LANE_REDUCE,
    LANE_COPY, /* its streams */
    LANE_WIRES = LANE_COPY + PP_COPY_STREAMS
};
/* Readers count ports in a byte, so the number 255 would make it overflow. */
enum { MAX_LANES = 255, RING_PORT = 254, LATER = -2 };

/* Walk over the list of one node. */
struct pp_export_walk {
    const struct pp_export *export;
    const struct pp_program *program;
    struct pp_arena *arena;
    struct pp_tasks *tasks;
    int rank, replica;
    int event;  /* of the trace, for the current instruction */
    int *clock; /* tasks that must end before the rank is free */
    int clock_count, clock_capacity;
    int32_t *done;   /* [position]: task that ends it; -1 = at once, LATER = added at its WAIT */
    int32_t *inside; /* [position]: part of a backward after which a bucket is posted, or -1 */
    int32_t *wire;   /* [channel]: last transfer that this node has begun, or -1 */
    int last_wire, last_collective, last_share, last_copy[PP_COPY_STREAMS], barriers;
};

/* Adds a task; returns its index. */
int pp_export_add(struct pp_export_walk *w, struct pp_task task);
int pp_walk_calc(struct pp_export_walk *w, int lane, int64_t ps, int instruction);
/* Adds a message that only orders nodes. */
int pp_walk_token(struct pp_export_walk *w, enum pp_task_kind kind, int lane, int peer,
                  int peer_lane, uint32_t tag);
/* Make the last task wait: for `input` (-1: for nothing), or for all tasks of the rank's clock. */
void pp_walk_need(struct pp_export_walk *w, int input);
void pp_walk_need_clock(struct pp_export_walk *w);
/* Make the rank wait: for this task alone, or for this one, too. */
void pp_walk_set_clock(struct pp_export_walk *w, int task);
void pp_walk_wait(struct pp_export_walk *w, int task);
/* Event of the current instruction, and its duration. */
const struct pp_trace_event *pp_walk_event(const struct pp_export_walk *w);
int64_t pp_walk_lasted_ps(const struct pp_export_walk *w);

static inline bool pp_walk_has_collectives(const struct pp_export_walk *w)
{
    return w->export->wires == PP_WIRES_COLLECTIVES;
}

void pp_walk_collective(struct pp_export_walk *w, int i);
/* Adds work of the node alone, after `last` of its lane; returns its task. */
int pp_walk_alone(struct pp_export_walk *w, int lane, int last, int i);
/* Adds a barrier of all ranks of all replicas; returns its last task. */
int pp_walk_barrier(struct pp_export_walk *w, int i);
