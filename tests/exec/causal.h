/* tests/exec/causal.h — checks that times of the wall clock are causal. An op ends after it starts.
 * A message moves after both sides have posted. A WAIT ends after the awaited work. */
#ifndef PP_TESTS_EXEC_CAUSAL_H
#define PP_TESTS_EXEC_CAUSAL_H

#include "tests/exec/train.h"

static inline void check_causal(const struct exec_run *run)
{
    const struct pp_trace *trace = run->result.trace;

    cr_assert_geq(trace->count, pp_program_size(run->program));
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *e = &trace->events[i];
        cr_assert(e->start_s <= e->end_s, "%s", e->cell);
        if (pp_op_is_send(e->kind) || pp_op_is_recv(e->kind))
            cr_assert(e->posted_s <= e->matched_s && e->matched_s <= e->start_s, "%s", e->cell);
        if (e->kind == PP_WAIT)
            cr_assert(e->waits_for >= 0 && trace->events[e->waits_for].end_s <= e->end_s, "%s",
                      e->cell);
    }
    for (int step = 0; step < run->training.steps; step++)
        cr_assert_gt(run->result.step_s[step], 0);
    cr_assert(run->result.unattributed_s >= 0 &&
                  run->result.unattributed_s < run->result.step_median_s,
              "%g of %g s", run->result.unattributed_s, run->result.step_median_s);
}

#endif
