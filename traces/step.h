/* traces/step.h — a trace cut into its steps, and one step as a trace of its own. */
#pragma once

#include "traces/trace.h"

#include <stdbool.h>

struct pp_step {
    struct pp_trace trace; /* of that step alone; its times begin with the step */
    int number;            /* in the trace that it is of */
    int steps;             /* that one was chosen from */
    bool is_overlapping;   /* steps run into each other */
};

/* The median step after the first `skip`, as pp_compare() chooses it; of two middle ones the
 * shorter. If steps overlap, the last one, which begins with its own first op that computes.
 * PP_EINVAL as pp_compare() has it for one trace. */
enum pp_status pp_step_median(struct pp_arena *arena, const struct pp_trace *trace, int skip,
                              struct pp_step *step, struct pp_error *err);
/* Step `number`, counted from 0, as if it were alone: its times begin with it; `steps` is 1.
 * PP_EINVAL where there is none, too. */
enum pp_status pp_step_at(struct pp_arena *arena, const struct pp_trace *trace, int number,
                          struct pp_step *step, struct pp_error *err);

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
