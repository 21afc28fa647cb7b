/* traces/compare/parts.h — what the files of the comparison share. Private to traces/compare*.c. */
#ifndef PP_TRACES_COMPARE_PARTS_H
#define PP_TRACES_COMPARE_PARTS_H

#include "traces/compare/compare.h"

/* One step of a trace: its events by list (replica * ranks + rank), with times relative to its
 * begin, `step` 0 and `waits_for` counted from `events`. */
struct pp_step_slice {
    int number; /* in the trace */
    struct pp_trace_event *events;
    int count;
    int *begin;                           /* [lists + 1] first event of each list */
    int64_t begin_ps, end_ps, arrival_ps; /* in the trace; the earliest any rank began */
    int64_t last_ps; /* end of its last event; a WAIT for a SEND may stand in a later step, so that
                      * no WAIT counts for end_ps */
};
struct pp_stepped {
    const struct pp_trace *trace;
    struct pp_step_slice *slices;
    int count, lists;
    bool is_overlapping;
};

/* PP_EINVAL when a step lacks a rank or times are beyond what picoseconds can hold. */
enum pp_status pp_step_slices(struct pp_arena *arena, const struct pp_trace *trace,
                              struct pp_stepped *stepped, struct pp_error *err);
/* Of the slice with that number, which there is. */
int pp_step_index(const struct pp_stepped *stepped, int number);
/* Slices `first` and later, the shortest first. */
int *pp_steps_by_time(struct pp_arena *arena, const struct pp_stepped *stepped, int first);
/* The median step of slices `first` and later. */
enum pp_status pp_compare_side(struct pp_arena *arena, const struct pp_stepped *stepped, int first,
                               struct pp_compare_side *side, struct pp_error *err);

/* The same trace with each recomputation as a part of the backward behind it, where it takes no
 * time itself: others do not record it apart. */
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

#endif
