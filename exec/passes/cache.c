/* Caches of keys and values: how many of their bytes were written. */
#include "exec/backend/poison.h"
#include "exec/passes/passes.h"

/* Caches of a worker of this process; 0 if the device does not answer. */
static size_t touched_here(const struct pp_machine *m, const struct pp_worker *w)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    size_t touched = 0;

    for (int s = 0; s < m->stages; s++) {
        const size_t offset = m->layout[w->rank].generating.cache_offset[s];
        struct pp_error err;

        if (offset == SIZE_MAX)
            continue;
        const struct pp_staging cache = pp_staging_make(
            scratch, m->backend, m->device, w->block + offset,
            pp_stage_cache_bytes(m->options.stages[s], m->options.generation->of.batch));
        if (pp_staging_fetch(&cache, &err) != PP_OK)
            return 0;
        touched += pp_memory_touched(cache.on_host, cache.bytes);
    }
    return touched;
}

size_t pp_cache_touched(const struct pp_machine *m, const struct pp_worker *w)
{
    return !m->generating || !m->options.is_poisoned ? 0
           : pp_is_elsewhere(m, w)                   ? w->cache_touched_bytes
                                                     : touched_here(m, w);
}
