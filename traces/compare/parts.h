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

/* Collects pairs of durations by kind. */
struct pp_tally;
struct pp_tally *pp_tally_create(struct pp_arena *arena);
void pp_tally_add(struct pp_tally *tally, const struct pp_trace_event *event, double predicted_s,
                  double measured_s);
/* A row for each kind that was added, in the order of the table of kinds, fused pairs first. */
struct pp_compare_row *pp_tally_rows(struct pp_tally *tally, int *count);
