/* Groups of workers that walk one list together, each with its part of the blocks: devices of a
 * tensor-parallel group, and replicas that share experts. With both, all of them are one group.
 *
 * A call is cut into segments. After each but the last, the group meets, and each worker adds up
 * the parts of all. A part stays in place until the group meets again, when all have read it. So
 * the group also meets at the end of a call with exchanges. On the virtual clock, a segment lasts
 * as long as on the slowest worker, and an exchange as the costs say. The group meets at the end of
 * every op there, so that it acts as one device. Replicas do not. They meet again after each
 * exchange of rows, which may then be overwritten.
 *
 * Where work runs at once, the last worker that comes lets all others go on. They spin for a short
 * time if every worker has a core, and then sleep. Else a worker gives its core away. */
#include "exec/machine/parts.h"

/* ---- events ---------------------------------------------------------------------------------- */

enum { TURN_MEETINGS = 2 }; /* around taking a turn */

/* Most meetings of a rank in a step: after each segment of a call, and around an op. */
static int meetings_of(const struct pp_machine *m, int rank)
{
    const struct pp_program *p = m->p;
    int count = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        enum pp_stage_call_kind kind;
        if (pp_bind_kind(p->kind[i], &kind))
            count += p->granule_count[i] *
                     (1 + (m->ep > 1 ? 2 : 1) *
                              pp_stage_exchange_count(m->options.stages[p->stage[i]], kind));
        count += pp_op_is_compute(p->kind[i]) * (1 + TURN_MEETINGS);
    }
    return count;
}

int pp_group_events(struct pp_machine *m)
{
    const int groups = m->p->ranks * m->replicas;
    int count = 0;

    if (pp_group_size(m) == 1)
        return 0;
    m->meeting_points = PP_ARRAY(m->arena, struct pp_meeting_point, groups);
    m->first_meet = PP_ARRAY(m->arena, pp_event_id, groups);
    for (int k = 0; k < groups; k++) {
        m->first_meet[k] = m->first_release + m->barrier_count + count;
        if (k % m->replicas % m->ep > 0)
            continue;
        m->meeting_points[k].most = meetings_of(m, k / m->replicas);
        count += pp_group_size(m) * m->meeting_points[k].most;
    }
    return count;
}

/* ---- binding --------------------------------------------------------------------------------- */

