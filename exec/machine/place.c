/* Memory of workers before the first step: blocks on the device or the host, and memory that device
 * and host share. */
#include "exec/host/host.h"
#include "exec/machine/parts.h"

/* Copies of a stage are numbered as its sums add them up. */
static struct pp_state state_at(const struct pp_machine *m, int replica, int place, char *at)
{
    const int copies = m->copies[place % m->stages],
              copy = copies > 1 ? replica * m->p->pipelines + place / m->stages : 0;

    return pp_state_at(m->options.stages[place % m->stages], m->options.kernels,
                       m->options.recipe->is_exact, copy, copies, at);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void place_chunks(struct pp_machine *m, struct pp_worker *w)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];

    w->squares = (double *)(void *)(w->block + layout->scratch_offset);
    w->chunks = PP_ARRAY(m->arena, struct pp_chunk, m->places);
    for (int place = 0; place < m->places; place++) {
        struct pp_chunk *chunk = &w->chunks[place];

        if (layout->state_offset[place] == SIZE_MAX)
            continue;
        chunk->worker = w;
        chunk->stage = m->options.stages[place % m->stages];
        chunk->state = state_at(m, w->replica, place, w->block + layout->state_offset[place]);
        chunk->owns_squares = m->copies[place % m->stages] > 1 ||
                              (w->replica == 0 && place < m->stages); /* pipeline 0 */
    }
}

static enum pp_status place_here(struct pp_machine *m, struct pp_worker *w, struct pp_error *err)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    void *block, *states;

    PP_TRY(m->backend->alloc(m->device, layout->block_bytes, &block, err));
    states = m->backend->is_apart ? pp_host_reserve(m->arena, layout->state_bytes) : block;
    if (!states)
        return pp_states_refuse(m, "addresses", w, layout->state_bytes, err);
    w->block = block;
    w->staging = (struct pp_staging){m->backend, m->device, block, states, layout->state_bytes};
    w->losses = pp_block_staging(m, m->arena, w, layout->loss_offset, layout->loss_bytes);
    place_chunks(m, w);
    return pp_states_draw(w, err);
}

/* Addresses of what another process has. The one that conducts has memory for its losses. */
static enum pp_status place_elsewhere(struct pp_machine *m, struct pp_worker *w,
                                      struct pp_error *err)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];

    w->block = pp_host_reserve(m->arena, layout->block_bytes);
    if (!w->block)
        return pp_states_refuse(m, "addresses", w, layout->block_bytes, err);
    w->staging = pp_staging_itself(w->block, layout->state_bytes);
    w->losses =
        pp_staging_itself(pp_is_conductor(m) ? pp_arena_alloc(m->arena, layout->loss_bytes) : NULL,
                          layout->loss_bytes);
    place_chunks(m, w);
    return PP_OK;
}

/* Allocates memory that device and host both see. */
static enum pp_status place_shared(struct pp_machine *m, struct pp_error *err)
{
    const size_t token_bytes = (size_t)pp_batch_samples(m->options.batch) *
                               (size_t)m->options.stages[0]->net->seq * sizeof(int32_t),
                 statuses = (size_t)(m->worker_count + m->p->collective_count +
                                     m->replicas * m->p->pipelines);
    void *shared[5];
    const size_t bytes[5] = {token_bytes, token_bytes, sizeof(int) * statuses,
                             sizeof(double) * (size_t)m->square_count, sizeof(*m->adamw)};

    for (int k = 0; k < 5; k++)
        PP_TRY(m->backend->alloc_shared(m->device, bytes[k], &shared[k], err));
    m->ids = shared[0];
    m->targets = shared[1];
    m->statuses = shared[2];
    m->squares = shared[3];
    m->adamw = shared[4];
    for (int k = 0; k < m->worker_count; k++)
        m->workers[k].status = &m->statuses[k];
    return PP_OK;
}

enum pp_status pp_place_memory(struct pp_machine *m, struct pp_error *err)
{
    PP_TRY(pp_check_memory(m, err));
    PP_TRY(place_shared(m, err));
    for (int k = 0; k < m->worker_count; k++)
        PP_TRY((pp_is_elsewhere(m, &m->workers[k]) ? place_elsewhere
                                                   : place_here)(m, &m->workers[k], err));
    return PP_OK;
}
