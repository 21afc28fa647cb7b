/* The events of a trace one by one. */
#include "traces/events.h"

#include "core/units.h"

/* Is true for the second op of a fused pair, which has no event. */
static bool is_second(const struct pp_trace_source *s, int i)
{
    const struct pp_op op = s->op(s->program, i);

    return op.aux == PP_FUSED_SECOND && i > 0 && pp_op_is_compute(op.kind);
}

/* The row of the first event in the lists of `rank` and later ones. */
static int first_row(const struct pp_trace_source *s, int replica, int rank)
{
    for (; rank < s->ranks; rank++)
        if (s->begin[rank] < s->begin[rank + 1])
            return s->begin[rank] * s->replicas + replica;
    return replica + 1 < s->replicas ? first_row(s, replica + 1, 0) : -1;
}

static int next_row(const struct pp_trace_source *s, int row)
{
    if (row < 0)
        return first_row(s, 0, 0);
    const int size = s->begin[s->ranks], replica = row % s->replicas;
    const int step = row / s->replicas / size, rank = pp_trace_source_rank(s, row);
    int i = row / s->replicas % size + 1;

    while (i < s->begin[rank + 1] && is_second(s, i))
        i++;
    if (i < s->begin[rank + 1])
        return (step * size + i) * s->replicas + replica;
    if (step + 1 < s->steps)
        return ((step + 1) * size + s->begin[rank]) * s->replicas + replica;
    return first_row(s, replica, rank + 1);
}

int pp_trace_next(const struct pp_trace *trace, int number)
{
    if (trace->source)
        return next_row(trace->source, number);
    return number + 1 < trace->count ? number + 1 : -1;
}

struct pp_trace_event pp_trace_at(const struct pp_trace *trace, int number,
                                  char cell[PP_TRACE_CELL_BYTES])
{
    return trace->source ? pp_trace_source_event(trace->source, number, cell)
                         : trace->events[number];
}

struct pp_trace_times pp_trace_times_of(const struct pp_trace *trace, int number)
{
    const struct pp_trace_source *s = trace->source;
    const double start_s = s ? pp_units_s(s->start_ps[number]) : trace->events[number].start_s;
    const double end_s = s ? pp_units_s(s->end_ps[number]) : trace->events[number].end_s;

    return (struct pp_trace_times){pp_trace_ps(start_s), pp_trace_ps(end_s)};
}
