/* exec/hub/folder.h — a folder that is written under another name until it is complete. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdint.h>

struct pp_hub_folder {
    const char *path, *partial; /* its name, and that until it is complete */
    const char *differs;        /* its name if the weights did not pass their check */
    int fd;                     /* of `partial`, locked */
    int watched_fd;             /* ends with this process; -1 = no process watches it */
};

/* Makes and locks DIR.partial, with its parents, and removes what an interrupted export has left in
 * it. It goes with the arena or the process unless it is published. PP_EINVAL if DIR, or
 * DIR.differs, is there and not empty. PP_EFAIL if it cannot be made, another run writes it, or
 * `bytes` do not fit. */
enum pp_status pp_hub_folder_open(struct pp_arena *arena, const char *path, int64_t bytes,
                                  struct pp_hub_folder *folder, struct pp_error *err);
/* Brings the folder to the disk and gives it one of its names. PP_EFAIL. */
enum pp_status pp_hub_folder_publish(const struct pp_hub_folder *folder, const char *name,
                                     struct pp_error *err);
/* Sets PP_EFAIL from errno. */
enum pp_status pp_hub_folder_fail(const char *path, struct pp_error *err);
