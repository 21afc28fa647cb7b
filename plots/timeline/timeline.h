/* plots/timeline/timeline.h — the boxes of a timeline, from a trace alone.
 *
 * A trace has cells, no program. Pipelines and chunks are found in its events. A pipeline is the
 * path of micro-batches through the ranks, numbered by its first micro-batch; without micro-batches
 * it is not found. A chunk is the index of a stage among those of its pipeline on its rank. */
#pragma once

#include "core/op.h"
#include "traces/trace.h"

#include <stdbool.h>

struct pp_timeline_op {
    uint8_t kind;         /* enum pp_op_kind, of a compute op */
    uint8_t split;        /* index of the sequence split */
    uint8_t granules;     /* micro-batches mb .. mb + granules - 1; 0 if mb is -1 */
    uint16_t stage;       /* in its pipeline */
    uint16_t pipe, chunk; /* 0 .. pipes - 1, 0 .. chunks - 1 */
    int32_t mb;           /* -1 if the kind has none */
};

/* One compute event. */
struct pp_timeline_box {
    int rank, step;                   /* step: index into `steps` */
    bool is_fused;                    /* a fused pair: both ops run all the time */
    float forward_frac;               /* share of `op` in a fused pair; a third if unknown */
    struct pp_timeline_op op, second; /* `second` of a fused pair only */
    double start_s, end_s;
};

/* A copy between memory tiers, or work of the host, that takes time. */
struct pp_timeline_copy {
    int rank;
    enum pp_copy_stream stream;
    double start_s, end_s;
};

struct pp_timeline_message {
    int from, to;          /* ranks */
    double start_s, end_s; /* times of the transfer */
    double made_s, used_s; /* end of the op that made it, start of the op that uses it; NAN if the
                            * trace has no such op */
};

struct pp_timeline_step {
    int number;   /* in the trace */
    double end_s; /* end of its last event, WAITs excluded */
};

struct pp_timeline {
    const struct pp_trace *trace;
    int ranks;
    struct pp_timeline_box *boxes; /* by rank, then in the order of the trace */
    int count;
    int *begin;                      /* [ranks + 1] first box of each rank */
    struct pp_timeline_copy *copies; /* by rank, then in the order of the trace */
    int copy_count;
    bool has_lane[PP_COPY_STREAMS]; /* streams that have copies */
    struct pp_timeline_step *steps; /* ascending */
    int step_count;
    double begin_s, end_s; /* first start of a box, last end of any event */
    int ids;               /* micro-batches are 0 to ids - 1 */
    int splits;            /* splits of a sequence, at least 1 */
    int pipes, stages;     /* stages: of the longest pipeline */
    int chunks;            /* most chunks of one pipeline on one rank */
    uint16_t *pipe_of;     /* [ids] */
    int32_t *rank_of;      /* [pipe * stages + stage], -1 if the pipeline has no such stage */
    uint16_t *chunk_of;    /* [pipe * stages + stage] */
};

/* Makes the boxes of replica 0. PP_EINVAL for a trace without events of it, for ranks out of order,
 * and for times that are no numbers or run backwards. Cells that are unreadable or contradictory
 * are PP_EINVAL, too. The message names the trace by its `program`. */
enum pp_status pp_timeline_make(struct pp_arena *arena, const struct pp_trace *trace,
                                struct pp_timeline *timeline, struct pp_error *err);

/* Is true for a run that generates: its ops are forwards alone, and its chunks are passes. */
bool pp_timeline_generates(const struct pp_timeline *timeline);

/* PP_EINVAL for a part of the time that has no ops. */
enum pp_status pp_timeline_refuse_time(const struct pp_timeline *timeline, double from_s,
                                       double to_s, const char *unit, struct pp_error *err);

/* Messages of two ranks that are in transit between two times; none if they are more than `most`.
 * Leaves out messages without a send or a receive. */
struct pp_timeline_message *pp_timeline_messages(struct pp_arena *arena,
                                                 const struct pp_timeline *timeline, double from_s,
                                                 double to_s, int most, int *count);
