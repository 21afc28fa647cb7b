/* Posts, runs and awaits copies. */
#include "exec/copy/parts.h"
#include "exec/copy/updates.h"
#include "exec/host/futex.h"
#include "exec/host/host.h"

int pp_copy_streams(const struct pp_machine *m)
{
    return m->has_copies ? m->worker_count * PP_COPY_STREAMS : 0;
}

int pp_copy_events(const struct pp_machine *m)
{
    return m->has_copies ? (int)pp_rows(m) : 0;
}

enum pp_status pp_copies_begin(struct pp_machine *m, struct pp_error *err)
{
    for (int k = 0; k < m->worker_count && m->has_copies; k++) {
        struct pp_worker *w = &m->workers[k];

        for (int s = 0; s < PP_COPY_STREAMS; s++) {
            w->copied_ps[s] = m->begin_ps;
            w->copies_launched[s] = 0;
            w->copiers[s].called = 0;
        }
        for (int cause = 0; cause < PP_MOVE_CAUSES && !m->is_forward; cause++)
            w->copied_bytes[cause][false] = w->copied_bytes[cause][true] = 0;
        if (!pp_is_elsewhere(m, w))
            PP_TRY(pp_update_refresh(w, err));
    }
    return PP_OK;
}

static struct pp_bound_copy *copy_at(const struct pp_worker *w, int i)
{
    return w->machine->copies[pp_row(w, i)];
}

static enum pp_copy_stream stream_of(const struct pp_machine *m, int i)
{
    return pp_move_stream(m->p->purpose[i]);
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Runs a copy on its stream, after its post and the copy of the other stream. */
static void run_copy(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    struct pp_bound_copy *copy = copy_at(w, i);
    const enum pp_copy_stream kind = stream_of(m, i);
    const pp_stream_id stream = pp_copy_stream_of(w, kind);
    const size_t at = pp_cell_at(w, i);

    if (!m->backend->wait(m->device, stream, pp_row(w, i)) ||
        (copy->after >= 0 && pp_worker_has(w, copy->after) &&
         !m->backend->wait(m->device, stream, copy_at(w, copy->after)->done)))
        return;
    const int64_t start_ps = pp_now_ps(m);
    copy->launch = w->copies_launched[kind]++;
    m->backend->launch(m->device, stream, copy->run, copy);
    if (!pp_is_virtual(m)) {
        m->start_ps[at] = start_ps;
        m->end_ps[at] = pp_now_ps(m);
    }
    m->backend->record(m->device, stream, copy->done);
}

static void *run_queue(void *argument)
{
    struct pp_copier *c = argument;

    for (;;) {
        const unsigned seen = atomic_load(&c->changes);

        while (c->taken != atomic_load(&c->given))
            run_copy(c->worker, c->queue[c->taken++ % c->capacity]);
        if (atomic_load(&c->is_over))
            return NULL;
        pp_futex_wait(&c->changes, seen, -1);
    }
}

/* Without its thread the worker runs the copies of a stream itself. */
void pp_copiers_start(struct pp_worker *w)
{
    struct pp_machine *m = w->machine;

    if (!m->has_copies || pp_is_virtual(m) || !m->backend->is_immediate)
        return;
    for (int s = 0; s < PP_COPY_STREAMS; s++)
        if (w->copiers[s].capacity > 1)
            w->copiers[s].is_there =
                pthread_create(&w->copiers[s].thread, NULL, run_queue, &w->copiers[s]) == 0;
}

void pp_copiers_stop(struct pp_worker *w)
{
    for (int s = 0; s < PP_COPY_STREAMS; s++) {
        struct pp_copier *c = &w->copiers[s];

        if (!c->is_there)
            continue;
        atomic_store(&c->is_over, true);
        pp_futex_change(&c->changes);
        pthread_join(c->thread, NULL);
        c->is_there = false;
    }
}

/* ---- post and wait --------------------------------------------------------------------------- */

/* Stamps a copy on the virtual clock, as engines do. */
static void stamp(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    const int purpose = m->p->purpose[i];
    const size_t at = pp_cell_at(w, i);
    int64_t *last_ps = &w->copied_ps[pp_move_stream(purpose)];

    m->start_ps[at] =
        pp_later_ps(pp_later_ps(w->clock_ps, *last_ps), w->copied_ps[pp_move_after(purpose)]);
    *last_ps = m->end_ps[at] = m->start_ps[at] + copy_at(w, i)->ps;
}

/* Launches the work that comes before the post. */
static void prepare(struct pp_worker *w, int i)
{
    const int64_t before_ns = pp_machine_now_ns(w->machine);

    pp_worker_launch(w, false, -1, (struct pp_worker_launch){copy_at(w, i)->before, copy_at(w, i)});
    w->inside_ns += pp_machine_now_ns(w->machine) - before_ns;
}

bool pp_copy_post(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    struct pp_copier *c = &w->copiers[stream_of(m, i)];

    if (copy_at(w, i)->before)
        prepare(w, i);
    m->posted_ps[pp_cell_at(w, i)] = w->clock_ps;
    if (pp_is_virtual(m))
        stamp(w, i);
    m->backend->record(m->device, pp_stream_of(w, i), pp_row(w, i));
    if (c->is_there) {
        c->queue[atomic_load(&c->given) % c->capacity] = i;
        atomic_fetch_add(&c->given, 1);
        pp_futex_change(&c->changes);
        return true;
    }
    const int64_t before_ns = pp_machine_now_ns(m);
    run_copy(w, i);
    w->inside_ns += pp_machine_now_ns(m) - before_ns;
    return true;
}

bool pp_copy_wait(struct pp_worker *w, int target)
{
    struct pp_machine *m = w->machine;

    return m->backend->wait(m->device, w->index, copy_at(w, target)->done);
}
