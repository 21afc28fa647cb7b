/* Memory of workers: blocks on the device, in host memory and in a file. Of workers in other
 * processes there are addresses alone. */
#include "exec/copy/reach.h"
#include "exec/copy/updates.h"
#include "exec/host/host.h"
#include "exec/machine/parts.h"

/* ---- budget ---------------------------------------------------------------------------------- */

/* Names a worker in messages. */
static const char *owner_of(const struct pp_worker *w)
{
    const struct pp_machine *m = w->machine;

    return m->replicas > 1 ? pp_arena_printf(m->arena, "rank %d of replica %d", w->rank, w->replica)
                           : pp_arena_printf(m->arena, "rank %d", w->rank);
}

/* Takes bytes of a tier, before they are allocated. */
static enum pp_status take(struct pp_worker *w, enum pp_tier tier, size_t bytes,
                           struct pp_error *err)
{
    return pp_tier_take(&w->budget, tier, bytes, owner_of(w), err);
}

/* ---- memory on other tiers ------------------------------------------------------------------- */

/* Addresses for what lives in the worker's file. */
static enum pp_status reserve_file(struct pp_machine *m, struct pp_worker *w, struct pp_error *err)
{
    const size_t bytes = m->layout[w->rank].tier_bytes[PP_TIER_NVME];

    w->file_at = bytes > 0 ? pp_host_reserve(m->arena, bytes) : NULL;
    return bytes == 0 || w->file_at ? PP_OK : pp_states_refuse(m, "addresses", w, bytes, err);
}

/* Opens the worker's file, if it has one. */
static enum pp_status open_file(struct pp_machine *m, struct pp_worker *w, struct pp_error *err)
{
    const size_t bytes = m->layout[w->rank].tier_bytes[PP_TIER_NVME];

    if (bytes == 0)
        return PP_OK;
    PP_TRY(take(w, PP_TIER_NVME, bytes, err));
    PP_TRY(take(w, PP_TIER_HOST, pp_tier_file_memory_bytes(bytes), err));
    return pp_tier_file_open(m->arena, m->options.tiers.dir, bytes, owner_of(w), &w->file, err) ==
                   PP_OK
               ? PP_OK
               : pp_error_prefix(err, "--nvme: ");
}

static enum pp_status place_tiers(struct pp_machine *m, struct pp_worker *w, struct pp_error *err)
{
    const struct pp_backend *backend = m->backend;
    const size_t bytes = m->layout[w->rank].tier_bytes[PP_TIER_HOST];
    void *block = NULL;

    PP_TRY(take(w, PP_TIER_HOST, bytes, err));
    if (bytes > 0)
        PP_TRY((backend->alloc_host ? backend->alloc_host : backend->alloc)(m->device, bytes,
                                                                            &block, err));
    w->host = block;
    PP_TRY(reserve_file(m, w, err));
    return open_file(m, w, err);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static struct pp_sharer sharer_of(const struct pp_worker *w, int place, enum pp_state_part part)
{
    const struct pp_machine *m = w->machine;

    return pp_memory_sharer(m->cuts[place % m->stages], part, m->p->pipelines, w->replica,
                            place / m->stages);
}

static struct pp_state state_at(const struct pp_worker *w, int place, char *at)
{
    const struct pp_machine *m = w->machine;

    const int copy[PP_STATE_PARTS] = {sharer_of(w, place, PP_OF_ALL).index,
                                      sharer_of(w, place, PP_OF_EXPERTS).index};

    return pp_state_of_copy(pp_stage_at(w, place), m->options.kernels, m->options.recipe->is_exact,
                            copy, m->cuts[place % m->stages], at);
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
        chunk->stage = pp_stage_at(w, place);
        chunk->staged = state_at(w, place, w->staging.on_host + layout->state_offset[place]);
        chunk->state = pp_reach_live(w, place, &chunk->staged);
        pp_update_find(w, place);
        for (int part = 0; part < PP_STATE_PARTS; part++)
            chunk->owns_squares[part] = sharer_of(w, place, (enum pp_state_part)part).group == 0;
    }
}

