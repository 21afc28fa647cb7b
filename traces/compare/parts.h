/* traces/compare/parts.h — what the files of the comparison share. Private to this folder. */
#pragma once

#include "traces/compare/compare.h"
#include "traces/step.h"

/* The median step of slices `first` and later. */
enum pp_status pp_compare_side(struct pp_arena *arena, const struct pp_stepped *stepped, int first,
                               struct pp_compare_side *side, struct pp_error *err);

/* The same trace with each recomputation as a part of the backward after it, if it takes no time
 * itself. Other programs do not record it apart. */
const struct pp_trace *pp_compare_join_recompute(struct pp_arena *arena,
                                                 const struct pp_trace *trace);

/* predicted / measured - 1. */
double pp_compare_frac(double predicted, double measured);

enum { PP_TALLY_FUSED, PP_TALLY_KINDS = PP_OP_KINDS + 1 }; /* fused pairs, the table of kinds */
/* The durations of a large run add up to more picoseconds than 64 bits hold. */
__extension__ typedef __int128 pp_wide;
struct pp_tally_samples {
    double *measured_s;
    int count, capacity;
    /* Whole picoseconds: sums do not depend on the order. Of a message twice the error counts half,
     * because it is in the trace at its sender and at its receiver. */
    pp_wide predicted_ps, measured_ps, half_errors_ps;
};
/* Pairs of durations by kind; {.arena} is an empty one. */
struct pp_tally {
    struct pp_arena *arena;
    struct pp_tally_samples kinds[PP_TALLY_KINDS];
};
void pp_tally_add(struct pp_tally *tally, const struct pp_trace_event *event, double predicted_s,
                  double measured_s);
/* A row for each kind that was added, in the order of the table of kinds, fused pairs first. */
struct pp_compare_row *pp_tally_rows(struct pp_tally *tally, int *count);
