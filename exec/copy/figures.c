/* Bytes that a worker has written on other memory tiers, and copied between them. */
#include "exec/copy/figures.h"

#include "exec/backend/poison.h"
#include "exec/worker/worker.h"

/* Counts written bytes of the block in host memory. */
static enum pp_status read_host(const struct pp_worker *w, uint64_t *written_bytes,
                                struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_machine *m = w->machine;
    const size_t bytes = m->layout[w->rank].tier_bytes[PP_TIER_HOST];
    const struct pp_staging all =
        m->backend->alloc_host ? pp_staging_itself(w->host, bytes)
                               : pp_staging_make(scratch, m->backend, m->device, w->host, bytes);

    PP_TRY(pp_staging_fetch(&all, err));
    *written_bytes = pp_memory_touched(all.on_host, bytes);
    return PP_OK;
}

static void read_copied(const struct pp_worker *w, struct pp_copied copied[PP_STATE_CLASSES])
{
    for (int c = 0; c < PP_STATE_CLASSES; c++)
        copied[c] = (struct pp_copied){.down_bytes = (double)w->copied_bytes[c][false],
                                       .up_bytes = (double)w->copied_bytes[c][true]};
}

enum pp_status pp_copy_figures(const struct pp_machine *m, int rank, int replica,
                               struct pp_tier_figures *figures, bool *is_here, struct pp_error *err)
{
    const struct pp_worker *w = pp_worker_at(m, rank, replica, 0);

    *is_here = !pp_is_elsewhere(m, w);
    if (!*is_here)
        return PP_OK;
    *figures = (struct pp_tier_figures){{0}};
    read_copied(w, figures->copied);
    if (!m->options.is_poisoned)
        return PP_OK;
    if (w->file)
        figures->written_bytes[PP_TIER_NVME] = pp_tier_file_written_bytes(w->file);
    return w->host ? read_host(w, &figures->written_bytes[PP_TIER_HOST], err) : PP_OK;
}
