#include "exec/backend/mirror.h"

struct pp_mirror pp_mirror_make(struct pp_arena *arena, const struct pp_backend *backend,
                                struct pp_backend_device *device, void *there, size_t bytes)
{
    return (struct pp_mirror){.backend = backend,
                              .device = device,
                              .there = there,
                              .here =
                                  backend->is_apart ? pp_arena_alloc_raw(arena, bytes + 1) : there,
                              .bytes = bytes};
}

struct pp_mirror pp_mirror_itself(void *memory, size_t bytes)
{
    return (struct pp_mirror){.there = memory, .here = memory, .bytes = bytes};
}

enum pp_status pp_mirror_fetch(const struct pp_mirror *m, struct pp_error *err)
{
    return m->here == m->there ? PP_OK
                               : m->backend->read(m->device, m->there, m->here, m->bytes, err);
}

enum pp_status pp_mirror_push(const struct pp_mirror *m, struct pp_error *err)
{
    return m->here == m->there ? PP_OK
                               : m->backend->write(m->device, m->here, m->there, m->bytes, err);
}
