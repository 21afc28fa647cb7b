/* traces/events.h — the events of a trace one by one: of its table, or made from the times of a
 * run. They have numbers: places in the table, or rows of the times. All are below `count` of the
 * trace. */
#pragma once

#include "traces/from_times.h"

/* The event after `number`, or the first after -1, by replica, rank and order of the list; -1 after
 * the last. */
int pp_trace_next(const struct pp_trace *trace, int number);
/* An event. If it is made, its cell is in `cell`, which may be NULL, and it has no shares. */
struct pp_trace_event pp_trace_at(const struct pp_trace *trace, int number,
                                  char cell[PP_TRACE_CELL_BYTES]);

struct pp_trace_times {
    int64_t start_ps, end_ps;
};
/* When an event begins and ends, in whole picoseconds. */
struct pp_trace_times pp_trace_times_of(const struct pp_trace *trace, int number);
