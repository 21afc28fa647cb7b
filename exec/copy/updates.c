/* Updates of the host: gradients go down to its memory, updated weights come up. */
#include "exec/copy/updates.h"

#include "exec/copy/parts.h"
#include "exec/copy/reach.h"

#include <string.h>

static const struct pp_update_layout *layout_of(const struct pp_worker *w, int place)
{
    return &w->machine->layout[w->rank].updates[place];
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Returns a part of the share whose vectors are at `at`. */
static struct pp_state part_of(const struct pp_worker *w, int place, struct pp_range window,
                               const struct pp_tier_place at[PP_MOMENTS])
{
    const struct pp_state *all = &w->chunks[place].state;
    struct pp_state part = pp_state_window(all, window);

    part.m = pp_tier_at(w, at[0]);
    part.v = pp_tier_at(w, at[1]);
    part.master = all->master ? pp_tier_at(w, at[2]) : NULL;
    return part;
}

void pp_update_find(const struct pp_worker *w, int place)
{
    const struct pp_update_layout *update = layout_of(w, place);
    struct pp_chunk *chunk = &w->chunks[place];

    if (!pp_state_is_away(&w->machine->p->state.spec, PP_STATE_OPTIMIZER))
        return;
    chunk->by_host = part_of(w, place, (struct pp_range){0, update->moved}, update->moved_at);
    chunk->by_device =
        part_of(w, place, (struct pp_range){update->moved, update->elements}, update->rest_at);
    if (update->weights.tier == PP_TIER_HOST)
        pp_state_own_weights(&chunk->by_host, pp_tier_at(w, update->weights));
    if (update->grads.tier == PP_TIER_HOST)
        pp_state_own_gradients(&chunk->by_host, pp_tier_at(w, update->grads));
    if (pp_state_is_away(&w->machine->p->state.spec, PP_STATE_GRADS)) {
        chunk->by_device.summed = (struct pp_range){0}; /* they are in buckets */
        chunk->by_host.keeps_gradients = w->machine->p->state.spec.has_early_update;
    }
    chunk->is_changed = true;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static size_t elements_of(struct pp_range range)
{
    return range.until > range.from ? (size_t)(range.until - range.from) : 0;
}

/* Adds the gradients, or weights, of the host's part. Weights may be in the file. */
static void add_share(const struct pp_worker *w, bool is_gradient, struct pp_bound_copy *copy)
{
    const struct pp_machine *m = w->machine;
    const struct pp_kernels *k = m->options.kernels;
    const struct pp_chunk *chunk =
        &w->chunks[m->p->pipe[copy->instruction] * m->stages + m->p->stage[copy->instruction]];
    const size_t each = !is_gradient         ? k->element_bytes
                        : chunk->state.fixed ? sizeof(int64_t)
                                             : k->gradient_bytes;

    const bool is_filed = !is_gradient && m->p->state.spec.home[PP_STATE_PARAMS] == PP_TIER_NVME;
    struct pp_state on_device = chunk->state;

    if (!is_gradient && chunk->updated)
        on_device.weights = chunk->updated;
    copy->tier = is_filed ? PP_TIER_NVME : PP_TIER_HOST;
    copy->run = pp_copy_run;
    for (int part = 0; part < PP_STATE_PARTS; part++) {
        const struct pp_range share = pp_state_share(&chunk->by_host, (enum pp_state_part)part);
        void *(*const at)(const struct pp_state *, const struct pp_kernels *, int64_t) =
            is_gradient ? pp_state_gradient : pp_state_weight;

        if (elements_of(share) == 0)
            continue;
        char *away = at(&chunk->by_host, k, share.from);
        pp_copy_add(m->arena, copy,
                    (struct pp_copy_piece){.device = at(&on_device, k, share.from),
                                           .away = is_filed ? NULL : away,
                                           .offset = is_filed ? (size_t)(away - w->file_at) : 0,
                                           .bytes = elements_of(share) * each});
    }
}

void pp_bind_grads(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    add_share(w, true, copy);
}

/* Between tensors a buffer has what another chunk has left. */
static void clear_buffer(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_bound_copy *copy = argument;
    const struct pp_machine *m = copy->worker->machine;
    const int i = copy->instruction;
    const struct pp_chunk *chunk =
        &copy->worker->chunks[m->p->pipe[i] * m->stages + m->p->stage[i]];

    k->zero(stream, (size_t)chunk->stage->elements * k->element_bytes, chunk->updated);
}

/* Is true if the device updates its part after instruction i. */
static bool is_before_update(const struct pp_program *p, int rank, int i)
{
    int u = p->begin[rank];

    while (u < i && !(p->kind[u] == PP_U && p->stage[u] == p->stage[i] && p->pipe[u] == p->pipe[i]))
        u++;
    return u == i;
}

/* Updated weights may come before U, in the buffer that it zeroes else. */
void pp_bind_updated(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    const struct pp_program *p = w->machine->p;
    const int i = copy->instruction;
    struct pp_chunk *chunk = &w->chunks[p->pipe[i] * w->machine->stages + p->stage[i]];

    add_share(w, false, copy);
    if (!chunk->updated || !chunk->state.master || !is_before_update(p, w->rank, i))
        return;
    copy->before = clear_buffer;
    chunk->is_cleared_before = true;
}

/* ---- buckets --------------------------------------------------------------------------------- */

struct bucket_at {
    const struct pp_worker *w;
    int place, index;
    struct pp_range window; /* elements of a moment */
    char *buffer;
    struct pp_bound_copy *copy;
};

static const struct pp_update_layout *layout_at(const struct bucket_at *b)
{
    return layout_of(b->w, b->place);
}

static void add_piece(const struct bucket_at *b, struct pp_tier_place home, size_t from,
                      char *device, size_t bytes)
{
    home.offset += from;
    pp_copy_add(b->w->machine->arena, b->copy,
                (struct pp_copy_piece){.device = device,
                                       .away = pp_tier_at(b->w, home),
                                       .offset = home.offset,
                                       .bytes = bytes});
}

static char *gradients_at(const struct bucket_at *b)
{
    const struct pp_kernels *k = b->w->machine->options.kernels;
    const int vectors = b->w->chunks[b->place].state.master ? 3 : 2;

    return b->buffer + (size_t)vectors * elements_of(b->window) * k->gradient_bytes;
}

static void add_moments(const struct bucket_at *b)
{
    const size_t each = b->w->machine->options.kernels->gradient_bytes,
                 bytes = elements_of(b->window) * each;

    for (int v = 0; v < (b->w->chunks[b->place].state.master ? 3 : 2); v++)
        add_piece(b, layout_at(b)->moved_at[v], (size_t)b->window.from * each,
                  b->buffer + (size_t)v * bytes, bytes);
}

/* Gradients that live elsewhere come with the moments. */
static void add_gradients(const struct bucket_at *b, const struct pp_state *state)
{
    const struct pp_machine *m = b->w->machine;
    const struct pp_state *all = &b->w->chunks[b->place].state;
    const size_t each = state->fixed ? sizeof(int64_t) : m->options.kernels->gradient_bytes;
    const char *begin = all->fixed ? (char *)all->fixed : (char *)all->sum;

    for (int part = 0; part < PP_STATE_PARTS; part++) {
        const struct pp_range share = pp_state_share(state, (enum pp_state_part)part);
        const size_t bytes = elements_of(share) * each;
        if (bytes == 0)
            continue;
        const char *from = pp_state_gradient(all, m->options.kernels, share.from);
        add_piece(b, m->layout[b->w->rank].home[b->place][PP_STATE_GRADS], (size_t)(from - begin),
                  pp_state_gradient(state, m->options.kernels, share.from), bytes);
    }
}

static struct pp_state bucket_state(const struct bucket_at *b)
{
    const struct pp_state *all = &b->w->chunks[b->place].state;
    const size_t bytes = elements_of(b->window) * b->w->machine->options.kernels->gradient_bytes;
    struct pp_state state = pp_state_window(all, b->window);

    state.m = b->buffer;
    state.v = b->buffer + bytes;
    state.master = all->master ? b->buffer + 2 * bytes : NULL;
    if (pp_state_is_away(&b->w->machine->p->state.spec, PP_STATE_GRADS))
        pp_state_own_gradients(&state, gradients_at(b));
    return state;
}

/* Binds the copies of all buckets of a chunk one way; `copy` of the list is the first one up, the
 * last one down. */
static void bind_buckets(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    const struct pp_machine *m = w->machine;
    const bool is_up = pp_move_is_up(m->p->purpose[copy->instruction]);
    const int place = m->p->pipe[copy->instruction] * m->stages + m->p->stage[copy->instruction];
    const struct pp_update_layout *update = layout_of(w, place);
    struct pp_chunk *chunk = &w->chunks[place];

    copy->tier = m->p->state.spec.home[PP_STATE_OPTIMIZER];
    copy->run = pp_copy_run;
    if (!chunk->buckets)
        chunk->buckets =
            pp_arena_alloc(m->arena, sizeof(*chunk->buckets) * (size_t)(update->buckets + 1));
    chunk->bucket_count = update->buckets;
    for (int k = 0; k < update->buckets; k++) {
        struct pp_chunk_bucket *bucket = &chunk->buckets[k];
        const int64_t from = k * update->bucket, until = from + update->bucket;
        struct bucket_at b = {w,
                              place,
                              k,
                              {from, until < update->moved ? until : update->moved},
                              w->block + update->buffer_at,
                              is_up ? &bucket->fetch : &bucket->store};

        bucket->state = bucket_state(&b);
        *b.copy = *copy;
        b.copy->pieces = NULL;
        b.copy->count = 0;
        b.copy->bytes = 0;
        add_moments(&b);
        if (is_up && pp_state_is_away(&m->p->state.spec, PP_STATE_GRADS))
            add_gradients(&b, &bucket->state);
    }
    if (update->buckets == 0)
        return;
    const struct pp_bound_copy *own =
        is_up ? &chunk->buckets[0].fetch : &chunk->buckets[update->buckets - 1].store;
    copy->pieces = own->pieces;
    copy->count = own->count;
    copy->bytes = own->bytes;
}

/* The buffer is free once the state that was there before has left. */
static int left_before(const struct pp_worker *w, int fetch)
{
    const struct pp_program *p = w->machine->p;
    const int stages = w->machine->stages, own = p->pipe[fetch] * stages + p->stage[fetch];
    int store = -1;

    for (int i = p->begin[w->rank]; i < fetch; i++)
        if (p->kind[i] == PP_MOVE && p->purpose[i] == PP_FOR_STORE &&
            layout_of(w, p->pipe[i] * stages + p->stage[i])->buffer_at ==
                layout_of(w, own)->buffer_at)
            store = i;
    return store;
}

void pp_bind_fetch(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    bind_buckets(w, copy);
    copy->after = left_before(w, copy->instruction);
}

void pp_bind_store(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    bind_buckets(w, copy);
}

static void run_update(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_bound_copy *copy = argument;
    const struct pp_machine *m = copy->worker->machine;
    const int i = copy->instruction;

    pp_update_run_host(k, stream,
                       &copy->worker->chunks[m->p->pipe[i] * m->stages + m->p->stage[i]]);
}

void pp_bind_update(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    (void)w;
    copy->tier = PP_TIER_HOST;
    copy->run = run_update;
}

/* ---- weights that have changed --------------------------------------------------------------- */

static enum pp_status refresh_part(const struct pp_worker *w, const struct pp_chunk *chunk,
                                   enum pp_state_part part, struct pp_error *err)
{
    const struct pp_machine *m = w->machine;
    const struct pp_kernels *k = m->options.kernels;
    const struct pp_range share = pp_state_share(&chunk->by_host, part);
    const size_t bytes = elements_of(share) * k->element_bytes;

    if (bytes == 0)
        return PP_OK;
    const void *from = pp_state_weight(&chunk->state, k, share.from);
    void *to = pp_state_weight(&chunk->by_host, k, share.from);
    if (m->backend->is_apart)
        return m->backend->read(m->device, from, to, bytes, err);
    memcpy(to, from, bytes);
    return PP_OK;
}

/* With master weights the host's copy is only written. */
enum pp_status pp_update_refresh(const struct pp_worker *w, struct pp_error *err)
{
    const struct pp_machine *m = w->machine;

    for (int place = 0; place < m->places && m->p->state.spec.is_cpu_update; place++) {
        struct pp_chunk *chunk = &w->chunks[place];
        const bool has_own = chunk->worker && layout_of(w, place)->weights.tier == PP_TIER_HOST;

        for (int part = 0; has_own && chunk->is_changed && part < PP_STATE_PARTS; part++)
            PP_TRY(refresh_part(w, chunk, (enum pp_state_part)part, err));
        chunk->is_changed = false;
    }
    return PP_OK;
}
