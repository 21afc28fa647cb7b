/* Gradient sums and other collectives in a step. The collectives of a worker run in the order of
 * its list. The worker that posts last runs all collectives that are then ready. Copies are added
 * in the order of replicas, pipelines and stages. The order matters only without exact gradients;
 * it is the same in every step.
 *
 * On the wall clock sums run concurrently with compute, in a thread of the worker that posts last
 * (its reducer). On the virtual clock they last as the costs say, in any thread. */
#include "exec/host/futex.h"
#include "exec/machine/parts.h"

int pp_collective_turn(const struct pp_worker *w, int turn)
{
    while (turn < w->collective_count &&
           !pp_worker_has(w, pp_instruction_at(w->machine, w->collective_row[turn])))
        turn++;
    return turn;
}

void pp_sums_begin(struct pp_machine *m)
{
    for (int c = 0; c < m->collective_count; c++)
        m->collectives[c].posts = m->collectives[c].launch = m->collectives[c].launches = 0;
    for (int k = 0; k < m->worker_count; k++) {
        m->workers[k].turn = pp_collective_turn(&m->workers[k], 0);
        m->workers[k].is_summing = 0;
        m->workers[k].reduce_ps = m->begin_ps;
    }
}

static bool has_turn(const struct pp_machine *m, const struct pp_machine_collective *c)
{
    if (c->posts < c->row_count)
        return false;
    for (int k = 0; k < c->row_count; k++) {
        const struct pp_worker *w = &m->workers[c->members[k]];
        if (w->turn >= w->collective_count || w->collective_row[w->turn] != c->rows[k])
            return false;
    }
    return true;
}

/* Stamps a collective of free members that have all posted, advances their turns, and queues it.
 * The ring cannot overflow: a step waits for all that it queues. */
static void settle(struct pp_worker *w, struct pp_machine_collective *c)
{
    struct pp_machine *m = w->machine;
    struct pp_reducer *r = &w->reducer;
    int64_t start_ps = m->begin_ps;

    for (int k = 0; k < c->row_count; k++) {
        start_ps = pp_later_ps(start_ps, m->posted_ps[pp_cell(m, c->rows[k])]);
        start_ps = pp_later_ps(start_ps, m->workers[c->members[k]].reduce_ps);
    }
    for (int k = 0; k < c->row_count; k++) {
        struct pp_worker *member = &m->workers[c->members[k]];
        m->start_ps[pp_cell(m, c->rows[k])] = start_ps;
        m->end_ps[pp_cell(m, c->rows[k])] = start_ps + c->ps;
        member->reduce_ps = start_ps + c->ps;
        member->turn = pp_collective_turn(member, member->turn + 1);
    }
    r->queue[atomic_load(&r->given) % r->capacity] = (int32_t)(c - m->collectives);
    atomic_fetch_add(&r->given, 1);
}

/* Settles c and all collectives that become ready with it. */
static void give_turns(struct pp_worker *w, struct pp_machine_collective *c)
{
    struct pp_machine *m = w->machine;

    if (!has_turn(m, c))
        return;
    settle(w, c);
    for (int k = 0; k < c->row_count; k++) {
        const struct pp_worker *member = &m->workers[c->members[k]];
        if (member->turn < member->collective_count) {
            const int i = pp_instruction_at(m, member->collective_row[member->turn]);
            give_turns(w, &m->collectives[pp_collective_of(member, i)]);
        }
    }
}

static void run_collective(struct pp_machine *m, int32_t collective)
{
    struct pp_machine_collective *c = &m->collectives[collective];
    const pp_stream_id stream = pp_sum_stream(m, collective);

    for (int k = 0; k < c->row_count; k++) {
        m->backend->wait(m->device, stream, c->rows[k]);
        if (c->before[k] >= 0)
            m->backend->wait(m->device, stream, m->collectives[c->before[k]].done);
    }
    const int64_t start_ps = pp_now_ps(m);
    m->backend->launch(m->device, stream, pp_sum_run, &c->sum);
    const int64_t end_ps = pp_now_ps(m);
    for (int k = 0; k < c->row_count && !pp_is_virtual(m); k++) {
        m->start_ps[pp_cell(m, c->rows[k])] = start_ps;
        m->end_ps[pp_cell(m, c->rows[k])] = end_ps;
    }
    m->backend->record(m->device, stream, c->done);
}

/* ---- the reducer ----------------------------------------------------------------------------- */

static void run_queue(struct pp_worker *w)
{
    struct pp_reducer *r = &w->reducer;

    while (r->taken != atomic_load(&r->given))
        run_collective(w->machine, r->queue[r->taken++ % r->capacity]);
}

static void *reduce(void *argument)
{
    struct pp_worker *w = argument;
    struct pp_reducer *r = &w->reducer;

    for (;;) {
        const unsigned seen = atomic_load(&r->changes);

        run_queue(w);
        if (atomic_load(&r->is_over))
            return NULL;
        pp_futex_wait(&r->changes, seen, -1);
    }
}

/* Without this thread the worker runs its sums itself. */
void pp_reducer_start(struct pp_worker *w)
{
    struct pp_reducer *r = &w->reducer;

    if (pp_is_virtual(w->machine) || w->machine->remote || w->collective_count == 0 ||
        !w->machine->backend->is_immediate)
        return;
    r->is_there = pthread_create(&r->thread, NULL, reduce, w) == 0;
}

void pp_reducer_stop(struct pp_worker *w)
{
    struct pp_reducer *r = &w->reducer;

    if (!r->is_there)
        return;
    atomic_store(&r->is_over, true);
    pp_futex_change(&r->changes);
    pthread_join(r->thread, NULL);
    r->is_there = false;
}

/* ---- post and wait --------------------------------------------------------------------------- */

/* Time of a post. A bucket is posted while the backward before it still runs. */
static int64_t posted_at(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    int part, parts;
    const int inside = pp_is_virtual(m) ? pp_program_posted_inside(m->p, i, &part, &parts) : -1;

    if (inside < 0)
        return w->clock_ps;
    const size_t backward = pp_cell_at(w, inside);
    const int64_t start_ps = m->start_ps[backward];
    return start_ps + pp_costs_share_ps(m->end_ps[backward] - start_ps, part, parts);
}

void pp_collective_post(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    struct pp_machine_collective *c = &m->collectives[pp_collective_of(w, i)];
    const int32_t row = pp_row(w, i);

    m->posted_ps[pp_cell(m, row)] = posted_at(w, i);
    m->backend->record(m->device, pp_stream_of(w, i), row);
    if (m->remote) {
        m->transport->summed(w, i);
        return;
    }
    const unsigned given = atomic_load(&w->reducer.given);
    pthread_mutex_lock(&m->collectives_mutex);
    c->posts++;
    give_turns(w, c);
    pthread_mutex_unlock(&m->collectives_mutex);
    if (!w->reducer.is_there)
        run_queue(w);
    else if (given != atomic_load(&w->reducer.given))
        pp_futex_change(&w->reducer.changes);
}

bool pp_collective_wait(struct pp_worker *w, int target)
{
    struct pp_machine *m = w->machine;

    return m->backend->wait(m->device, w->index, m->collectives[pp_collective_of(w, target)].done);
}
