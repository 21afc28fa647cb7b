/* Times of groups on an asynchronous backend, from the spans of launches. */
#include "exec/machine/parts.h"

static double span_s(const struct pp_worker *w, int launch)
{
    const struct pp_machine *m = w->machine;
    const struct pp_span span = m->backend->span(m->device, w->index, launch);

    return span.end_s - span.start_s;
}

/* Time of a worker's own launches, without exchanges. */
static double own_s(const struct pp_worker *w, int i)
{
    const struct pp_bound_call *call = &w->machine->calls[pp_row(w, i)];
    const int first = w->machine->launch_of[pp_row(w, i)];
    double s = call->count == 0 ? span_s(w, first) : 0;

    for (int k = 0; k < call->segment_count; k++)
        s += span_s(w, first + call->segments[k].launch);
    return s;
}

int64_t pp_group_ps(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    const struct pp_bound_call *call = &m->calls[pp_row(w, i)];
    double longest_s = 0;
    int64_t exchanges_ps = 0;

    for (int t = 0; t < pp_group_size(m); t++) {
        const double s = own_s(pp_group_peer(w, t), i);
        longest_s = s > longest_s ? s : longest_s;
    }
    for (int k = 0; k < call->segment_count; k++)
        exchanges_ps += pp_segment_exchange_ps(m, &call->segments[k]);
    return (int64_t)(longest_s * 1e12) + exchanges_ps;
}

/* The launch of an exchange begins when its stream has waited for all workers. */
int64_t pp_group_exchanged_ps(const struct pp_worker *w, int i)
{
    const struct pp_bound_call *call = &w->machine->calls[pp_row(w, i)];
    double s = 0;

    for (int k = 0; k < call->segment_count; k++)
        if (!call->segments[k].is_last)
            s += span_s(w, w->machine->launch_of[pp_row(w, i)] + call->segments[k].launch + 1);
    return (int64_t)(s * 1e12);
}
