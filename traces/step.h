/* traces/step.h — one step of a trace as a trace of its own. */
#ifndef PP_TRACES_STEP_H
#define PP_TRACES_STEP_H

#include "traces/trace.h"

#include <stdbool.h>

struct pp_step {
    struct pp_trace trace; /* of that step alone; its times begin with the step */
    int number;            /* in the trace that it is of */
    int steps;             /* that one was chosen from */
    bool is_overlapping;   /* steps run into each other */
};

/* The median step behind the first `skip`, as pp_compare() chooses it: of equally many longer and
 * shorter ones the shorter. Where steps run into each other, the last: it begins with its own first
 * op that computes. PP_EINVAL as pp_compare() has it for one trace. */
enum pp_status pp_step_median(struct pp_arena *arena, const struct pp_trace *trace, int skip,
                              struct pp_step *step, struct pp_error *err);
/* Step `number`, counted from 0, as if it were alone: its times begin with it; `steps` is 1.
 * PP_EINVAL where there is none, too. */
enum pp_status pp_step_at(struct pp_arena *arena, const struct pp_trace *trace, int number,
                          struct pp_step *step, struct pp_error *err);

#endif
