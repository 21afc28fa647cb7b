/* sim/sweep/lock.h — one writer at a time of a result file, and no other file in its place. */
#pragma once

#include "core/error.h"

/* PP_EFAIL when another sweep writes to it, naming its process. The lock ends when this process
 * closes any descriptor of the file; where there are no locks, there is none. */
enum pp_status pp_sweep_lock(int fd, const char *path, struct pp_error *err);

enum pp_sweep_place_state { PP_PLACE_HELD, PP_PLACE_EMPTY, PP_PLACE_OTHER };
/* What stands at a path now: the open file, nothing, or another one. */
enum pp_sweep_place_state pp_sweep_place_state(int fd, const char *place);
