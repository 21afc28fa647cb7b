/* Tensor-parallel groups: workers that walk one list together, each with its part of the blocks.
 *
 * A call is cut into segments. After each but the last, the group meets, and each worker adds up
 * the parts of all. A meeting has two events of each worker: its part is there; it has read all
 * parts. On the virtual clock, a segment lasts as long as on the slowest worker, and an exchange as
 * the costs say. The group also meets at the end of an op there, so that it acts as one device. */
#include "exec/host/host.h"
#include "exec/machine/parts.h"

struct pp_segment {
    struct pp_bound_call *call;
    int work, number; /* number in the call of this work */
    bool is_last;     /* of this work: no exchange follows */
    struct pp_tp_exchange exchange;
    const void **from; /* [tp] */
    int tp;
};

/* ---- events ---------------------------------------------------------------------------------- */

enum { MEETING_EVENTS = 2 }; /* of each worker */

static int meetings_of(const struct pp_machine *m, int rank)
{
    const struct pp_program *p = m->p;
    int count = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        enum pp_stage_call_kind kind;
        if (pp_bind_kind(p->kind[i], &kind))
            count +=
                p->granule_count[i] * pp_stage_exchange_count(m->options.stages[p->stage[i]], kind);
        count += pp_op_is_compute(p->kind[i]); /* at its end */
    }
    return count;
}

int pp_group_events(struct pp_machine *m)
{
    int count = 0;

    if (m->tp == 1)
        return 0;
    m->first_meet = PP_ARRAY(m->arena, pp_event_id, m->p->ranks * m->replicas);
    for (int k = 0; k < m->p->ranks * m->replicas; k++) {
        m->first_meet[k] = m->first_release + m->barrier_count + count;
        count += MEETING_EVENTS * m->tp * meetings_of(m, k / m->replicas);
    }
    return count;
}

/* ---- binding --------------------------------------------------------------------------------- */

static void cut(struct pp_machine *m, struct pp_bound_call *call)
{
    struct pp_tp_exchange *exchanges;
    int count = 0;

    for (int g = 0; g < call->count; g++)
        count += 1 + pp_stage_exchanges(&call->works[g], call->kind, NULL);
    call->segments = PP_ARRAY(m->arena, struct pp_segment, count);
    exchanges = PP_ARRAY(m->arena, struct pp_tp_exchange, count);
    for (int g = 0; g < call->count; g++) {
        const int last = pp_stage_exchanges(&call->works[g], call->kind, exchanges);
        for (int s = 0; s <= last; s++)
            call->segments[call->segment_count++] =
                (struct pp_segment){.call = call,
                                    .work = g,
                                    .number = s,
                                    .is_last = s == last,
                                    .exchange = exchanges[s],
                                    .from = PP_ARRAY(m->arena, const void *, m->tp),
                                    .tp = m->tp};
    }
}

/* Tells each worker of a group where the parts of all are. */
static void connect(const struct pp_machine *m, const struct pp_worker *w, int i)
{
    struct pp_bound_call *call = &m->calls[pp_row(w, i)];

    for (int t = 0; t < m->tp; t++) {
        const struct pp_worker *peer = pp_worker_at(m, w->rank, w->replica, t);
        const struct pp_segment *parts = m->calls[pp_row(peer, i)].segments;
        for (int s = 0; s < call->segment_count; s++)
            call->segments[s].from[t] = parts[s].exchange.from;
    }
}

