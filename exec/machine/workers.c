/* From the first step to the last: workers sleep between steps, then walk their lists, while
 * whoever asked for the step conducts it. Where work is deferred there are none: it is issued by
 * the caller, worker by worker. */
#include "exec/host/futex.h"
#include "exec/machine/parts.h"

enum { LOOK_NS = 100 * 1000 * 1000 }; /* whether anybody is left */

static void serve(struct pp_worker *w)
{
    struct pp_machine *m = w->machine;

    for (unsigned round = 0;;) {
        const unsigned now = atomic_load(&m->round);

        if (now == round) {
            pp_futex_wait(&m->round, round, -1);
            continue;
        }
        round = now;
        if (m->is_over)
            return;
        pp_worker_run(w);
        if (atomic_fetch_sub(&m->running, 1) == 1)
            pp_futex_wake(&m->running);
    }
}

void pp_worker_serve(struct pp_worker *w)
{
    pp_reducer_start(w);
    serve(w);
    pp_reducer_stop(w);
}

static void next_round(struct pp_machine *m)
{
    atomic_fetch_add(&m->round, 1);
    pp_futex_wake(&m->round);
}

enum pp_status pp_workers_start(struct pp_machine *m, struct pp_error *err)
{
    if (m->backend->is_deferred)
        return PP_OK;
    PP_TRY(m->transport->start(m, err));
    return pp_watchdog_start(m, err);
}

void pp_workers_run(struct pp_machine *m)
{
    struct pp_error err = {0};

    if (m->backend->is_deferred) {
        for (int k = 0; k < m->worker_count; k++)
            pp_worker_run(&m->workers[k]);
        pp_barriers_conduct(m);
        return;
    }
    atomic_store(&m->running, (unsigned)m->worker_count);
    if (m->remote && m->remote->begin(m, &err) != PP_OK) {
        pp_machine_fail(m, &err);
        atomic_store(&m->running, 0);
        return;
    }
    next_round(m);
    pp_barriers_conduct(m);
    for (unsigned left; (left = atomic_load(&m->running)) > 0 && !m->are_gone;)
        pp_futex_wait(&m->running, left, LOOK_NS);
    atomic_store(&m->running, 0);
}

bool pp_machine_is_member(const struct pp_machine *m)
{
    return m->remote && m->remote->is_member(m);
}

int64_t pp_machine_passed(struct pp_machine *m)
{
    return m->backend->passed ? m->backend->passed(m->device) : 0;
}

enum pp_status pp_machine_serve(struct pp_machine *m, struct pp_error *err)
{
    return m->remote->serve(m, err);
}

enum pp_status pp_machine_clock(struct pp_machine *m, struct pp_machine_clock *clock,
                                struct pp_error *err)
{
    if (m->remote)
        PP_TRY(m->remote->align(m, true, err));
    *clock = pp_is_virtual(m) ? (struct pp_machine_clock){0} : m->clock;
    return PP_OK;
}

void pp_workers_end(struct pp_machine *m)
{
    pp_watchdog_stop(m);
    m->is_over = true;
    next_round(m);
    m->transport->stop(m);
}
