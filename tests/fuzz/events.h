/* tests/fuzz/events.h — what holds of the events of every trace that was read. */
#ifndef PP_TESTS_FUZZ_EVENTS_H
#define PP_TESTS_FUZZ_EVENTS_H

#include "tests/fuzz/fuzz.h"
#include "traces/trace.h"

#include <math.h>

static inline bool fuzz_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static inline void fuzz_check_events(const struct pp_trace *trace)
{
    FUZZ_CHECK(trace->count > 0 && trace->ranks > 0 && trace->replicas > 0 && trace->steps > 0);
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *e = &trace->events[i];
        FUZZ_CHECK(e->rank >= 0 && e->rank < trace->ranks && e->replica >= 0 &&
                   e->replica < trace->replicas && e->step >= 0 && e->step < trace->steps);
        FUZZ_CHECK(e->start_s >= 0 && e->end_s >= e->start_s && isfinite(e->end_s));
        FUZZ_CHECK(e->kind == PP_WAIT ? e->waits_for >= 0 && e->waits_for < i : e->waits_for == -1);
    }
}

#endif
