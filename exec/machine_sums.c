/* Gradient sums. A worker's collectives run in the order of its list; the one who posts last runs
 * all that has its turn then. Copies are added in the order of replicas, pipelines and stages: with
 * exact gradients the order does not matter, without it is at least always the same. */
#include "exec/machine_parts.h"

#include <string.h>

static size_t element_bytes(const struct pp_machine *m)
{
    return m->options.recipe->is_exact ? sizeof(int64_t) : m->options.kernels->element_bytes;
}

/* Gradients of a chunk from element `offset` on. */
static char *gradient_at(const struct pp_machine *m, const struct pp_chunk *chunk, int64_t offset)
{
    char *base = m->options.recipe->is_exact ? (char *)chunk->state.fixed : chunk->state.sum;

    return base + (size_t)offset * element_bytes(m);
}

static void add_copy(struct pp_machine *m, struct pp_sum *sum, const struct pp_chunk *chunk,
                     int64_t offset)
{
    sum->owner[sum->copies] = chunk->worker->index;
    sum->at[sum->copies++] = gradient_at(m, chunk, offset);
}

static void add_piece(struct pp_sum *sum, int64_t from, int64_t until)
{
    if (from >= until)
        return;
    sum->offset[sum->pieces] = from;
    sum->count[sum->pieces++] = until - from;
}

/* ---- binding --------------------------------------------------------------------------------*/

static bool has_tied_collective(const struct pp_program *p)
{
    for (int c = 0; c < p->collective_count; c++)
        if (p->collectives[c].tied)
            return true;
    return false;
}

static struct pp_sum sum_make(struct pp_machine *m)
{
    return (struct pp_sum){.is_exact = m->options.recipe->is_exact,
                           .at = PP_ARRAY(m->arena, char *, 2 * m->replicas * m->p->pipelines),
                           .owner = PP_ARRAY(m->arena, int, 2 * m->replicas * m->p->pipelines)};
}

static struct pp_chunk *chunk_at(const struct pp_machine *m, int replica, int pipe, int stage)
{
    const int rank = pp_program_rank_of(m->p, pipe, stage);

    return &pp_worker_at(m, rank, replica)->chunks[pipe * m->stages + stage];
}

/* The ordinary sum of a stage leaves the tied matrix to the tied sum, where there is one. */
static void bind_stage_sum(struct pp_machine *m, const struct pp_collective *c, struct pp_sum *sum)
{
    const struct pp_stage *stage = m->options.stages[c->stage];
    const struct pp_param *tied = has_tied_collective(m->p) ? pp_stage_tied(stage) : NULL;
    const int buckets = c->buckets > 1 ? c->buckets : 1;
    const int64_t from = stage->elements * c->bucket / buckets,
                  until = stage->elements * (c->bucket + 1) / buckets;

    for (int replica = 0; replica < m->replicas; replica++)
        for (int pipe = 0; pipe < m->p->pipelines; pipe++)
            add_copy(m, sum, chunk_at(m, replica, pipe, c->stage), 0);
    if (!tied) {
        add_piece(sum, from, until);
        return;
    }
    const int64_t end = tied->offset + tied->count;
    add_piece(sum, from, until < tied->offset ? until : tied->offset);
    add_piece(sum, from > end ? from : end, until);
}

static void add_tied_copies(struct pp_machine *m, int replica, int pipe, struct pp_sum *sum)
{
    for (int stage = 0; stage<m->stages; stage += m->stages> 1 ? m->stages - 1 : 1) {
        const struct pp_param *tied = pp_stage_tied(m->options.stages[stage]);

        add_copy(m, sum, chunk_at(m, replica, pipe, stage), tied->offset);
        sum->pieces = 0;
        add_piece(sum, 0, tied->count);
    }
}

