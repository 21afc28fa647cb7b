/* traces/compare/parts.h — private to the folder: common declarations of the comparison. */
#pragma once

#include "traces/compare/compare.h"
#include "traces/step.h"

/* Figures of the median step of slices `first` and later. */
enum pp_status pp_compare_side(struct pp_arena *arena, const struct pp_stepped *stepped, int first,
                               struct pp_compare_side *side, struct pp_error *err);

/* A copy in which recomputations are part of the next backward, as in traces of other programs. */
const struct pp_trace *pp_compare_join_recompute(struct pp_arena *arena,
                                                 const struct pp_trace *trace);

/* PP_EINVAL if ranks or replicas differ. */
enum pp_status pp_compare_check_shape(const struct pp_trace *p, const struct pp_trace *q,
                                      struct pp_error *err);
/* Returns the first compute op of list q that stands elsewhere in list p, updates aside; else
 * NULL. */
const struct pp_trace_event *pp_compare_moved(const struct pp_trace_event *p, int p_count,
                                              const struct pp_trace_event *q, int q_count);
/* After all events are matched: PP_EINVAL with the reason if the programs differ by more than a
 * barrier. Sets `differs_by_barrier`. `moved` is an op that has another place, or NULL. */
enum pp_status pp_compare_check_program(struct pp_arena *arena, struct pp_comparison *c,
                                        const struct pp_trace_event *moved, bool allows_different,
                                        struct pp_error *err);

/* predicted / measured - 1. */
double pp_compare_frac(double predicted, double measured);

enum { PP_TALLY_FUSED, PP_TALLY_KINDS = PP_OP_KINDS + 1 }; /* index of fused pairs, then kinds */
/* Durations of a large run add up to more picoseconds than 64 bits hold. */
__extension__ typedef __int128 pp_wide;
struct pp_tally_samples {
    double *measured_s;
    int count, capacity;
    /* Whole picoseconds, so that sums do not depend on the order. Errors are in halves: a message
     * counts one half at its sender and one at its receiver, other events count two. */
    pp_wide predicted_ps, measured_ps, half_errors_ps;
};
/* Pairs of durations by kind; {.arena} is an empty one. */
struct pp_tally {
    struct pp_arena *arena;
    struct pp_tally_samples kinds[PP_TALLY_KINDS];
};
void pp_tally_add(struct pp_tally *tally, const struct pp_trace_event *event, double predicted_s,
                  double measured_s);
/* Rows of the added kinds, in the order of the table of kinds, fused pairs first. */
struct pp_compare_row *pp_tally_rows(struct pp_tally *tally, int *count);
