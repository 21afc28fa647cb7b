/* Copies of a stage whose vectors a collective sums or gathers, and the share of each. */
#include "exec/machine/parts.h"

/* Is false for a chunk of a pipeline without micro-batches. */
static bool has_backward(const struct pp_chunk *chunk)
{
    return chunk->worker->machine->wholes->has_backward[chunk - chunk->worker->chunks];
}

/* Adds a copy's vector from element `offset` on: weights of a gather, else gradients. A share of
 * them is `own`; bind_whole() then finds the buffer. */
void pp_sum_add_copy(struct pp_sum *sum, const struct pp_chunk *chunk, enum pp_state_part part,
                     int64_t offset)
{
    const struct pp_state *state = &chunk->state;
    const bool is_gather = sum->rule == &pp_sum_rules[PP_AG];
    const struct pp_range has = (is_gather ? pp_state_held : pp_state_summed)(state, part);
    char *vector = is_gather ? state->weights : pp_complete_gradients(chunk);
    const int64_t before = part == PP_OF_ALL ? 0
                           : is_gather       ? state->experts.held.at
                                             : state->experts.summed.at;
    const int c = sum->copies++;

    sum->owner[c] = chunk->worker->index;
    if (!sum->own)
        sum->at[c] = vector + (size_t)(sum->has ? before : offset) * sum->element_bytes;
    else
        sum->own[c] = (struct pp_own){vector + (size_t)before * sum->element_bytes,
                                      {has.from - offset, has.until - offset},
                                      !has_backward(chunk)};
}

struct pp_sum pp_sum_make(struct pp_machine *m, int kind, bool has_own, int *status)
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
                           .own = has_own ? PP_ARRAY(m->arena, struct pp_own, most) : NULL,
                           .owner = PP_ARRAY(m->arena, int, most)};
}

/* Copies that are summed: all of one device of the tensor-parallel groups. */
struct pp_chunk *pp_sum_chunk_at(const struct pp_machine *m, int replica, int tp_index, int pipe,
                                 int stage)
{
    const int rank = pp_program_rank_of(m->p, pipe, stage);

    return &pp_worker_at(m, rank, replica, tp_index)->chunks[pipe * m->stages + stage];
}

/* Is true for a sum of shares, which each group has once. */
static bool is_between(const struct pp_machine *m, const struct pp_collective *c)
{
    return c->kind == PP_AR && !c->tied && m->cuts[c->stage].optimizer > 1;
}

/* Sets the ranges of the last copy: its share, and what it needs for the norm. The last share of a
 * part includes what blocks of the norm need after it. */
static void set_ranges(const struct pp_machine *m, const struct pp_collective *c,
                       enum pp_state_part part, const struct pp_chunk *chunk, struct pp_sum *sum)
{
    const struct pp_cuts cuts = m->cuts[c->stage], of = pp_cuts_of(cuts, part);
    const bool is_update = pp_cuts_has_update(cuts, c->kind, c->purpose),
               is_visit = cuts.params > 1 && !is_update && !is_between(m, c);
    const struct pp_range held = pp_state_held(&chunk->state, part),
                          summed = pp_state_summed(&chunk->state, part);
    struct pp_range share = is_visit ? held : pp_state_share(&chunk->state, part);
    const int copy = sum->copies - 1;

    sum->norm[copy] = of.grads > 1 && (is_visit || of.grads == of.optimizer)
                          ? summed
                          : (struct pp_range){share.from, pp_squares_end(chunk->stage, share)};
    if (is_update && c->kind == PP_RS && share.until == held.until)
        share.until = summed.until;
    sum->share[copy] = share;
    if (sum->has)
        sum->has[copy] = c->kind == PP_AG ? held : summed;
}

/* The experts of a replica are summed with those of replicas that have the same. */
static int group_of(const struct pp_machine *m, const struct pp_collective *c,
                    enum pp_state_part part, int replica, int pipe)
{
    const struct pp_cuts cuts = m->cuts[c->stage];
    const struct pp_sharer sharer = pp_memory_sharer(cuts, part, m->p->pipelines, replica, pipe);
    const int group = is_between(m, c)                                ? sharer.index
                      : pp_cuts_has_update(cuts, c->kind, c->purpose) ? sharer.update
                      : cuts.params > 1                               ? sharer.visit
                                                                      : sharer.group;

