/* traces/trace.h — events of a run: the same table from every engine and every backend. Traces know
 * ops, not schedules. Data are in an arena. Times are seconds, or units where the trace says so. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "core/op.h"
#include "traces/about.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Parts of a compute op's time that are no compute. */
enum pp_share {
    PP_SHARE_TP,     /* collectives of tensor parallelism */
    PP_SHARE_CP,     /* collectives of context parallelism */
    PP_SHARE_EP,     /* collectives of expert parallelism */
    PP_SHARE_GATHER, /* gathers of sharded parameters */
    PP_SHARE_COPY,   /* copies between memory tiers */
    PP_SHARES
};

struct pp_trace_event {
    int step, rank, replica;
    uint8_t kind;   /* enum pp_op_kind; a fused pair is one event of kind PP_F with is_fused set */
    uint8_t target; /* WAIT: kind waited for */
    uint8_t is_fused;
    uint8_t is_concurrent;      /* W concurrent with other compute of its rank */
    uint8_t stream;             /* enum pp_stream */
    uint8_t cause;              /* COPY, MOVE, and a WAIT for one: pp_move_cause() (not in files) */
    const char *cell;           /* "0F3", "(0F3;3B5)OVERLAP_F_B", "(1RECV_F0)WAIT" */
    double posted_s, matched_s; /* NAN if the op has none */
    double start_s, end_s;
    double bytes;
    double share_s[PP_SHARES]; /* shares of a compute event (not written to CSV) */
    double forward_frac;       /* fused pair: share of its forward; NAN = not known (not in CSV) */
    int waits_for; /* WAIT: index of the event waited for, else -1 (not in CSV; is found) */
};

struct pp_trace_source;

struct pp_trace {
    const char *program;
    uint64_t program_hash;
    const char *engine;                 /* "dag", "simgrid", "cpu", ... */
    const char *time_unit;              /* "units" of --unit; NULL: seconds (not in CSV) */
    const struct pp_trace_about *about; /* settings of a real run; NULL: not known (not in CSV) */
    int ranks, replicas, steps;
    bool is_partial;          /* some kinds of ops only, and no program hash (not written) */
    const char *const *notes; /* on how it was read: sentences, ended by NULL; or NULL */
    double clock_error_s;     /* greatest error between the clocks of two ranks; 0: one clock */
    struct pp_trace_event *events; /* by replica, rank, order of the list; steps of one list may
                                    * alternate. A WAIT has the step of the op it waits for */
    int count;
    /* NULL, or what the events are made of one by one, for files. Then there is no table `events`,
     * and only traces/events.h reads them. */
    const struct pp_trace_source *source;
};

/* Whole picoseconds, for drawing; at least 0. */
static inline int64_t pp_trace_ps(double seconds)
{
    return llround(fmin(fmax(seconds * 1e12, 0), 4e18));
}
/* Index of an event's list, by replica and rank. */
static inline int pp_trace_list_of(const struct pp_trace *trace, const struct pp_trace_event *event)
{
    return event->replica * trace->ranks + event->rank;
}

/* The end of the list (events of one rank and replica) that begins at event `from`. */
int pp_trace_list_end(const struct pp_trace *trace, int from);
/* Sets cell, kind, target, stream, and `is_concurrent` of a W. PP_EINVAL if it is no cell. */
enum pp_status pp_trace_read_cell(struct pp_arena *arena, const char *cell, bool is_concurrent,
                                  struct pp_trace_event *event, struct pp_error *err);
/* Sets ranks, replicas and steps from the largest numbers; PP_EINVAL if they are too many. */
enum pp_status pp_trace_set_lists(struct pp_trace *trace, int64_t max_rank, int64_t max_replica,
                                  int64_t max_step, struct pp_error *err);
/* Sets `waits_for` of every WAIT from the cells of its list; PP_EINVAL without an earlier post. */
enum pp_status pp_trace_link_waits(struct pp_arena *arena, struct pp_trace *trace,
                                   struct pp_error *err);