static void cut(struct pp_machine *m, struct pp_bound_call *call)
{
    struct pp_group_exchange *exchanges;
    int count = 0;

    for (int g = 0; g < call->count; g++)
        count += 1 + pp_stage_exchanges(&call->works[g], call->kind, NULL);
    call->segments = PP_ARRAY(m->arena, struct pp_group_segment, count);
    exchanges = PP_ARRAY(m->arena, struct pp_group_exchange, count);
    for (int g = 0; g < call->count; g++) {
        const int last = pp_stage_exchanges(&call->works[g], call->kind, exchanges);
        for (int s = 0; s <= last; s++)
            call->segments[call->segment_count++] = (struct pp_group_segment){
                .call = call,
                .work = g,
                .number = s,
                .is_last = s == last,
                .exchange = exchanges[s],
                .from = PP_ARRAY(m->arena, const void *, pp_group_size(m)),
                .members = pp_group_members(m, &exchanges[s])};
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

static bool is_clocked(const struct pp_machine *m)
{
    return pp_is_virtual(m) && m->backend->is_immediate;
}

/* Returns the time of the thread that the work has taken. `graph`: its number, -1 = none. */
static int64_t launch(struct pp_worker *w, int graph, struct pp_worker_launch work)
{
    const int64_t before_ns = pp_machine_now_ns(w->machine);

    pp_worker_launch(w, false, graph, work);
    const int64_t spent_ns = pp_machine_now_ns(w->machine) - before_ns;
    w->inside_ns += spent_ns;
    return 1000 * spent_ns;
}

/* ---- meetings -------------------------------------------------------------------------------- */

static bool meet_at_once(struct pp_worker *w, int meeting, const struct pp_group_exchange *e)
{
    const struct pp_machine *m = w->machine;
    const unsigned met = atomic_load(&m->meeting_points[pp_group_of(w)].met);

    if (m->inbox)
        pp_inbox_tell(w, meeting, e);
    return pp_group_come(w, meeting) || pp_group_wait(w, met, meeting);
}

static bool meet_on_streams(struct pp_worker *w, int meeting)
{
    const struct pp_machine *m = w->machine;
    const pp_event_id first = pp_meeting_event(w, meeting);
    bool is_there = true;

    m->backend->record(m->device, w->index, first + pp_group_index(w));
    atomic_store_explicit(&w->is_meeting, true, memory_order_relaxed);
    for (int t = 0; t < pp_group_size(m) && is_there; t++)
        is_there = m->backend->wait(m->device, w->index, first + t);
    atomic_store_explicit(&w->is_meeting, false, memory_order_relaxed);
    return is_there;
}

/* Where devices are of other processes, streams wait for them, not hosts. */
static bool meet_apart(struct pp_worker *w)
{
    const pp_backend_work work = w->machine->transport->meet;

    if (work)
        launch(w, -1, (struct pp_worker_launch){work, w});
    return true;
}

/* Meets the group, before an exchange or none (NULL). `*spent_ps` becomes the time at which the
 * last worker came: in the op on the virtual clock, else on the wall clock. A time is read before
 * the meeting after the next one. */
static bool meet(struct pp_worker *w, const struct pp_group_exchange *e, int64_t *spent_ps)
{
    const struct pp_machine *m = w->machine;
    const int64_t origin_ps = pp_is_virtual(m) ? w->clock_ps : 0;
    const int meeting = w->meets++, at = meeting % 2;

    if (m->transport->exchange)
        return meet_apart(w);
    w->met_ps[at] = pp_is_virtual(m) ? origin_ps + *spent_ps : pp_now_ps(m);
    if (!(m->backend->is_immediate ? meet_at_once(w, meeting, e) : meet_on_streams(w, meeting)))
        return false;
    *spent_ps = INT64_MIN;
    for (int t = 0; t < pp_group_size(m); t++)
        *spent_ps = pp_later_ps(*spent_ps, pp_group_peer(w, t)->met_ps[at] - origin_ps);
    return true;
}

/* Exchanges what segment `s` has made, after a meeting that ended at `*spent_ps`. Clocks of other
 * hosts agree only up to their error. */
static bool exchange(struct pp_worker *w, struct pp_group_segment *s, int64_t *spent_ps)
{
    const struct pp_machine *m = w->machine;
    const int64_t from_ps = *spent_ps;

    if (m->inbox && !pp_inbox_read(w, w->meets - 1, &s->exchange, s->from))
        return false;
    s->exchange_launch = w->launches[false];
    launch(w, -1,
           m->transport->exchange ? (struct pp_worker_launch){m->transport->exchange, &s->apart}
                                  : (struct pp_worker_launch){pp_segment_exchange, s});
    *spent_ps = pp_is_virtual(m) ? from_ps + pp_segment_exchange_ps(m, s)
                                 : pp_later_ps(from_ps, pp_now_ps(m));
    w->exchanged_ps[pp_group_exchange_among(&s->exchange)] += *spent_ps - from_ps;
    return true;
}

/* Parts that others read in place must stay until all meet again. Copies need no meeting but on the
 * virtual clock. */
static bool meet_again(struct pp_worker *w, int64_t *spent_ps)
{
    return (w->machine->inbox && !pp_is_virtual(w->machine)) || meet(w, NULL, spent_ps);
}

/* Runs a segment, and what the group does after it. */
static bool run_with_group(struct pp_worker *w, int i, struct pp_group_segment *s,
                           int64_t *spent_ps)
{
    s->launch = w->launches[false];
    *spent_ps += launch(w, pp_segment_graph(w, i, s), (struct pp_worker_launch){pp_segment_run, s});
    if (s->is_last)
        return s->number == 0 || w->machine->ep > 1 || meet_again(w, spent_ps);
    if (!meet(w, &s->exchange, spent_ps) || !exchange(w, s, spent_ps))
        return false;
    return w->machine->ep == 1 || meet_again(w, spent_ps);
}

/* With fewer cores than workers, few groups compute at the same time. So a group that waits for its
 * members finds its operands in the caches. It takes its turn when all have come: a group with a
 * turn waits for no other group. */
static bool take_turn(struct pp_worker *w)
{
    struct pp_machine *m = w->machine;

    if (!m->has_cores || m->inbox)
        return true;
    if (!meet_at_once(w, w->meets++, NULL))
        return false;
    if (pp_group_index(w) == 0) {
        pp_core_give(m);
        while (sem_wait(&m->turns) != 0) {
        }
        pp_core_take(m);
        w->has_turn = true;
    }
    return meet_at_once(w, w->meets++, NULL);
}

static void give_turn(struct pp_worker *w)
{
    if (w->has_turn)
        sem_post(&w->machine->turns);
    w->has_turn = false;
}

bool pp_group_run(struct pp_worker *w, int i, int64_t *spent_ps)
{
    struct pp_machine *m = w->machine;
    struct pp_bound_call *call = &m->calls[pp_row(w, i)];
    bool is_there = true;

    m->launch_of[pp_row(w, i)] = w->launches[false];
    pp_core_take(m);
    is_there = take_turn(w);
    pp_worker_warm(w, i, false);
    if (call->count == 0 && is_there)
        *spent_ps += launch(w, pp_graph_id(w, i), pp_launch_of(w, i));
    for (int k = 0; k < call->segment_count && is_there; k++)
        is_there = run_with_group(w, i, &call->segments[k], spent_ps);
    if (call->segment_count > 0)
        call->launches_more =
            call->segments[call->segment_count - 1].launch - m->launch_of[pp_row(w, i)];
    if (is_there && is_clocked(m) && m->tp > 1)
        is_there = meet(w, NULL, spent_ps);
    pp_core_give(m);
    give_turn(w);
    return is_there;
}
