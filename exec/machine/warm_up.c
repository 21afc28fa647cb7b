/* Every kind of op of this process once, before any step: on a GPU a kernel may be loaded, and an
 * algorithm asked for, when it is first launched, and that may wait for all that the device does.
 * What an op computes from memory that holds nothing yet does not matter: what lasts from step to
 * step is put back. */
#include "exec/machine/parts.h"

static bool is_alike(const struct pp_program *p, int a, int b)
{
    return p->kind[a] == p->kind[b] && p->stage[a] == p->stage[b] && p->pipe[a] == p->pipe[b] &&
           p->split[a] == p->split[b] && p->granule_count[a] == p->granule_count[b];
}

static bool is_first_of_kind(const struct pp_program *p, const int *kinds, int count, int i)
{
    for (int k = 0; k < count; k++)
        if (is_alike(p, kinds[k], i))
            return false;
    return true;
}

static void try_kinds(struct pp_worker *w)
{
    struct pp_arena *scratch PP_ARENA_AUTO = pp_arena_create();
    const struct pp_program *p = w->machine->p;
    int *kinds = NULL, count = 0, capacity = 0;

    for (int i = p->begin[w->rank]; i < p->begin[w->rank + 1]; i++)
        if (pp_op_is_compute(p->kind[i]) && is_first_of_kind(p, kinds, count, i)) {
            *PP_PUSH(scratch, kinds, count, capacity) = i;
            pp_worker_try(w, i);
        }
}

enum pp_status pp_machine_warm_up(struct pp_machine *m, struct pp_error *err)
{
    m->backend->begin(m->device);
    for (int k = 0; k < m->worker_count; k++)
        if (!pp_is_elsewhere(m, &m->workers[k]))
            try_kinds(&m->workers[k]);
    PP_TRY(m->backend->finish(m->device, err));
    for (int k = 0; k < m->worker_count; k++)
        if (!pp_is_elsewhere(m, &m->workers[k]))
            PP_TRY(pp_mirror_push(&m->workers[k].mirror, err));
    return PP_OK;
}
