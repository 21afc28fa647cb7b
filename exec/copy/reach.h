/* exec/copy/reach.h — whole states of a worker between steps, wherever their classes live: on the
 * device, in host memory, or in a file. They are in the order of exec/state/state.h, and `at`
 * counts from the begin of the worker's states. The worker is one of this process. */
#pragma once

#include "exec/worker/worker.h"

/* PP_EFAIL: the device does not answer, or the file fails. */
enum pp_status pp_reach_read(const struct pp_worker *w, size_t at, size_t bytes, void *memory,
                             struct pp_error *err);
enum pp_status pp_reach_write(const struct pp_worker *w, size_t at, size_t bytes,
                              const void *memory, struct pp_error *err);
/* The same for all of w->staging, which has memory. */
enum pp_status pp_reach_fetch(const struct pp_worker *w, struct pp_error *err);
/* The same within a step: of gradients alone, if updates are under way. */
enum pp_status pp_reach_fetch_gradients(const struct pp_worker *w, struct pp_error *err);
enum pp_status pp_reach_push(const struct pp_worker *w, struct pp_error *err);

/* Returns the state of a place of the worker with each class where it lives. What is in a file has
 * addresses that may not be accessed. Of optimizer state on two tiers it has the first part. */
struct pp_state pp_reach_live(const struct pp_worker *w, int place, const struct pp_state *staged);
