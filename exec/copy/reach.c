/* Moves bytes of whole states piece by piece: each is on one tier. */
#include "exec/copy/reach.h"

#include <string.h>

/* Bytes of a request, where they are, and the caller's memory. */
struct part {
    const struct pp_worker *w;
    struct pp_tier_place place;
    size_t bytes;
    char *memory;
};
typedef enum pp_status (*part_move)(const struct part *part, struct pp_error *err);

/* Memory that only the device's own calls reach. A device without pinned memory has all of its
 * blocks there. */
static bool is_apart(const struct part *part)
{
    const struct pp_backend *backend = part->w->machine->backend;

    return backend->is_apart && (part->place.tier == PP_TIER_DEVICE || !backend->alloc_host);
}

static enum pp_status read_part(const struct part *part, struct pp_error *err)
{
    const struct pp_machine *m = part->w->machine;
    const char *from = pp_tier_at(part->w, part->place);

    if (part->place.tier == PP_TIER_NVME)
        return pp_tier_file_read(part->w->file, part->place.offset, part->bytes, part->memory, err);
    if (is_apart(part))
        return m->backend->read(m->device, from, part->memory, part->bytes, err);
    memcpy(part->memory, from, part->bytes);
    return PP_OK;
}

static enum pp_status write_part(const struct part *part, struct pp_error *err)
{
    const struct pp_machine *m = part->w->machine;
    char *to = pp_tier_at(part->w, part->place);

    if (part->place.tier == PP_TIER_NVME)
        return pp_tier_file_patch(part->w->file, part->place.offset, part->bytes, part->memory,
                                  err);
    if (is_apart(part))
        return m->backend->write(m->device, part->memory, to, part->bytes, err);
    memcpy(to, part->memory, part->bytes);
    return PP_OK;
}

/* Moves all pieces that have some of the range. Between pieces is padding. */
static enum pp_status walk(const struct pp_worker *w, size_t at, size_t bytes, char *memory,
                           part_move move, struct pp_error *err)
{
    const struct pp_rank_layout *layout = &w->machine->layout[w->rank];

    for (int k = 0; k < layout->piece_count; k++) {
        const struct pp_state_piece *piece = &layout->pieces[k];
        const size_t from = piece->at > at ? piece->at : at, piece_end = piece->at + piece->bytes,
                     until = piece_end < at + bytes ? piece_end : at + bytes;
        const struct part part = {w,
                                  {piece->place.tier, piece->place.offset + (from - piece->at)},
                                  until - from,
                                  memory + (from - at)};

        if (from < until)
            PP_TRY(move(&part, err));
    }
    return PP_OK;
}

enum pp_status pp_reach_read(const struct pp_worker *w, size_t at, size_t bytes, void *memory,
                             struct pp_error *err)
{
    return walk(w, at, bytes, memory, read_part, err);
}

enum pp_status pp_reach_write(const struct pp_worker *w, size_t at, size_t bytes,
                              const void *memory, struct pp_error *err)
{
    for (int place = 0; place < w->machine->places; place++)
        w->chunks[place].is_changed = true;
    return walk(w, at, bytes, (char *)(uintptr_t)memory, write_part, err);
}

enum pp_status pp_reach_fetch(const struct pp_worker *w, struct pp_error *err)
{
    return w->machine->layout[w->rank].is_scattered
               ? pp_reach_read(w, 0, w->staging.bytes, w->staging.on_host, err)
               : pp_staging_fetch(&w->staging, err);
}

enum pp_status pp_reach_fetch_gradients(const struct pp_worker *w, struct pp_error *err)
{
    const struct pp_machine *m = w->machine;

    if (!m->p->state.spec.has_early_update)
        return pp_reach_fetch(w, err);
    for (int place = 0; place < m->places; place++) {
        const struct pp_chunk *chunk = &w->chunks[place];
        char *grads = chunk->staged.fixed ? (char *)chunk->staged.fixed : chunk->staged.sum;

        if (chunk->worker)
            PP_TRY(pp_reach_read(w, (size_t)(grads - w->staging.on_host),
                                 pp_state_bytes(chunk->stage, m->options.kernels,
                                                m->options.recipe->is_exact,
                                                m->cuts[place % m->stages])
                                     .gradients,
                                 grads, err));
    }
    return PP_OK;
}

enum pp_status pp_reach_push(const struct pp_worker *w, struct pp_error *err)
{
    return w->machine->layout[w->rank].is_scattered
               ? pp_reach_write(w, 0, w->staging.bytes, w->staging.on_host, err)
               : pp_staging_push(&w->staging, err);
}

static char *address(const struct pp_worker *w, struct pp_tier_place place)
{
    return place.tier == PP_TIER_NVME ? w->file_at + place.offset : pp_tier_at(w, place);
}

/* Address of m, v or master, which follow each other unless the state is scattered. */
static void *moment_at(const struct pp_worker *w, int place, int v, const struct pp_state *staged)
{
    const struct pp_rank_layout *layout = &w->machine->layout[w->rank];
    const struct pp_update_layout *update = &layout->updates[place];
    char *const vectors[PP_MOMENTS] = {staged->m, staged->v, staged->master};

    if (!vectors[v])
        return NULL;
    return layout->is_scattered
               ? address(w, update->moved > 0 ? update->moved_at[v] : update->rest_at[v])
               : address(w, layout->home[place][PP_STATE_OPTIMIZER]) + (vectors[v] - vectors[0]);
}

struct pp_state pp_reach_live(const struct pp_worker *w, int place, const struct pp_state *staged)
{
    const struct pp_tier_place *home = w->machine->layout[w->rank].home[place];
    char *grads = address(w, home[PP_STATE_GRADS]);
    struct pp_state live = *staged;

    live.weights = address(w, home[PP_STATE_PARAMS]);
    live.sum = staged->sum ? grads : NULL;
    live.fixed = staged->fixed ? (int64_t *)(void *)grads : NULL;
    live.m = moment_at(w, place, 0, staged);
    live.v = moment_at(w, place, 1, staged);
    live.master = moment_at(w, place, 2, staged);
    return live;
}