void pp_bind_groups(struct pp_machine *m)
{
    for (size_t row = 0; m->tp > 1 && row < pp_rows(m); row++)
        cut(m, &m->calls[row]);
    for (int k = 0; m->tp > 1 && k < m->worker_count; k++) {
        const struct pp_worker *w = &m->workers[k];
        for (int i = m->p->begin[w->rank]; i < m->p->begin[w->rank + 1]; i++)
            connect(m, w, i);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static void run_segment(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_segment *segment = argument;
    struct pp_bound_call *call = segment->call;
    struct pp_stage_work work = call->works[segment->work];

    if (segment == call->segments)
        pp_call_begin(k, stream, call);
    work.segment = segment->number;
    call->run(k, stream, &work);
    if (segment->is_last)
        pp_probe_add(call, segment->work);
}

static void run_exchange(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_segment *segment = argument;

    pp_tp_exchange_run(k, stream, &segment->exchange, segment->tp, segment->from);
}

static bool is_clocked(const struct pp_machine *m)
{
    return pp_is_virtual(m) && m->backend->is_immediate;
}

/* Waits until all workers of the group have recorded an event. */
static bool wait_for_group(struct pp_worker *w, pp_event_id first)
{
    const struct pp_machine *m = w->machine;
    bool is_there = true;

    atomic_store_explicit(&w->is_meeting, true, memory_order_relaxed);
    for (int t = 0; t < m->tp && is_there; t++)
        is_there = m->backend->wait(m->device, w->index, first + t);
    atomic_store_explicit(&w->is_meeting, false, memory_order_relaxed);
    return is_there;
}

/* Returns the time in the op at which the last worker came. */
static int64_t latest_ps(const struct pp_worker *w)
{
    int64_t latest_ps = 0;

    for (int t = 0; t < w->machine->tp; t++)
        latest_ps =
            pp_later_ps(latest_ps, pp_worker_at(w->machine, w->rank, w->replica, t)->met_ps);
    return latest_ps;
}

/* Meets the group, and exchanges what segment `s` has made; NULL = nothing. `*spent_ps` is the
 * worker's time in the op, and becomes that of all. */
static bool meet(struct pp_worker *w, struct pp_segment *s, int64_t *spent_ps)
{
    const struct pp_machine *m = w->machine;
    const pp_event_id here = m->first_meet[w->rank * m->replicas + w->replica] +
                             MEETING_EVENTS * m->tp * w->meets++,
                      done = here + m->tp;

    w->met_ps = *spent_ps;
    m->backend->record(m->device, w->index, here + w->tp_index);
    if (!wait_for_group(w, here))
        return false;
    *spent_ps = latest_ps(w);
    if (s) {
        pp_worker_launch(w, false, 0, (struct pp_worker_launch){run_exchange, s});
        *spent_ps += pp_tp_exchange_ps(m->options.costs, m->tp,
                                       (double)s->exchange.count *
                                           (double)m->options.kernels->element_bytes);
    }
    m->backend->record(m->device, w->index, done + w->tp_index);
    return wait_for_group(w, done);
}

/* Launches on one of the cores. Returns the time of the thread that the work has taken. */
static int64_t launch(struct pp_worker *w, struct pp_worker_launch work)
{
    struct pp_machine *m = w->machine;

    if (m->has_cores)
        while (sem_wait(&m->cores) != 0) {
        }
    const int64_t before_ns = pp_machine_now_ns(m);
    pp_worker_launch(w, false, 0, work);
    const int64_t spent_ns = pp_machine_now_ns(m) - before_ns;
    if (m->has_cores)
        sem_post(&m->cores);
    w->inside_ns += spent_ns;
    return 1000 * spent_ns;
}

bool pp_group_run(struct pp_worker *w, int i, int64_t *spent_ps)
{
    struct pp_machine *m = w->machine;
    struct pp_bound_call *call = &m->calls[pp_row(w, i)];

    m->launch_of[pp_row(w, i)] = w->launches[false];
    if (call->count == 0)
        *spent_ps += launch(w, pp_launch_of(w, i));
    for (struct pp_segment *s = call->segments; s < call->segments + call->segment_count; s++) {
        *spent_ps += launch(w, (struct pp_worker_launch){run_segment, s});
        if (!s->is_last && !meet(w, s, spent_ps))
            return false;
    }
    return !is_clocked(m) || meet(w, NULL, spent_ps);
}

/* ---- asynchronous backends ------------------------------------------------------------------- */

/* Time of a worker's own launches, without exchanges. */
static double own_s(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    const struct pp_bound_call *call = &m->calls[pp_row(w, i)];
    int launch = m->launch_of[pp_row(w, i)];
    double s = 0;

    if (call->count == 0) {
        const struct pp_span span = m->backend->span(m->device, w->index, launch);
        return span.end_s - span.start_s;
    }
    for (int k = 0; k < call->segment_count; k++) {
        const struct pp_span span = m->backend->span(m->device, w->index, launch);
        s += span.end_s - span.start_s;
        launch += call->segments[k].is_last ? 1 : 2;
    }
    return s;
}

int64_t pp_group_ps(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    const struct pp_bound_call *call = &m->calls[pp_row(w, i)];
    double longest_s = 0;
    int64_t exchanges_ps = 0;

    for (int t = 0; t < m->tp; t++) {
        const double s = own_s(pp_worker_at(m, w->rank, w->replica, t), i);
        longest_s = s > longest_s ? s : longest_s;
    }
    for (int k = 0; k < call->segment_count; k++)
        if (!call->segments[k].is_last)
            exchanges_ps += pp_tp_exchange_ps(m->options.costs, m->tp,
                                              (double)call->segments[k].exchange.count *
                                                  (double)m->options.kernels->element_bytes);
    return (int64_t)(longest_s * 1e12) + exchanges_ps;
}
