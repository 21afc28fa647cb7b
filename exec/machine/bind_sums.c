/* Binds each collective to the vectors that it sums or gathers: pieces of a stage, its experts, or
 * the tied matrix. */
#include "exec/machine/parts.h"

#include <string.h>

static void add_piece(struct pp_sum *sum, int64_t from, int64_t until)
{
    if (from < until)
        sum->piece[sum->pieces++] = (struct pp_range){from, until};
}

static bool is_cut(const struct pp_machine *m, int kind, int purpose, int stage)
{
    const struct pp_cuts *cuts = &m->cuts[stage];

    return kind == PP_AG ? cuts->params > 1 && purpose != PP_FOR_STEP
                         : cuts->grads > 1 && !pp_cuts_has_update(*cuts, kind, purpose);
}

/* Range of the tied matrix if its two gradients are added without a collective, else empty. */
static struct pp_range tied_locally(const struct pp_machine *m, const struct pp_stage *stage)
{
    const struct pp_param *tied = pp_stage_tied(stage);

    return tied && m->stages > 1 && !pp_program_has_tied(m->p)
               ? (struct pp_range){tied->offset, tied->offset + tied->count}
               : (struct pp_range){0, 0};
}

/* First element of bucket k. Buckets are aligned, so that sums can use 16-byte accesses. */
static int64_t bucket_at(const struct pp_stage *stage, int k, int buckets)
{
    return stage->elements * k / buckets / PP_FLAT_UNIT * PP_FLAT_UNIT;
}

/* If there is a tied sum, the sum of a stage at the end of a step leaves the tied matrix to it. */
static void bind_stage_sum(struct pp_machine *m, const struct pp_collective *c, int tp_index,
                           struct pp_sum *sum)
{
    const struct pp_stage *stage = m->options.stages[tp_index * m->ep * m->stages + c->stage];
    const bool is_end = c->purpose == PP_FOR_STEP || c->purpose == PP_FOR_REST;
    const struct pp_param *tied =
        c->kind != PP_AG && is_end && pp_program_has_tied(m->p) ? pp_stage_tied(stage) : NULL;
    const int buckets = c->buckets > 1 ? c->buckets : 1;
    const int64_t from = bucket_at(stage, c->bucket, buckets),
                  until = bucket_at(stage, c->bucket + 1, buckets);

    pp_sum_bind_copies(m, c, tp_index, PP_OF_ALL, sum);
    sum->tied = tied_locally(m, stage);
    if (!tied) {
        add_piece(sum, from, until);
        return;
    }
    const int64_t end = tied->offset + tied->count;
    add_piece(sum, from, until < tied->offset ? until : tied->offset);
    add_piece(sum, from > end ? from : end, until);
}

/* ---- shared experts -------------------------------------------------------------------------- */

/* Appends a sum of a range, over the copies of replicas with one share of the experts. */
static void append_sum(struct pp_machine *m, struct pp_sum *all, struct pp_range range, int share)
{
    struct pp_sum *sum = PP_NEW(m->arena, struct pp_sum), *next = all->next;

    *sum = *all;
    sum->copies = 0;
    sum->pieces = 1;
    sum->piece[0] = range;
    sum->at = PP_ARRAY(m->arena, char *, all->copies);
    sum->owner = PP_ARRAY(m->arena, int, all->copies);
    for (int c = 0; c < all->copies; c++)
        if (c / m->p->pipelines % m->ep == share) {
            sum->owner[sum->copies] = all->owner[c];
            sum->at[sum->copies++] = all->at[c];
        }
    sum->next = next;
    all->next = sum;
}

/* Takes the pieces from `from` on out of a sum. Returns their number. */
static int take_pieces(struct pp_sum *sum, int64_t from, struct pp_range *taken)
{
    int count = 0, left = 0;

    for (int piece = 0; piece < sum->pieces; piece++) {
        const struct pp_range all = sum->piece[piece];

        taken[count] = (struct pp_range){all.from > from ? all.from : from, all.until};
        count += taken[count].from < all.until;
        sum->piece[left] = (struct pp_range){all.from, all.until < from ? all.until : from};
        left += sum->piece[left].from < sum->piece[left].until;
    }
    sum->pieces = left;
    return count;
}