static enum pp_status place_here(struct pp_machine *m, struct pp_worker *w, struct pp_error *err)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    void *block, *states;

    PP_TRY(take(w, PP_TIER_DEVICE, layout->block_bytes, err));
    PP_TRY(m->backend->alloc(m->device, layout->block_bytes, &block, err));
    w->block = block;
    states = pp_has_copies_of_states(w) ? pp_host_reserve(m->arena, layout->state_bytes) : block;
    if (!states)
        return pp_states_refuse(m, "addresses", w, layout->state_bytes, err);
    PP_TRY(place_tiers(m, w, err));
    w->staging = (struct pp_staging){m->backend, m->device, block, states, layout->state_bytes};
    w->figures = pp_block_staging(m, m->arena, w, layout->loss_offset,
                                  layout->loss_bytes + layout->expert_bytes);
    place_chunks(m, w);
    return pp_states_draw(w, err);
}

/* Addresses of what another process has. The one that conducts has memory for its figures. */
static enum pp_status place_elsewhere(struct pp_machine *m, struct pp_worker *w,
                                      struct pp_error *err)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];

    w->block = pp_host_reserve(m->arena, layout->block_bytes);
    const size_t host_bytes = layout->tier_bytes[PP_TIER_HOST];
    w->host = host_bytes > 0 ? pp_host_reserve(m->arena, host_bytes) : NULL;
    if (!w->block || (host_bytes > 0 && !w->host))
        return pp_states_refuse(m, "addresses", w, layout->block_bytes + host_bytes, err);
    void *states = layout->is_scattered ? pp_host_reserve(m->arena, layout->state_bytes) : w->block;
    if (!states)
        return pp_states_refuse(m, "addresses", w, layout->state_bytes, err);
    PP_TRY(reserve_file(m, w, err));
    w->staging = pp_staging_itself(states, layout->state_bytes);
    const size_t figures_bytes = layout->loss_bytes + layout->expert_bytes;
    w->figures = pp_staging_itself(
        pp_is_conductor(m) ? pp_arena_alloc(m->arena, figures_bytes) : NULL, figures_bytes);
    place_chunks(m, w);
    return PP_OK;
}

enum pp_status pp_worker_take(struct pp_worker *w, struct pp_error *err)
{
    struct pp_machine *m = w->machine;
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    const size_t bytes = layout->block_bytes;

    m->own_worker = w->index;
    w->figures = pp_staging_itself(w->block + layout->loss_offset,
                                   layout->loss_bytes + layout->expert_bytes);
    const size_t host_bytes = layout->tier_bytes[PP_TIER_HOST];
    PP_TRY(take(w, PP_TIER_DEVICE, bytes, err));
    PP_TRY(take(w, PP_TIER_HOST, host_bytes, err));
    if (!pp_host_commit(w->block, bytes) ||
        (host_bytes > 0 && !pp_host_commit(w->host, host_bytes)))
        return pp_states_refuse(m, "memory", w, bytes + host_bytes, err);
    PP_TRY(open_file(m, w, err));
    return pp_states_draw(w, err);
}

/* Allocates memory that device and host both see. */
static enum pp_status place_shared(struct pp_machine *m, struct pp_error *err)
{
    const size_t token_bytes = (size_t)pp_batch_samples(m->options.batch) *
                               (size_t)pp_sample_tokens(m) * sizeof(int32_t),
                 statuses = (size_t)(2 * m->worker_count + m->collective_count +
                                     m->replicas * m->p->pipelines * m->tp);
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
    for (int k = 0; k < m->worker_count; k++) {
        m->workers[k].status = &m->statuses[k];
        m->workers[k].sum_on_host_status = &m->statuses[(int)statuses - m->worker_count + k];
    }
    return PP_OK;
}

/* Without a launcher, all workers are threads or processes of this host. */
static enum pp_status check_threads(const struct pp_machine *m, struct pp_error *err)
{
    const int most = pp_host_most_threads();

    if (m->options.meeting.count > 1 || m->worker_count < most)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL,
                        "%d workers need a thread each, and this system runs at most %d at once; "
                        "give a lower --dp",
                        m->worker_count, most);
}

enum pp_status pp_place_memory(struct pp_machine *m, struct pp_error *err)
{
    PP_TRY(pp_check_memory(m, err));
    PP_TRY(check_threads(m, err));
    PP_TRY(place_shared(m, err));
    for (int k = 0; k < m->worker_count; k++)
        PP_TRY((pp_is_elsewhere(m, &m->workers[k]) ? place_elsewhere
                                                   : place_here)(m, &m->workers[k], err));
    return PP_OK;
}
