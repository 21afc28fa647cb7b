/* traces/trace.h — what happened when: the same table from every engine and every backend.
 * traces know ops, not schedules. Lives in an arena. Times are seconds. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "core/op.h"
#include "traces/about.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* In what a compute op may spend time that is not its own. */
enum pp_share {
    PP_SHARE_TP,     /* collectives of tensor parallelism, */
    PP_SHARE_CP,     /* of context parallelism, */
    PP_SHARE_EP,     /* of expert parallelism */
    PP_SHARE_GATHER, /* gathers of sharded parameters */
    PP_SHARE_COPY,   /* copies between memory tiers */
    PP_SHARES
};

struct pp_trace_event {
    int step, rank, replica;
    uint8_t kind;   /* enum pp_op_kind; a fused pair is one event of kind PP_F with fused set */
    uint8_t target; /* WAIT: kind waited for */
    uint8_t is_fused;
    uint8_t is_concurrent;      /* W that ran concurrently with the other compute of its rank */
    uint8_t stream;             /* enum pp_stream */
    const char *cell;           /* "0F3", "(0F3;3B5)OVERLAP_F_B", "(1RECV_F0)WAIT" */
    double posted_s, matched_s; /* NAN where they mean nothing */
    double start_s, end_s;
    double bytes;
    double share_s[PP_SHARES]; /* of a compute event (not written to CSV) */
    double forward_frac; /* fused pair: share of it that counts as forward; NAN = not known (not
                          * written to CSV) */
    int waits_for;       /* WAIT: index of the event waited for in the trace, else -1 (not written
                          * to CSV, found again by reading) */
};

struct pp_trace {
    const char *program; /* name */
    uint64_t program_hash;
    const char *engine;                 /* "dag", "simgrid", "cpu", ... */
    const struct pp_trace_about *about; /* of a real run; NULL: not known (not written to CSV) */
    int ranks, replicas, steps;
    bool is_partial; /* of another program, that records some kinds of ops and no program (not
                      * written) */
    const char *const *notes; /* what a reader must know of how it was read: sentences, ended by
                               * NULL; NULL: none (not written) */
    double clock_error_s;     /* stamps of two ranks may be so far apart; 0: on one clock */
    struct pp_trace_event *events; /* by replica, rank, order of the list; a list that holds several
                                    * steps has them by turns. A WAIT has the step of what it waits
                                    * for */
    int count;
};

/* Whole picoseconds, as they are drawn; never below 0. */
static inline int64_t pp_trace_ps(double seconds)
{
    return llround(fmin(fmax(seconds * 1e12, 0), 4e18));
}
/* The number of an event's list: of its replica and rank. */
static inline int pp_trace_list_of(const struct pp_trace *trace, const struct pp_trace_event *event)
{
    return event->replica * trace->ranks + event->rank;
}

/* ---- for readers ---- */

/* The end of the list, events of one rank and replica, whose first event is `from`. */
int pp_trace_list_end(const struct pp_trace *trace, int from);
/* Cell, kind, target and stream of an event; of a W, whether it `is_concurrent`. PP_EINVAL for what
 * is no cell. */
enum pp_status pp_trace_read_cell(struct pp_arena *arena, const char *cell, bool is_concurrent,
                                  struct pp_trace_event *event, struct pp_error *err);
/* Ranks, replicas and steps, from the largest numbers; PP_EINVAL for too many. */
enum pp_status pp_trace_set_lists(struct pp_trace *trace, int64_t max_rank, int64_t max_replica,
                                  int64_t max_step, struct pp_error *err);
/* Set `waits_for` of every WAIT from the cells of its list; PP_EINVAL when it waits for what was
 * not posted before it. */
enum pp_status pp_trace_link_waits(struct pp_arena *arena, struct pp_trace *trace,
                                   struct pp_error *err);
