/* exec/backend/mirror.h — memory of a device as the host sees it: itself, or where it is apart a
 * copy that fetch and push bring up to date. */
#ifndef PP_EXEC_BACKEND_MIRROR_H
#define PP_EXEC_BACKEND_MIRROR_H

#include "exec/backend/backend.h"

struct pp_mirror {
    const struct pp_backend *backend;
    struct pp_backend_device *device;
    char *there, *here; /* the device's; the host's */
    size_t bytes;
};

/* Of `bytes` from `there` on; a copy, if there is one, lies in the arena and holds nothing yet. */
struct pp_mirror pp_mirror_make(struct pp_arena *arena, const struct pp_backend *backend,
                                struct pp_backend_device *device, void *there, size_t bytes);
/* Of memory that is the host's. */
struct pp_mirror pp_mirror_itself(void *memory, size_t bytes);
/* From the device, to it. PP_EFAIL when it does not answer. */
enum pp_status pp_mirror_fetch(const struct pp_mirror *mirror, struct pp_error *err);
enum pp_status pp_mirror_push(const struct pp_mirror *mirror, struct pp_error *err);

#endif
