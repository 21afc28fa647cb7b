/* Groups of workers that walk one list together, each with its part of the blocks: devices of a
 * tensor-parallel group, and replicas that share experts. With both, all of them are one group.
 *
 * A call is cut into segments. After each but the last, the group meets, and each worker adds up
 * the parts of all. A part stays in place until the group meets again, when all have read it. So
 * the group also meets at the end of a call with exchanges. On the virtual clock, a segment lasts
 * as long as on the slowest worker, and an exchange as the costs say. A hidden one, of a part of
 * rows, lasts while the next part is computed. The group meets at the end of
 * every op there, so that it acts as one device. Replicas do not. They meet again after each
 * exchange of rows, which may then be overwritten.
 *
 * Where work runs at once, the last worker that comes lets all others go on. With fewer cores than
 * workers on the virtual clock, one worker runs several members of its group: see struct pp_crew.
 */
#include "exec/machine/parts.h"

/* ---- events ---------------------------------------------------------------------------------- */

/* Most meetings of a rank in a step: after each segment of a call, and at the end of an op. */
static int meetings_of(const struct pp_machine *m, int rank)
{
    const struct pp_program *p = m->p;
    int count = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        enum pp_stage_call_kind kind;
        if (pp_bind_kind(p->kind[i], &kind))
            count += p->granule_count[i] *
                     (1 + (m->ep > 1 ? 2 : 1) * pp_inbox_rounds(m) *
                              pp_stage_exchange_count(m->options.stages[p->stage[i]], kind));
        count += pp_op_is_compute(p->kind[i]);
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

/* Time at which an op of the worker began, on the virtual clock. */
static int64_t origin_ps(const struct pp_worker *w)
{
    return pp_is_virtual(w->machine) ? w->clock_ps : 0;
}

static void take_latest(struct pp_worker *w, int at)
{
    int64_t latest_ps = INT64_MIN;

    for (int t = 0; t < pp_group_size(w->machine); t++)
        latest_ps = pp_later_ps(latest_ps, pp_group_peer(w, t)->met_ps[at]);
    for (int c = 0; c < w->crew->size; c++)
        w->crew->members[c]->spent_ps = latest_ps - origin_ps(w->crew->members[c]);
}

/* Meets the group with all members that the worker runs, before an exchange or none (NULL). Their
 * spent_ps become the time at which the last worker came: in the op on the virtual clock, else on
 * the wall clock. A time is read before the meeting after the next one. */
static bool meet(struct pp_worker *w, const struct pp_group_exchange *e)
{
    const struct pp_machine *m = w->machine;
    const int meeting = w->meets, at = meeting % 2;

    for (int c = 0; c < w->crew->size; c++) {
        struct pp_worker *member = w->crew->members[c];

        member->meets++;
        member->met_ps[at] = pp_is_virtual(m) ? origin_ps(member) + member->spent_ps : pp_now_ps(m);
    }
    if (m->transport->exchange)
        return meet_apart(w);
    if (!(m->backend->is_immediate ? meet_at_once(w, meeting, e) : meet_on_streams(w, meeting)))
        return false;
    take_latest(w, at);
    return true;
}

/* Parts that others read in place must stay until all meet again. Copies need no meeting but on the
 * virtual clock. */
static bool meet_again(struct pp_worker *w)
{
    return (w->machine->inbox && !pp_is_virtual(w->machine)) || meet(w, NULL);
}

/* ---- segments -------------------------------------------------------------------------------- */

/* Exchanges what segment `s` has made, after a meeting. Clocks of other hosts agree only up to
 * their error. */
static bool exchange(struct pp_worker *w, struct pp_group_segment *s)
{
    const struct pp_machine *m = w->machine;
    const int64_t from_ps = w->spent_ps;

    if (m->inbox && !pp_inbox_read(w, w->meets - 1, &s->exchange, s->from))
        return false;
    s->exchange_launch = w->launches[false];
    launch(w, -1,
           m->transport->exchange ? (struct pp_worker_launch){m->transport->exchange, &s->apart}
                                  : (struct pp_worker_launch){pp_segment_exchange, s});
    w->added_ps = pp_is_virtual(m) ? pp_segment_added_ps(m, s, from_ps, w->added_ps)
                                   : pp_later_ps(from_ps, pp_now_ps(m));
    if (s->exchange.is_hidden && pp_is_virtual(m))
        return true;
    w->spent_ps = w->added_ps;
    w->exchanged_ps[pp_group_exchange_among(&s->exchange)] += w->spent_ps - from_ps;
    return true;
}

static struct pp_group_segment *segment_at(const struct pp_worker *w, int i, int k)
{
    return &w->machine->calls[pp_row(w, i)].segments[k];
}

static void run_segment(struct pp_worker *w, int i, struct pp_group_segment *s)
{
    s->launch = w->launches[false];
    w->spent_ps +=
        launch(w, pp_segment_graph(w, i, s), (struct pp_worker_launch){pp_segment_run, s});
}

/* Runs segment k for all members that the worker runs, and what the group does after it. */
static bool run_with_group(struct pp_worker *w, int i, int k)
{
    const struct pp_crew *crew = w->crew;
    const struct pp_group_segment *s = segment_at(w, i, k);
    const int ep = w->machine->ep;

    for (int c = 0; c < crew->size; c++)
        run_segment(crew->members[c], i, segment_at(crew->members[c], i, k));
    if (s->is_last)
        return s->number == 0 || ep > 1 || meet_again(w);
    if (!meet(w, &s->exchange))
        return false;
    for (int c = 0; c < crew->size; c++)
        if (!exchange(crew->members[c], segment_at(crew->members[c], i, k)))
            return false;
    return ep == 1 || meet_again(w);
}

/* ---- ops ------------------------------------------------------------------------------------- */

/* Work without segments runs at once. */
static void begin_op(struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;

    m->launch_of[pp_row(w, i)] = w->launches[false];
    w->added_ps = 0;
    pp_worker_warm(w, i, false);
    if (m->calls[pp_row(w, i)].count == 0)
        w->spent_ps += launch(w, pp_graph_id(w, i), pp_launch_of(w, i));
}

static void end_op(const struct pp_worker *w, int i)
{
    struct pp_bound_call *call = &w->machine->calls[pp_row(w, i)];

    if (call->segment_count > 0)
        call->launches_more =
            call->segments[call->segment_count - 1].launch - w->machine->launch_of[pp_row(w, i)];
}

/* Is false if the group has just met. */
static bool must_meet(const struct pp_machine *m, const struct pp_bound_call *call)
{
    const bool has_met =
        call->segment_count > 0 && m->ep == 1 && call->segments[call->segment_count - 1].number > 0;

    return is_clocked(m) && m->tp > 1 && !has_met;
}

static bool run_op(struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    const struct pp_bound_call *call = &m->calls[pp_row(w, i)];
    bool is_there = true;

    for (int c = 0; c < w->crew->size; c++)
        begin_op(w->crew->members[c], i);
    for (int k = 0; k < call->segment_count && is_there; k++)
        is_there = run_with_group(w, i, k);
    for (int c = 0; c < w->crew->size; c++)
        end_op(w->crew->members[c], i);
    return is_there && (!must_meet(m, call) || meet(w, NULL));
}

bool pp_group_run(struct pp_worker *w, int i)
{
    if (!pp_crew_come(w))
        return pp_crew_wait(w, i);
    pp_core_take(w->machine);
    const bool is_there = run_op(w, i);
    pp_core_give(w->machine);
    if (is_there)
        pp_crew_go_on(w, i);
    return is_there;
}
