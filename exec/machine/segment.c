/* Segments of calls of a group: where they are cut, their work, that of the exchanges between them,
 * their times and their graphs. */
#include "exec/machine/parts.h"

/* ---- binding --------------------------------------------------------------------------------- */

/* Appends segment `s` of a work. An exchange may take two rounds. */
static void append(struct pp_machine *m, struct pp_bound_call *call, int work, int s, int last,
                   const struct pp_group_exchange *exchange)
{
    struct pp_group_exchange rounds[PP_ROUNDS] = {*exchange};
    const int tp_index = call->works[work].stage->shape.tp_index,
              count = s < last && pp_inbox_rounds(m) > 1
                          ? pp_group_exchange_rounds(m->options.kernels, exchange, m->tp, tp_index,
                                                     rounds)
                          : 1;

    for (int round = 0; round < count; round++)
        call->segments[call->segment_count++] =
            (struct pp_group_segment){.call = call,
                                      .work = work,
                                      .number = s,
                                      .is_last = s == last,
                                      .is_second = round > 0,
                                      .exchange = rounds[round],
                                      .from = PP_ARRAY(m->arena, const void *, pp_group_size(m)),
                                      .members = pp_group_members(m, &rounds[round])};
}

static void cut(struct pp_machine *m, struct pp_bound_call *call)
{
    struct pp_group_exchange *exchanges;
    int count = 0;

    for (int g = 0; g < call->count; g++)
        count += 1 + pp_stage_exchanges(&call->works[g], call->kind, NULL);
    call->segments = PP_ARRAY(m->arena, struct pp_group_segment, count * pp_inbox_rounds(m));
    exchanges = PP_ARRAY(m->arena, struct pp_group_exchange, count);
    for (int g = 0; g < call->count; g++) {
        const int last = pp_stage_exchanges(&call->works[g], call->kind, exchanges);
        for (int s = 0; s <= last; s++)
            append(m, call, g, s, last, &exchanges[s]);
    }
}

/* Tells each worker of a group where the parts of all are. */
static void connect(const struct pp_machine *m, struct pp_worker *w, int i)
{
    struct pp_bound_call *call = &m->calls[pp_row(w, i)];

    for (int s = 0; s < call->segment_count; s++)
        call->segments[s].apart =
            (struct pp_worker_exchange){w, &call->segments[s].exchange, call->segments[s].from};
    for (int s = 0; s < call->segment_count; s++)
        for (int k = 0; k < call->segments[s].members; k++) {
            const int index = pp_group_of_member(w, &call->segments[s].exchange, k);
            call->segments[s].from[k] =
                m->calls[pp_row(pp_group_peer(w, index), i)].segments[s].exchange.from;
        }
}

void pp_bind_groups(struct pp_machine *m)
{
    for (size_t row = 0; pp_group_size(m) > 1 && row < pp_rows(m); row++)
        cut(m, &m->calls[row]);
    pp_bind_crews(m);
    for (int k = 0; pp_group_size(m) > 1 && k < m->worker_count; k++) {
        struct pp_worker *w = &m->workers[k];
        int segments = 0;
        for (int i = m->p->begin[w->rank]; i < m->p->begin[w->rank + 1]; i++) {
            connect(m, w, i);
            m->calls[pp_row(w, i)].first_segment = segments;
            segments += m->calls[pp_row(w, i)].segment_count;
        }
    }
}

/* ---- running --------------------------------------------------------------------------------- */

/* A graph leaves out the work of the host. So each segment notes where its timings begin and end.
 */
void pp_segment_run(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_group_segment *segment = argument;
    struct pp_bound_call *call = segment->call;
    struct pp_stage_work work = call->works[segment->work];

    if (segment->is_second) {
        segment->timings_end = segment[-1].timings_end;
        return;
    }
    if (segment == call->segments)
        pp_call_begin(k, stream, call);
    else
        call->part.timing_count = segment[-1].timings_end;
    work.segment = segment->number;
    call->run(k, stream, &work);
    segment->timings_end = call->part.timing_count;
    if (segment->is_last)
        pp_probe_add(call, segment->work);
    if (segment->is_last && call->after)
        call->after(k, stream, &call->made[segment->work]);
}

void pp_segment_exchange(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_group_segment *segment = argument;

    pp_group_exchange_run(k, stream, &segment->exchange, segment->members, segment->from);
}

/* With its own part in place of all others. */
static void exchange_alone(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_group_segment *segment = argument;
    const void *from[PP_GROUP_MEMBERS];

    for (int t = 0; t < segment->members; t++)
        from[t] = segment->exchange.from;
    if (pp_group_exchange_among(&segment->exchange) == PP_AMONG_EP &&
        segment->apart.worker->machine->transport->exchange)
        pp_rows_exchange_try(k, stream, &segment->exchange.rows);
    pp_group_exchange_run(k, stream, &segment->exchange, segment->members, from);
}

void pp_segments_try(struct pp_worker *w, int i)
{
    const struct pp_bound_call *call = &w->machine->calls[pp_row(w, i)];

    for (int s = 0; s < call->segment_count; s++) {
        struct pp_group_segment *segment = &call->segments[s];

        pp_worker_launch(w, false, -1, (struct pp_worker_launch){pp_segment_run, segment});
        if (!segment->is_last)
            pp_worker_launch(w, false, -1, (struct pp_worker_launch){exchange_alone, segment});
    }
}

int64_t pp_segment_exchange_ps(const struct pp_machine *m, const struct pp_group_segment *segment)
{
    return segment->is_last ? 0
                            : pp_group_exchange_ps(m->options.costs, m->options.kernels,
                                                   &segment->exchange, segment->members);
}

int64_t pp_segment_added_ps(const struct pp_machine *m, const struct pp_group_segment *segment,
                            int64_t from_ps, int64_t before_ps)
{
    return pp_later_ps(from_ps, before_ps) + pp_segment_exchange_ps(m, segment);
}

/* ---- times on an asynchronous backend, from the spans of launches ------------------------------
 */

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

/* ---- graphs ---------------------------------------------------------------------------------- */

/* Ids of segments follow those of ops (graphs.c), each without and with timing events. Ops that do
 * the same share graphs. */
int pp_segment_graph(const struct pp_worker *w, int i, const struct pp_group_segment *segment)
{
    const struct pp_machine *m = w->machine;
    const int32_t row = pp_row(w, i), first = pp_row(w, m->p->begin[w->rank] + m->same_as[row]);
    const int place = (int)(segment - m->calls[row].segments) +
                      m->calls[m->has_probes ? row : first].first_segment;

    return pp_bar_graph_id(w) + 1 + 2 * place + m->has_probes;
}

void pp_segments_capture(const struct pp_machine *m, const struct pp_worker *w, int i)
{
    const int32_t row = pp_row(w, i);

    if (!m->has_probes && m->same_as[row] != pp_place_of(w, i))
        return;
    for (int k = 0; k < m->calls[row].segment_count; k++) {
        struct pp_group_segment *segment = &m->calls[row].segments[k];

        m->backend->capture(m->device, w->index, pp_segment_graph(w, i, segment),
                            m->has_probes ? segment->launch : -1, pp_segment_run, segment);
    }
}
