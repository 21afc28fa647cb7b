/* Gradient sums, and the other collectives of a stage. A worker's collectives run in the order of
 * its list; the one who posts last runs all that has its turn then. Copies are added in the order
 * of replicas, pipelines and stages: with exact gradients the order does not matter, without it is
 * at least always the same. */
#include "exec/machine/parts.h"

#include <string.h>

/* The vector from element `offset` on: gradients, or what a gather spreads. */
static void add_copy(struct pp_sum *sum, const struct pp_chunk *chunk, int64_t offset)
{
    const struct pp_state *state = &chunk->state;
    char *base = sum->rule == &pp_sum_rules[PP_AG] ? state->weights
                 : state->fixed                    ? (void *)state->fixed
                                                   : state->sum;

    sum->owner[sum->copies] = chunk->worker->index;
    sum->at[sum->copies++] = base + (size_t)offset * sum->element_bytes;
}

static void add_piece(struct pp_sum *sum, int64_t from, int64_t until)
{
    if (from < until)
        sum->piece[sum->pieces++] = (struct pp_range){from, until};
}

/* ---- binding --------------------------------------------------------------------------------*/

static bool has_tied_collective(const struct pp_program *p)
{
    for (int c = 0; c < p->collective_count; c++)
        if (p->collectives[c].tied)
            return true;
    return false;
}

static struct pp_sum sum_make(struct pp_machine *m, int kind, int *status)
{
    const int most = 2 * m->replicas * m->p->pipelines;
    const struct pp_kernels *k = m->options.kernels;
    const bool is_exact = kind != PP_AG && m->options.recipe->is_exact;

    return (struct pp_sum){.rule = &pp_sum_rules[kind],
                           .status = status,
                           .is_exact = is_exact,
                           .element_bytes = is_exact        ? sizeof(int64_t)
                                            : kind == PP_AG ? k->element_bytes
                                                            : k->gradient_bytes,
                           .at = PP_ARRAY(m->arena, char *, most),
                           .owner = PP_ARRAY(m->arena, int, most)};
}

static struct pp_chunk *chunk_at(const struct pp_machine *m, int replica, int pipe, int stage)
{
    const int rank = pp_program_rank_of(m->p, pipe, stage);

    return &pp_worker_at(m, rank, replica)->chunks[pipe * m->stages + stage];
}

/* A matrix that is in two stages is summed over these where the gradients of both are complete. */
static struct pp_range tied_locally(const struct pp_machine *m, const struct pp_stage *stage)
{
    const struct pp_param *tied = pp_stage_tied(stage);

    return tied && m->stages > 1 && !has_tied_collective(m->p)
               ? (struct pp_range){tied->offset, tied->offset + tied->count}
               : (struct pp_range){0, 0};
}

static void bind_shares(struct pp_machine *m, const struct pp_stage *stage, struct pp_sum *sum)
{
    sum->share = PP_ARRAY(m->arena, struct pp_range, sum->copies);
    sum->norm = PP_ARRAY(m->arena, struct pp_range, sum->copies);
    for (int c = 0; c < sum->copies; c++) {
        sum->share[c] = pp_share_of(stage, c, sum->copies);
        sum->norm[c] = (struct pp_range){sum->share[c].from, pp_squares_end(stage, sum->share[c])};
    }
    sum->tied = tied_locally(m, stage);
}

/* Where bucket k begins: vectors are summed 16 bytes at a time where all of them begin at such. */
static int64_t bucket_at(const struct pp_stage *stage, int k, int buckets)
{
    return stage->elements * k / buckets / PP_FLAT_UNIT * PP_FLAT_UNIT;
}

