/* Staging buffers: the host's copy of memory of a device. */
#include "exec/backend/staging.h"

struct pp_staging pp_staging_make(struct pp_arena *arena, const struct pp_backend *backend,
                                  struct pp_backend_device *device, void *on_device, size_t bytes)
{
    return (struct pp_staging){.backend = backend,
                               .device = device,
                               .on_device = on_device,
                               .on_host = backend->is_apart ? pp_arena_alloc_raw(arena, bytes + 1)
                                                            : on_device,
                               .bytes = bytes};
}

struct pp_staging pp_staging_itself(void *memory, size_t bytes)
{
    return (struct pp_staging){.on_device = memory, .on_host = memory, .bytes = bytes};
}

enum pp_status pp_staging_fetch(const struct pp_staging *m, struct pp_error *err)
{
    return m->on_host == m->on_device
               ? PP_OK
               : m->backend->read(m->device, m->on_device, m->on_host, m->bytes, err);
}

enum pp_status pp_staging_push(const struct pp_staging *m, struct pp_error *err)
{
    return m->on_host == m->on_device
               ? PP_OK
               : m->backend->write(m->device, m->on_host, m->on_device, m->bytes, err);
}
