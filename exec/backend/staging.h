/* exec/backend/staging.h — memory of a device as the host sees it: the memory itself, or a staging
 * buffer that fetch and push bring up to date. */
#pragma once

#include "exec/backend/backend.h"

struct pp_staging {
    const struct pp_backend *backend;
    struct pp_backend_device *device;
    char *on_device, *on_host;
    size_t bytes;
};

/* Stages `bytes` from `on_device` on; a copy, if there is one, is in the arena and not filled. */
struct pp_staging pp_staging_make(struct pp_arena *arena, const struct pp_backend *backend,
                                  struct pp_backend_device *device, void *on_device, size_t bytes);
/* Stages memory of the host, without a copy. */
struct pp_staging pp_staging_itself(void *memory, size_t bytes);
/* Copy from the device, or to it. PP_EFAIL if it does not answer. */
enum pp_status pp_staging_fetch(const struct pp_staging *staging, struct pp_error *err);
enum pp_status pp_staging_push(const struct pp_staging *staging, struct pp_error *err);
