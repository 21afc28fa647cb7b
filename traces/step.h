/* traces/step.h — a trace cut into its steps, and one step as a trace of its own. */
#pragma once

#include "traces/trace.h"

#include <stdbool.h>

struct pp_step {
    struct pp_trace trace; /* a trace of that step; its times begin with the step */
    int number;            /* in the whole trace */
    int steps;             /* number of steps that it is chosen from */
    bool is_overlapping;
};

/* The median step after the first `skip`, as pp_compare() chooses it; of two middle ones the
 * shorter. If steps overlap, the last one, which begins with its own first compute op. PP_EINVAL as
 * pp_step_slices(), and if `skip` leaves none. */
enum pp_status pp_step_median(struct pp_arena *arena, const struct pp_trace *trace, int skip,
                              struct pp_step *step, struct pp_error *err);
/* Step `number`, counted from 0, as a trace of its own: its times begin with it; `steps` is 1.
 * PP_EINVAL as pp_step_slices(), and if there is no such step. */
enum pp_status pp_step_at(struct pp_arena *arena, const struct pp_trace *trace, int number,
                          struct pp_step *step, struct pp_error *err);

/* One step of a trace: its events by list (replica * ranks + rank), with times relative to its
 * begin, `step` 0 and `waits_for` counted from `events`. */
struct pp_step_slice {
    int number; /* in the trace */
    struct pp_trace_event *events;
    int count;
    int *begin;                           /* [lists + 1] first event of each list */
    int64_t begin_ps, end_ps, arrival_ps; /* in the trace; arrival: when the first rank began */
    int64_t last_ps; /* end of its last event; end_ps has no WAITs, which may be in a later step */
};
struct pp_stepped {
    const struct pp_trace *trace;
    struct pp_step_slice *slices;
    int count, lists;
    bool is_overlapping;
};

/* Cuts a trace. PP_EINVAL if a step lacks a rank or times exceed the range of picoseconds. */
enum pp_status pp_step_slices(struct pp_arena *arena, const struct pp_trace *trace,
                              struct pp_stepped *stepped, struct pp_error *err);
/* Index of the slice with that number, which must exist. */
int pp_step_index(const struct pp_stepped *stepped, int number);
/* Indices of slices `first` and later, the shortest first. */
int *pp_steps_by_time(struct pp_arena *arena, const struct pp_stepped *stepped, int first);