static void bind_collective(struct pp_machine *m, int c)
{
    const struct pp_collective *from = &m->p->collectives[c];
    const struct pp_group *group = &m->p->groups[from->group];
    struct pp_machine_collective *to = &m->collectives[c];

    to->sum = sum_make(m);
    if (!from->tied)
        bind_stage_sum(m, from, &to->sum);
    for (int replica = 0; from->tied && replica < m->replicas; replica++)
        for (int pipe = 0; pipe < m->p->pipelines; pipe++)
            add_tied_copies(m, replica, pipe, &to->sum);
    to->rows = PP_ARRAY(m->arena, int32_t, group->count * m->replicas);
    to->members = PP_ARRAY(m->arena, int32_t, group->count * m->replicas);
    to->done = (pp_event_id)((m->size + m->p->message_count) * m->replicas + c);
}

/* First and last stage of a pipeline on one rank: their tied matrices are added up there. */
static void bind_local_tied(struct pp_machine *m)
{
    m->tied = PP_ARRAY(m->arena, struct pp_sum, m->replicas * m->p->pipelines);
    m->tied_worker = PP_ARRAY(m->arena, int, m->replicas * m->p->pipelines);
    if (m->stages < 2 || !pp_stage_tied(m->options.stages[0]) || has_tied_collective(m->p))
        return;
    for (int replica = 0; replica < m->replicas; replica++)
        for (int pipe = 0; pipe < m->p->pipelines; pipe++) {
            const int rank = pp_program_rank_of(m->p, pipe, 0);

            m->tied_worker[m->tied_count] = pp_worker_at(m, rank, replica)->index;
            m->tied[m->tied_count] = sum_make(m);
            add_tied_copies(m, replica, pipe, &m->tied[m->tied_count++]);
        }
}

static void bind_rows(struct pp_machine *m)
{
    const struct pp_program *p = m->p;

    for (int k = 0; k < m->worker_count; k++) {
        struct pp_worker *w = &m->workers[k];

        w->collective_row = PP_ARRAY(m->arena, int32_t, p->begin[w->rank + 1] - p->begin[w->rank]);
        w->due = PP_ARRAY(m->arena, int32_t, p->collective_count + 1);
        for (int i = p->begin[w->rank]; i < p->begin[w->rank + 1]; i++) {
            if (!pp_op_is_collective(p->kind[i]))
                continue;
            struct pp_machine_collective *c = &m->collectives[p->arg[i]];
            const struct pp_op op = pp_program_op(p, i);
            c->ps = pp_costs_op(m->options.costs, &op, NULL).ps;
            c->members[c->row_count] = k;
            c->rows[c->row_count++] = (int32_t)pp_row(m, i, w->replica);
            w->collective_row[w->collective_count++] = (int32_t)pp_row(m, i, w->replica);
        }
    }
}

void pp_bind_sums(struct pp_machine *m)
{
    m->collectives = PP_ARRAY(m->arena, struct pp_machine_collective, m->p->collective_count + 1);
    for (int c = 0; c < m->p->collective_count; c++)
        bind_collective(m, c);
    bind_rows(m);
    bind_local_tied(m);
    m->inside_of = PP_ARRAY(m->arena, int32_t, m->size + 1);
    m->inside_part = PP_ARRAY(m->arena, int, m->size + 1);
    m->inside_parts = PP_ARRAY(m->arena, int, m->size + 1);
    for (int i = 0; i < m->size; i++)
        m->inside_of[i] =
            pp_program_posted_inside(m->p, i, &m->inside_part[i], &m->inside_parts[i]);
}

/* ---- a step ---------------------------------------------------------------------------------*/

void pp_sums_begin(struct pp_machine *m)
{
    for (int c = 0; c < m->p->collective_count; c++)
        m->collectives[c].posts = 0;
    for (int k = 0; k < m->worker_count; k++) {
        m->workers[k].turn = m->workers[k].is_summing = 0;
        m->workers[k].reduce_ps = m->begin_ps;
    }
}

