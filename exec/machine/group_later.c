/* Times of groups on an asynchronous backend, from the spans of launches. */
#include "exec/machine/parts.h"

static double span_s(const struct pp_worker *w, int launch)
{
    const struct pp_machine *m = w->machine;
    const struct pp_span span = m->backend->span(m->device, w->index, launch);

    return span.end_s - span.start_s;
}

/* Time of a worker's own launches, with exchanges that take what the costs say. */
static int64_t own_ps(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    const struct pp_bound_call *call = &m->calls[pp_row(w, i)];
    int64_t ps = call->count == 0 ? (int64_t)(1e12 * span_s(w, m->launch_of[pp_row(w, i)])) : 0,
            added_ps = 0;

    for (int k = 0; k < call->segment_count; k++) {
        const struct pp_group_segment *s = &call->segments[k];

        ps += (int64_t)(1e12 * span_s(w, s->launch));
        added_ps = pp_segment_added_ps(m, s, ps, added_ps);
        ps = s->exchange.is_hidden ? ps : added_ps;
    }
    return ps;
}

int64_t pp_group_ps(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    int64_t longest_ps = 0;

    for (int t = 0; t < pp_group_size(m); t++)
        if (!pp_is_elsewhere(m, pp_group_peer(w, t)))
            longest_ps = pp_later_ps(longest_ps, own_ps(pp_group_peer(w, t), i));
    return longest_ps;
}

/* The launch of an exchange begins when its stream has waited for all workers. Only an operation of
 * NCCL waits for them itself. */
int64_t pp_group_exchanged_ps(const struct pp_worker *w, int i, int among)
{
    const struct pp_bound_call *call = &w->machine->calls[pp_row(w, i)];
    double s = 0;

    for (int k = 0; k < call->segment_count; k++)
        if (!call->segments[k].is_last &&
            (int)pp_group_exchange_among(&call->segments[k].exchange) == among)
            s += span_s(w, call->segments[k].exchange_launch);
    return (int64_t)(s * 1e12);
}

/* ---- processes ------------------------------------------------------------------------------- */

static bool is_member(const struct pp_worker *w, const struct pp_worker *peer, int among)
{
    return among == PP_AMONG_EP ? peer->tp_index == w->tp_index : peer->replica == w->replica;
}

/* On the virtual clock an op lasts as on the slowest worker. On the wall clock, the worker that
 * comes last waits least in its exchanges. */
static void join_times(struct pp_machine *m, const struct pp_worker *w, int i)
{
    const size_t first = pp_cell_at(w, i);

    for (int t = 0; t < pp_group_size(m); t++) {
        const struct pp_worker *peer = pp_group_peer(w, t);
        const size_t at = pp_cell_at(peer, i);

        for (int among = 0; among < PP_AMONG && m->exchanged_ps[among]; among++)
            if (is_member(w, peer, among) &&
                m->exchanged_ps[among][at] < m->exchanged_ps[among][first])
                m->exchanged_ps[among][first] = m->exchanged_ps[among][at];
        if (!pp_is_virtual(m))
            continue;
        m->nominal_ps[first] = pp_later_ps(m->nominal_ps[first], m->nominal_ps[at]);
        m->duration_ps[first] = pp_later_ps(m->duration_ps[first], m->duration_ps[at]);
    }
}

void pp_groups_join_times(struct pp_machine *m)
{
    for (int k = 0; m->transport->exchange && k < m->worker_count; k++) {
        const struct pp_worker *w = &m->workers[k];

        for (int i = m->p->begin[w->rank]; w->tp_index == 0 && i < m->p->begin[w->rank + 1]; i++)
            if (pp_op_is_compute(m->p->kind[i]))
                join_times(m, w, i);
    }
}