    return part == PP_OF_ALL ? group : group * m->ep + replica % m->ep;
}

/* Prepares for sharers. All copies may be one group. */
static void bind_sharers(struct pp_machine *m, const struct pp_collective *c,
                         enum pp_state_part part, struct pp_sum *sum)
{
    const struct pp_cuts cuts = m->cuts[c->stage];
    const int copies = m->replicas * (c->pipe < 0 ? m->p->pipelines : 1);
    const bool has_groups = cuts.optimizer < copies || (cuts.params > 1 && cuts.params < copies),
               is_update = pp_cuts_has_update(cuts, c->kind, c->purpose);

    sum->share = PP_ARRAY(m->arena, struct pp_range, copies);
    sum->norm = PP_ARRAY(m->arena, struct pp_range, copies);
    sum->group = has_groups || part == PP_OF_EXPERTS ? PP_ARRAY(m->arena, int, copies) : NULL;
    if (is_update || (is_between(m, c) && cuts.grads > 1))
        sum->has = PP_ARRAY(m->arena, struct pp_range, copies);
    if (!is_between(m, c))
        return;
    sum->rule = &pp_sum_rules[PP_SUM_OF_SHARES];
    sum->own = NULL;
}

/* Is true of a collective over copies that share a state. */
bool pp_sum_is_of_sharers(const struct pp_machine *m, const struct pp_collective *c)
{
    return c->kind != PP_AR || is_between(m, c);
}

void pp_sum_bind_copies(struct pp_machine *m, const struct pp_collective *c, int tp_index,
                        enum pp_state_part part, struct pp_sum *sum)
{
    if (pp_sum_is_of_sharers(m, c))
        bind_sharers(m, c, part, sum);
    for (int replica = 0; replica < m->replicas; replica++)
        for (int pipe = 0; pipe < m->p->pipelines; pipe++) {
            if (c->pipe >= 0 && c->pipe != pipe)
                continue;
            if (sum->group)
                sum->group[sum->copies] = group_of(m, c, part, replica, pipe);
            struct pp_chunk *chunk = pp_sum_chunk_at(m, replica, tp_index, pipe, c->stage);
            pp_sum_add_copy(sum, chunk, part, 0);
            if (pp_sum_is_of_sharers(m, c))
                set_ranges(m, c, part, chunk, sum);
        }
}

/* ---- ends of a tied matrix on one rank ------------------------------------------------------- */

/* Appends the sum of `count` copies of `all`: number `from`, and others `step` after it. */
static struct pp_sum **append(struct pp_machine *m, const struct pp_sum *all, int from, int step,
                              int count, struct pp_sum **end)
{
    struct pp_sum *sum = *end = PP_NEW(m->arena, struct pp_sum);

    *sum = *all;
    sum->copies = count;
    sum->at = PP_ARRAY(m->arena, char *, count);
    sum->owner = PP_ARRAY(m->arena, int, count);
    for (int k = 0; k < count; k++) {
        sum->at[k] = all->at[from + k * step];
        sum->owner[k] = all->owner[from + k * step];
    }
    return &sum->next;
}

/* Is true if all ranks hold both ends, or none, and a collective sums them only because gradients
 * leave the device. */
static bool are_ends_together(const struct pp_machine *m)
{
    bool are_together =
        pp_state_is_away(&m->p->state.spec, PP_STATE_GRADS) && m->options.batch->sharers <= 1;

    for (int pipe = 0; pipe < m->p->pipelines; pipe++)
        are_together &=
            pp_program_rank_of(m->p, pipe, 0) == pp_program_rank_of(m->p, pipe, m->stages - 1);
    return are_together;
}

/* Copies are embedding, head, embedding, ... Where gradients stay on the device, each end is summed
 * over its copies, and then a rank adds its two ends. */
void pp_sum_by_ends(struct pp_machine *m, struct pp_sum *sum)
{
    const struct pp_sum all = *sum;
    const int pairs = all.copies / 2;
    struct pp_sum *first, **end = &first;

    if (pairs < 2 || !are_ends_together(m))
        return;
    end = append(m, &all, 0, 2, pairs, end);
    end = append(m, &all, 1, 2, pairs, end);
    for (int pair = 0; pair < pairs; pair++)
        end = append(m, &all, 2 * pair, 1, 2, end);
    *sum = *first;
}