/* The ordinary sum of a stage leaves the tied matrix to the tied sum, where there is one. */
static void bind_stage_sum(struct pp_machine *m, const struct pp_collective *c, struct pp_sum *sum)
{
    const struct pp_stage *stage = m->options.stages[c->stage];
    const struct pp_param *tied =
        c->kind != PP_AG && has_tied_collective(m->p) ? pp_stage_tied(stage) : NULL;
    const int buckets = c->buckets > 1 ? c->buckets : 1;
    const int64_t from = bucket_at(stage, c->bucket, buckets),
                  until = bucket_at(stage, c->bucket + 1, buckets);

    for (int replica = 0; replica < m->replicas; replica++)
        for (int pipe = 0; pipe < m->p->pipelines; pipe++)
            add_copy(sum, chunk_at(m, replica, pipe, c->stage), 0);
    if (c->kind != PP_AR)
        bind_shares(m, stage, sum);
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

        add_copy(sum, chunk_at(m, replica, pipe, stage), tied->offset);
        sum->pieces = 0;
        add_piece(sum, 0, tied->count);
    }
}

static void bind_collective(struct pp_machine *m, int c)
{
    const struct pp_collective *from = &m->p->collectives[c];
    const struct pp_group *group = &m->p->groups[from->group];
    struct pp_machine_collective *to = &m->collectives[c];

    to->sum = sum_make(m, from->kind, &m->statuses[m->worker_count + c]);
    if (!from->tied)
        bind_stage_sum(m, from, &to->sum);
    for (int replica = 0; from->tied && replica < m->replicas; replica++)
        for (int pipe = 0; pipe < m->p->pipelines; pipe++)
            add_tied_copies(m, replica, pipe, &to->sum);
    to->rows = PP_ARRAY(m->arena, int32_t, group->count * m->replicas);
    to->members = PP_ARRAY(m->arena, int32_t, group->count * m->replicas);
    to->done = (pp_event_id)((m->size + m->p->message_count) * m->replicas + c);
    to->line = c;
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
            m->tied[m->tied_count] = sum_make(
                m, PP_AR, &m->statuses[m->worker_count + m->p->collective_count + m->tied_count]);
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
        w->reducer.capacity = (unsigned)p->collective_count + 1;
        w->reducer.queue = PP_ARRAY(m->arena, int32_t, p->collective_count + 1);
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
        m->collectives[c].posts = m->collectives[c].launch = m->collectives[c].launches = 0;
    for (int k = 0; k < m->worker_count; k++) {
        m->workers[k].turn = m->workers[k].is_summing = 0;
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

pp_stream_id pp_sum_stream(const struct pp_machine *m, int32_t collective)
{
    return m->worker_count + m->p->channel_count * m->replicas + m->collectives[collective].line;
}

void pp_collective_run(struct pp_machine *m, int32_t collective)
{
    struct pp_machine_collective *c = &m->collectives[collective];
    const pp_stream_id stream = pp_sum_stream(m, collective);

    for (int k = 0; k < c->row_count; k++)
        m->backend->wait(m->device, stream, (pp_event_id)c->rows[k]);
    const int64_t start_ps = pp_now_ps(m);
    m->backend->launch(m->device, stream, c->sum.rule->run, &c->sum);
    const int64_t end_ps = pp_now_ps(m);
    for (int k = 0; k < c->row_count && !pp_is_virtual(m); k++) {
        m->start_ps[pp_cell(m, (size_t)c->rows[k])] = start_ps;
        m->end_ps[pp_cell(m, (size_t)c->rows[k])] = end_ps;
    }
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
    m->backend->record(m->device, pp_stream_of(w, i), (pp_event_id)row);
    if (m->remote) {
        m->remote->summed(w, i);
        return;
    }
    pthread_mutex_lock(&m->collectives_mutex);
    c->posts++;
    w->due_count = 0;
    give_turns(w, c);
    pthread_mutex_unlock(&m->collectives_mutex);
    for (int k = 0; k < w->due_count; k++)
        if (!pp_reducer_give(w, w->due[k]))
            pp_collective_run(m, w->due[k]);
}

bool pp_collective_wait(struct pp_worker *w, int target)
{
    struct pp_machine *m = w->machine;

    return m->backend->wait(m->device, w->index, m->collectives[m->p->arg[target]].done);
}
