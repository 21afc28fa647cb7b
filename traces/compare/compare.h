/* traces/compare/compare.h — comparison of a predicted trace with a measured one; docs/compare.md
 * explains each number.
 *
 * Times of a step count from its begin. This is the end of the previous step or, if the trace lacks
 * that step, the start of the first rank. Events are matched by replica, rank, stream and cell, the
 * k-th of equal ones with the k-th. Equally many measured and predicted steps are matched in pairs;
 * otherwise all measured steps with the last predicted one. A predicted trace of one replica stands
 * for all measured ones. Times are rounded to picoseconds once, so that equal steps compare as
 * exactly equal within the first 9,000 s (2^53 ps).
 *
 * An error is predicted - measured, or as a fraction predicted / measured - 1. It is negative if
 * the prediction is too short. Fractions of nothing are 0 for 0 / 0, else NAN. */
#pragma once

#include "traces/metrics.h"

#include <stdbool.h>

enum { PP_COMPARE_FEW = 6 };

struct pp_compare_options {
    int skip_steps;        /* measured steps to leave out, from the first */
    int worst;             /* most events in `worst` */
    bool allows_different; /* compares the common events of different programs */
    bool keeps_pairs;      /* fills `pairs` */
};

/* One of the two traces: its median step, which is a step or the mean of the middle two, so that
 * its parts add up. If steps overlap, it is the average step after the first. */
struct pp_compare_side {
    const struct pp_trace *trace;
    int steps;           /* number of steps of the figures */
    bool is_overlapping; /* steps overlap: no barrier */
    double step_s, bubble_frac, span_bubble_frac;
    double before_s;                /* until the first rank begins: outside of the program */
    double part_s[PP_TIME_PARTS];   /* times of an average rank; their sum is the step */
    double moves_s[PP_MOVE_CAUSES]; /* of part_s[PP_TIME_MOVES] */
    struct pp_rank_times *ranks;    /* [trace->ranks] */
};

/* Events of one kind in both traces. */
struct pp_compare_row {
    uint8_t kind;
    bool is_fused;
    int64_t count; /* pairs */
    double predicted_mean_s, measured_mean_s, measured_p50_s, measured_p95_s;
    double error_frac; /* error of the means */
    double share_frac; /* share of all |predicted - measured|; each end of a message is half */
};

/* Durations of one event of both traces. */
struct pp_compare_pair {
    uint8_t kind;
    bool is_fused;
    double predicted_s, measured_s;
};

/* An event of both traces. `predicted` is NULL for an extra event, `measured` for a missing one. */
struct pp_compare_event {
    uint8_t kind;
    int rank, replica, step; /* as in the measured trace; for a missing event as expected there */
    const char *cell;
    double predicted_start_s, measured_start_s; /* since the begin of the step */
    double predicted_s, measured_s;             /* durations */
    double error_s;                             /* error of the durations */
};
struct pp_compare_list {
    int64_t count; /* number of all; the first PP_COMPARE_FEW are in `first` */
    struct pp_compare_event first[PP_COMPARE_FEW];
};

struct pp_compare_step {
    int predicted, measured;
    double predicted_s, measured_s, error_frac;
};

struct pp_comparison {
    struct pp_compare_side predicted, measured;
    const char *time_unit; /* of times, as one of the traces says; NULL: seconds */
    double step_error_s, step_error_frac;
    bool is_same_program;      /* hashes agree */
    bool differs_by_barrier;   /* programs of the same ops; one alone meets before its updates */
    bool measured_has_barrier; /* it is the measured one */
    bool is_partial;           /* one trace names no program, and records only some kinds of ops */
    bool is_folded;            /* replica 0 of the prediction stands for several measured ones */
    bool is_pairwise;          /* else all measured steps are compared with one predicted step */
    struct pp_compare_step *steps; /* [step_count] measured steps */
    int step_count;
    struct pp_compare_row *kinds; /* durations, by kind */
    int kind_count;
    struct pp_compare_row *waits; /* from post to match or, without a peer, to start */
    int wait_count;
    struct pp_compare_event *worst; /* largest |error_s| first; a message is its receiving end */
    int worst_count;
    struct pp_compare_pair *pairs; /* [pair_count] if kept; a message is its receiving end */
    int pair_count;
    int64_t matched;                       /* pairs; waits and other control ops are not compared */
    struct pp_compare_list missing, extra; /* only predicted, only measured */
};

/* Is true if the first trace was measured and the second predicted, as their engines say: they
 * stand in the wrong order. Traces that do not say are taken as they stand. */
bool pp_compare_is_swapped(const struct pp_trace *predicted, const struct pp_trace *measured);
/* Puts two traces into their order. Returns a note about it, NULL if nothing is to be done. */
const char *pp_compare_order(struct pp_arena *arena, const char *const *names,
                             struct pp_trace **predicted, struct pp_trace **measured);
/* PP_EINVAL if the two cannot be compared, or if one of them contradicts itself. They cannot be
 * compared if programs, ranks or replicas differ, or if there are too few steps. Programs may
 * differ by a barrier before their updates alone. Without a program,
 * the F, B, I and W of both must be the same. The message names the trace, by its `program`. */
enum pp_status pp_compare(struct pp_arena *arena, const struct pp_trace *predicted,
                          const struct pp_trace *measured, const struct pp_compare_options *options,
                          struct pp_comparison *comparison, struct pp_error *err);