/* Work on a stream: all into the first copy, then back. */
void pp_sum_run(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_sum *sum = argument;
    const size_t bytes = sum->is_exact ? sizeof(int64_t) : k->element_bytes;

    for (int piece = 0; piece < sum->pieces; piece++) {
        const size_t offset = (size_t)sum->offset[piece] * bytes;
        char *first = sum->at[0] + offset;

        for (int c = 1; c < sum->copies; c++)
            if (sum->is_exact)
                k->fixed_merge(stream, sum->count[piece], (int64_t *)(void *)(sum->at[c] + offset),
                               (int64_t *)(void *)first, &sum->status);
            else
                k->add(stream, sum->count[piece], sum->at[c] + offset, first);
        for (int c = 1; c < sum->copies; c++)
            k->copy(stream, (size_t)sum->count[piece] * bytes, first, sum->at[c] + offset);
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

/* All members have posted and are free: times, and the next ones' turn. What remains to be done is
 * left to the worker, outside of the lock. */
static void settle(struct pp_worker *w, struct pp_machine_collective *c)
{
    struct pp_machine *m = w->machine;
    int64_t start_ps = m->begin_ps;

    for (int k = 0; k < c->row_count; k++) {
        const int64_t posted_ps = m->posted_ps[pp_cell(m, (size_t)c->rows[k])],
                      free_ps = m->workers[c->members[k]].reduce_ps;
        start_ps = posted_ps > start_ps ? posted_ps : start_ps;
        start_ps = free_ps > start_ps ? free_ps : start_ps;
    }
    for (int k = 0; k < c->row_count; k++) {
        struct pp_worker *member = &m->workers[c->members[k]];
        m->start_ps[pp_cell(m, (size_t)c->rows[k])] = start_ps;
        m->end_ps[pp_cell(m, (size_t)c->rows[k])] = start_ps + c->ps;
        member->reduce_ps = start_ps + c->ps;
        member->turn++;
    }
    w->due[w->due_count++] = (int32_t)(c - m->collectives);
}

/* Settle c and all that has its turn behind it. */
static void give_turns(struct pp_worker *w, struct pp_machine_collective *c)
{
    struct pp_machine *m = w->machine;

    if (!has_turn(m, c))
        return;
    settle(w, c);
    for (int k = 0; k < c->row_count; k++) {
        const struct pp_worker *member = &m->workers[c->members[k]];
        if (member->turn < member->collective_count) {
            const int i = member->collective_row[member->turn] / m->replicas;
            give_turns(w, &m->collectives[m->p->arg[i]]);
        }
    }
}

static void run_collective(struct pp_machine *m, struct pp_machine_collective *c)
{
    const pp_stream_id stream =
        m->worker_count + m->p->channel_count * m->replicas + (pp_stream_id)(c - m->collectives);

    for (int k = 0; k < c->row_count; k++)
        m->backend->wait(m->device, stream, (pp_event_id)c->rows[k]);
    m->backend->launch(m->device, stream, pp_sum_run, &c->sum);
    for (int k = 0; k < c->row_count && !pp_is_virtual(m); k++)
        m->end_ps[pp_cell(m, (size_t)c->rows[k])] = pp_now_ps(m);
    m->backend->record(m->device, stream, c->done);
}

/* A bucket is posted while the backward before it still runs. */
static int64_t posted_at(const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;

    if (m->inside_of[i] < 0 || !pp_is_virtual(m))
        return w->clock_ps;
    const size_t backward = pp_cell(m, pp_row(m, m->inside_of[i], w->replica));
    const int64_t start_ps = m->start_ps[backward];
    return start_ps +
           pp_costs_share_ps(m->end_ps[backward] - start_ps, m->inside_part[i], m->inside_parts[i]);
}

void pp_collective_post(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    struct pp_machine_collective *c = &m->collectives[m->p->arg[i]];
    const size_t row = pp_row(m, i, w->replica);

    m->posted_ps[pp_cell(m, row)] = posted_at(w, i);
    m->backend->record(m->device, w->index, (pp_event_id)row);
    if (m->remote) {
        m->remote->summed(w);
        return;
    }
    pthread_mutex_lock(&m->collectives_mutex);
    c->posts++;
    w->due_count = 0;
    give_turns(w, c);
    pthread_mutex_unlock(&m->collectives_mutex);
    for (int k = 0; k < w->due_count; k++)
        run_collective(m, &m->collectives[w->due[k]]);
}

bool pp_collective_wait(struct pp_worker *w, int target)
{
    struct pp_machine *m = w->machine;

    return m->backend->wait(m->device, w->index, m->collectives[m->p->arg[target]].done);
}
