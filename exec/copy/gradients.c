/* Gradients that live on another tier: from the buffer of a visit to their home, and the sum so far
 * back to it. The last part of a chunk sums up squares for the norm where gradients are complete.
 * That is the buffer, or where the host has added them up. */
#include "exec/copy/parts.h"

/* Place of the chunk whose gradients move. */
static int place_of(const struct pp_bound_copy *copy)
{
    const struct pp_machine *m = copy->worker->machine;

    return m->p->pipe[copy->instruction] * m->stages + m->p->stage[copy->instruction];
}

static bool is_last(const struct pp_bound_copy *copy)
{
    return copy->worker->machine->wholes->last_part[place_of(copy)] == copy->instruction;
}

/* ---- squares --------------------------------------------------------------------------------- */

static void square(const struct pp_kernels *k, void *stream, const struct pp_bound_copy *copy,
                   void *gradients)
{
    const struct pp_worker *w = copy->worker;
    const int place = place_of(copy);
    const struct pp_chunk *chunk = &w->chunks[place];
    const struct pp_state state = pp_state_with(&chunk->state, gradients);

    for (int part = 0; part < PP_STATE_PARTS; part++)
        if (chunk->owns_squares[part])
            pp_state_squares_of(k, stream, chunk->stage, &state, (enum pp_state_part)part, NULL,
                                pp_squares_at(w, place, (enum pp_state_part)part));
}

static void square_buffer(const struct pp_kernels *k, void *stream, void *copy)
{
    square(k, stream, copy, ((const struct pp_bound_copy *)copy)->pieces->device);
}

/* ---- sums on the host ------------------------------------------------------------------------ */

static void add(const struct pp_kernels *k, void *stream, const struct pp_bound_copy *copy,
                void *sum)
{
    const struct pp_worker *w = copy->worker;
    const struct pp_copy_piece *piece = copy->pieces;
    void *part = piece->device;

    if (w->machine->options.recipe->is_exact)
        k->fixed_merge(stream, (int64_t)(piece->bytes / sizeof(int64_t)), part, sum,
                       w->sum_on_host_status);
    else
        k->add(stream, (int64_t)(piece->bytes / k->gradient_bytes), part, sum);
    if (is_last(copy))
        square(k, stream, copy, sum);
    pp_copy_count(copy, piece->bytes);
}

/* Adds a part to the sum at home. That of a file comes to the host, and goes back. */
static void add_part(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_bound_copy *copy = argument;
    const struct pp_worker *w = copy->worker;
    const struct pp_copy_piece *piece = copy->pieces;
    char *sum = piece->away;

    if (copy->tier == PP_TIER_NVME) {
        sum = w->host + w->machine->layout[w->rank].sum_offset;
        pp_copy_file(k, stream, copy, piece, sum, true);
    }
    add(k, stream, copy, sum);
    if (copy->tier == PP_TIER_NVME)
        pp_copy_file(k, stream, copy, piece, sum, false);
}

/* A chunk without blocks has no gradients. */
void pp_bind_gradients(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    const struct pp_machine *m = w->machine;
    const int i = copy->instruction;
    const struct pp_tier_place home = m->layout[w->rank].home[place_of(copy)][PP_STATE_GRADS];

    copy->tier = home.tier;
    copy->run = pp_copy_run;
    pp_copy_add(m->arena, copy,
                (struct pp_copy_piece){.device = pp_worker_whole(w, PP_WHOLE_GRADS, i),
                                       .away = pp_tier_at(w, home),
                                       .offset = home.offset,
                                       .bytes = pp_whole_grads_bytes(m, m->p->stage[i])});
    if (copy->count == 0)
        return;
    if (m->wholes->is_added[i])
        copy->run = add_part;
    else if (is_last(copy))
        copy->before = square_buffer;
}