/* Parts a sum into those of experts and that of other tensors. Of a state that copies share, those
 * of experts are one sum, of the same copies in other groups. */
static void part_experts(struct pp_machine *m, const struct pp_collective *c, int tp_index,
                         struct pp_sum *sum)
{
    struct pp_range pieces[PP_COUNT(sum->piece)];
    const int count = take_pieces(sum, m->options.stages[c->stage]->experts_from, pieces);

    for (int k = 0; k < count * m->ep && !pp_sum_is_of_sharers(m, c); k++)
        append_sum(m, sum, pieces[k / m->ep], k % m->ep);
    if (!pp_sum_is_of_sharers(m, c) || count == 0)
        return;
    struct pp_sum *experts = PP_NEW(m->arena, struct pp_sum);
    *experts = pp_sum_make(m, c->kind, sum->own != NULL, sum->status);
    pp_sum_bind_copies(m, c, tp_index, PP_OF_EXPERTS, experts);
    if (sum->own)
        experts->at = sum->at; /* buffers that bind_whole() finds */
    memcpy(experts->piece, pieces, sizeof pieces);
    experts->pieces = count;
    sum->next = experts;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static void add_tied_copies(struct pp_machine *m, int replica, int tp_index, int pipe,
                            struct pp_sum *sum)
{
    for (int stage = 0; stage<m->stages; stage += m->stages> 1 ? m->stages - 1 : 1) {
        const struct pp_param *tied =
            pp_stage_tied(m->options.stages[tp_index * m->ep * m->stages + stage]);
        const struct pp_chunk *chunk = pp_sum_chunk_at(m, replica, tp_index, pipe, stage);
        const struct pp_range share =
            m->cuts[stage].params > 1 ? chunk->state.held : chunk->state.share;

        if (sum->own)
            sum->share[sum->copies] =
                (struct pp_range){share.from - tied->offset, share.until - tied->offset};
        pp_sum_add_copy(sum, chunk, PP_OF_ALL, tied->offset);
        if (sum->own)
            sum->own[sum->copies - 1].is_blank |= m->cuts[stage].params > 1;
        sum->pieces = 0;
        add_piece(sum, 0, tied->count);
    }
}

static void bind_collective(struct pp_machine *m, int c)
{
    const struct pp_collective *from = &m->p->collectives[c % m->p->collective_count];
    const int tp_index = c / m->p->collective_count;
    const struct pp_group *group = &m->p->groups[from->group];
    struct pp_machine_collective *to = &m->collectives[c];

    to->machine = m;
    to->sum = pp_sum_make(m, from->kind, is_cut(m, from->kind, from->purpose, from->stage),
                          &m->statuses[m->worker_count + c]);
    if (!from->tied)
        bind_stage_sum(m, from, tp_index, &to->sum);
    if (!from->tied && m->options.stages[from->stage]->experts_from > 0)
        part_experts(m, from, tp_index, &to->sum);
    if (from->tied && to->sum.own)
        to->sum.share = PP_ARRAY(m->arena, struct pp_range, 2 * m->replicas * m->p->pipelines);
    for (int replica = 0; from->tied && replica < m->replicas; replica++)
        for (int pipe = 0; pipe < m->p->pipelines; pipe++)
            add_tied_copies(m, replica, tp_index, pipe, &to->sum);
    if (from->tied && !to->sum.own)
        pp_sum_by_ends(m, &to->sum);
    to->rows = PP_ARRAY(m->arena, int32_t, group->count * m->replicas);
    to->members = PP_ARRAY(m->arena, int32_t, group->count * m->replicas);
    to->before = PP_ARRAY(m->arena, int32_t, group->count * m->replicas);
    to->done = (pp_event_id)((m->size + m->p->message_count) * m->replicas * m->tp + c);
    to->stream_of = c;
}

/* Binds local sums of tied matrices of the first and last stage, if both are on one rank. */
static void bind_local_tied(struct pp_machine *m)
{
    const int copies = m->replicas * m->p->pipelines * m->tp;

    m->tied = PP_ARRAY(m->arena, struct pp_sum, copies);
    if (m->generating || m->stages < 2 || !pp_stage_tied(m->options.stages[0]) ||
        pp_program_has_tied(m->p))
        return;
    for (int k = 0; k < copies; k++) {
        const int replica = k / m->p->pipelines % m->replicas, pipe = k % m->p->pipelines,
                  tp_index = k / m->p->pipelines / m->replicas;

        m->tied[k] =
            pp_sum_make(m, PP_AR, false, &m->statuses[m->worker_count + m->collective_count + k]);
        add_tied_copies(m, replica, tp_index, pipe, &m->tied[k]);
    }
    m->tied_count = copies;
}

/* Finds the buffers of the ends of a tied matrix that a worker holds. */
static void bind_ends(struct pp_worker *w, int i, struct pp_sum *sum)
{
    const struct pp_machine *m = w->machine;
    const int32_t buffers[2] = {m->wholes->of[PP_WHOLE_GRADS][i], m->wholes->head[i]};

    for (int is_last = 0; is_last <= 1; is_last++) {
        const int stage = is_last ? m->stages - 1 : 0,
                  pipe = pp_wholes_pipe_of(m->p, w->rank, stage);
        if (buffers[is_last] < 0)
            continue;
        const int64_t first =
            m->cuts[stage].params > 1 ? 0 : pp_stage_tied(pp_stage_at(w, stage))->offset;
        sum->at[2 * (w->replica * m->p->pipelines + pipe) + is_last] =
            w->block + m->layout[w->rank].whole_offset[PP_WHOLE_GRADS][buffers[is_last]] +
            (size_t)first * sum->element_bytes;
    }
}

/* Finds the buffer of the copy for which a worker posts a collective. */
static void bind_whole(struct pp_worker *w, int i, struct pp_sum *sum)
{
    const struct pp_machine *m = w->machine;
    const struct pp_collective *c = &m->p->collectives[m->p->arg[i]];
    char *whole = pp_worker_whole(w, c->kind == PP_AG ? PP_WHOLE_PARAMS : PP_WHOLE_GRADS, i);

    if (sum->own && c->tied)
        bind_ends(w, i, sum);
    else if (whole)
        for (; sum; sum = sum->next) /* shared experts follow */
            sum->at[c->pipe < 0 ? w->replica * m->p->pipelines + m->p->pipe[i] : w->replica] =
                whole;
}

/* Binds a worker's post of a collective. `last`: its last one that adds to a share, -1 = none. */
static void bind_row(struct pp_worker *w, int i, int32_t *last)
{
    const struct pp_machine *m = w->machine;
    const int of = pp_collective_of(w, i);
    struct pp_machine_collective *c = &m->collectives[of];
    const struct pp_op op = pp_program_op(m->p, i);

    c->ps = pp_costs_op(m->options.costs, &op, NULL).ps;
    bind_whole(w, i, &c->sum);
    const struct pp_cuts cuts = m->cuts[op.stage];
    const bool is_adding = op.kind != PP_AG && (cuts.grads > 1 || c->sum.group);
    c->before[c->row_count] = is_adding ? *last : -1;
    *last = is_adding ? of : *last;
    c->members[c->row_count] = w->index;
    c->rows[c->row_count++] = pp_row(w, i);
    w->collective_row[w->collective_count++] = pp_row(w, i);
}

static void bind_rows(struct pp_machine *m)
{
    const struct pp_program *p = m->p;

    for (int k = 0; k < m->worker_count; k++) {
        struct pp_worker *w = &m->workers[k];
        int32_t last = -1;

        w->collective_row = PP_ARRAY(m->arena, int32_t, p->begin[w->rank + 1] - p->begin[w->rank]);
        w->reducer.capacity = (unsigned)p->collective_count + 1;
        w->reducer.queue = PP_ARRAY(m->arena, int32_t, p->collective_count + 1);
        for (int i = p->begin[w->rank]; i < p->begin[w->rank + 1]; i++)
            if (pp_op_is_collective(p->kind[i]))
                bind_row(w, i, &last);
    }
}

void pp_bind_sums(struct pp_machine *m)
{
    m->collectives = PP_ARRAY(m->arena, struct pp_machine_collective, m->collective_count + 1);
    for (int c = 0; c < m->collective_count; c++)
        bind_collective(m, c);
    bind_rows(m);
    bind_local_tied(m);
}
