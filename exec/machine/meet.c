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

/* ---- crews ----------------------------------------------------------------------------------- */

int pp_crew_size(const struct pp_machine *m, int cores)
{
    const bool shares_memory = !m->transport->came && !m->transport->exchange;
    int size = 1;

    if (!pp_is_virtual(m) || !m->backend->is_immediate || !shares_memory)
        return 1;
    while (size < pp_group_size(m) &&
           (pp_group_size(m) % size != 0 || m->worker_count / size > cores))
        size++;
    return size;
}

void pp_bind_crews(struct pp_machine *m)
{
    const int size = m->crew_size;
    struct pp_crew *crews = PP_ARRAY(m->arena, struct pp_crew, m->worker_count / size);

    for (int k = 0, count = 0; k < m->worker_count; k++) {
        const int first = pp_group_index(&m->workers[k]);

        if (first % size > 0)
            continue;
        crews[count] =
            (struct pp_crew){.members = PP_ARRAY(m->arena, struct pp_worker *, size), .size = size};
        for (int c = 0; c < size; c++) {
            crews[count].members[c] = pp_group_peer(&m->workers[k], first + c);
            crews[count].members[c]->crew = &crews[count];
        }
        count++;
    }
}

bool pp_crew_come(struct pp_worker *w)
{
    if (atomic_fetch_add(&w->crew->here, 1) < w->crew->size - 1)
        return false;
    atomic_store(&w->crew->here, 0);
    return true;
}

static pp_event_id crew_event(const struct pp_worker *w, int i)
{
    return pp_row(w->crew->members[0], i);
}

bool pp_crew_wait(struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;

    atomic_store_explicit(&w->is_meeting, true, memory_order_relaxed);
    const bool is_there = m->backend->wait(m->device, w->index, crew_event(w, i));
    atomic_store_explicit(&w->is_meeting, false, memory_order_relaxed);
    return is_there;
}

void pp_crew_go_on(const struct pp_worker *w, int i)
{
    if (w->crew->size > 1)
        w->machine->backend->record(w->machine->device, w->index, crew_event(w, i));
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

    if (atomic_fetch_add(&point->here[meeting % 2], 1) < pp_group_size(m) / m->crew_size - 1)
        return false;
    atomic_store(&point->here[meeting % 2], 0);
    point->met_ps = pp_wall_ps();
    atomic_fetch_add(&point->met, 1);
    m->backend->record(m->device, w->index, pp_meeting_event(w, meeting));
    return true;
}

enum { SHORT_PS = 10000000, LONG_PS = 60000000, TRUSTED = 4 };

/* A thread that sleeps wakes late, and the others then wait for it. So spinning for long pays, but
 * only where waits are short. Where other programs take the cores away, it would be in vain. A
 * sleep takes about as long as the short time. */
static int64_t most_spin_ps(const struct pp_worker *w)
{
    return !w->machine->may_spin ? 0 : w->short_waits >= TRUSTED ? LONG_PS : SHORT_PS;
}

/* Waits until the event is recorded, which the group's last worker does at meeting `met`. */
bool pp_group_wait(struct pp_worker *w, unsigned met, int meeting)
{
    const struct pp_machine *m = w->machine;
    const struct pp_meeting_point *point = &m->meeting_points[pp_group_of(w)];
    const int64_t from_ps = pp_wall_ps(), until_ps = from_ps + most_spin_ps(w);
    bool is_there = true;

    atomic_store_explicit(&w->is_meeting, true, memory_order_relaxed);
    while (atomic_load(&point->met) == met && pp_wall_ps() < until_ps) {
    }
    if (atomic_load(&point->met) == met)
        is_there = m->backend->wait(m->device, w->index, pp_meeting_event(w, meeting));
    if (is_there && point->met_ps - from_ps < LONG_PS)
        w->short_waits += w->short_waits < TRUSTED;
    else
        w->short_waits = 0;
    atomic_store_explicit(&w->is_meeting, false, memory_order_relaxed);
    return is_there;
}
