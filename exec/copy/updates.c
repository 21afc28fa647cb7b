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

    if (!w->machine->p->state.spec.is_cpu_update)
        return;
    chunk->by_host = part_of(w, place, (struct pp_range){0, update->moved}, update->moved_at);
    chunk->by_device =
        part_of(w, place, (struct pp_range){update->moved, update->elements}, update->rest_at);
    if (update->weights.tier == PP_TIER_HOST)
        pp_state_own_weights(&chunk->by_host, pp_tier_at(w, update->weights));
    if (update->grads.tier == PP_TIER_HOST)
        pp_state_own_gradients(&chunk->by_host, pp_tier_at(w, update->grads));
    chunk->is_changed = true;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static size_t elements_of(struct pp_range range)
{
    return range.until > range.from ? (size_t)(range.until - range.from) : 0;
}

/* Adds the gradients, or weights, of the host's part. */
static void add_share(const struct pp_worker *w, bool is_gradient, struct pp_bound_copy *copy)
{
    const struct pp_machine *m = w->machine;
    const struct pp_kernels *k = m->options.kernels;
    const struct pp_chunk *chunk =
        &w->chunks[m->p->pipe[copy->instruction] * m->stages + m->p->stage[copy->instruction]];
    const size_t each = !is_gradient         ? k->element_bytes
                        : chunk->state.fixed ? sizeof(int64_t)
                                             : k->gradient_bytes;

    struct pp_state on_device = chunk->state;

    if (!is_gradient && chunk->updated)
        on_device.weights = chunk->updated;
    copy->tier = PP_TIER_HOST;
    copy->run = pp_copy_run;
    for (int part = 0; part < PP_STATE_PARTS; part++) {
        const struct pp_range share = pp_state_share(&chunk->by_host, (enum pp_state_part)part);
        void *(*const at)(const struct pp_state *, const struct pp_kernels *, int64_t) =
            is_gradient ? pp_state_gradient : pp_state_weight;

        if (elements_of(share) > 0)
            pp_copy_add(m->arena, copy,
                        (struct pp_copy_piece){.device = at(&on_device, k, share.from),
                                               .away = at(&chunk->by_host, k, share.from),
                                               .bytes = elements_of(share) * each});
    }
}

void pp_bind_grads(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    add_share(w, true, copy);
}

void pp_bind_updated(const struct pp_worker *w, struct pp_bound_copy *copy)
{
    add_share(w, false, copy);
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
