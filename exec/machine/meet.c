/* Where groups meet, if work runs at once: who has come, and how the others wait. */
#include "exec/machine/parts.h"

/* ---- cores ----------------------------------------------------------------------------------- */

void pp_core_take(struct pp_machine *m)
{
    if (m->has_cores)
        while (sem_wait(&m->cores) != 0) {
        }
}

void pp_core_give(struct pp_machine *m)
{
    if (m->has_cores)
        sem_post(&m->cores);
}

/* ---- meetings -------------------------------------------------------------------------------- */

pp_event_id pp_meeting_event(const struct pp_worker *w, int meeting)
{
    const struct pp_machine *m = w->machine;

    return m->first_meet[pp_group_of(w)] + pp_group_size(m) * meeting;
}

bool pp_group_come(struct pp_worker *w, int meeting)
{
    const struct pp_machine *m = w->machine;
    struct pp_meeting_point *point = &m->meeting_points[pp_group_of(w)];

    if (atomic_fetch_add(&point->here[meeting % 2], 1) < pp_group_size(m) - 1)
        return false;
    atomic_store(&point->here[meeting % 2], 0);
    atomic_fetch_add(&point->met, 1);
    m->backend->record(m->device, w->index, pp_meeting_event(w, meeting));
    return true;
}

/* Waits until the event is recorded, which the group's last worker does at meeting `met`. A futex
 * takes about as long as the spinning. */
bool pp_group_wait(struct pp_worker *w, unsigned met, int meeting)
{
    enum { SPIN_PS = 10000000 };
    struct pp_machine *m = w->machine;
    const atomic_uint *now = &m->meeting_points[pp_group_of(w)].met;
    bool is_there = true;

    atomic_store_explicit(&w->is_meeting, true, memory_order_relaxed);
    for (int64_t from_ps = pp_wall_ps();
         m->may_spin && atomic_load(now) == met && pp_wall_ps() - from_ps < SPIN_PS;) {
    }
    if (atomic_load(now) == met) {
        pp_core_give(m);
        is_there = m->backend->wait(m->device, w->index, pp_meeting_event(w, meeting));
        pp_core_take(m);
    }
    atomic_store_explicit(&w->is_meeting, false, memory_order_relaxed);
    return is_there;
}
