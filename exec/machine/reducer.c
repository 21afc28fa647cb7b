/* On the wall clock sums of gradients run beside compute: whoever posts one last hands it to a
 * thread of its own and goes on. On the virtual clock they take what the costs say, whoever runs
 * them; and whoever only issues work goes on at once. */
#include "exec/host/futex.h"
#include "exec/machine/parts.h"

static void *reduce(void *argument)
{
    struct pp_worker *w = argument;
    struct pp_reducer *r = &w->reducer;

    for (unsigned taken = 0;;) {
        const unsigned seen = atomic_load(&r->changes);

        if (taken != atomic_load(&r->given))
            pp_collective_run(w->machine, r->queue[taken++ % r->capacity]);
        else if (atomic_load(&r->is_over))
            return NULL;
        else
            pp_futex_wait(&r->changes, seen, -1);
    }
}

static void tell(struct pp_reducer *r)
{
    atomic_fetch_add(&r->changes, 1);
    pp_futex_wake(&r->changes);
}

/* Without a thread the worker runs its sums itself. */
void pp_reducer_start(struct pp_worker *w)
{
    struct pp_reducer *r = &w->reducer;

    if (pp_is_virtual(w->machine) || w->machine->remote || w->collective_count == 0 ||
        !w->machine->backend->is_immediate)
        return;
    r->is_there = pthread_create(&r->thread, NULL, reduce, w) == 0;
}

/* All that is given in a step has begun before it ends, as everything is waited for. */
bool pp_reducer_give(struct pp_worker *w, int32_t collective)
{
    struct pp_reducer *r = &w->reducer;

    if (!r->is_there)
        return false;
    r->queue[atomic_load(&r->given) % r->capacity] = collective;
    atomic_fetch_add(&r->given, 1);
    tell(r);
    return true;
}

void pp_reducer_stop(struct pp_worker *w)
{
    struct pp_reducer *r = &w->reducer;

    if (!r->is_there)
        return;
    atomic_store(&r->is_over, true);
    tell(r);
    pthread_join(r->thread, NULL);
    r->is_there = false;
}
