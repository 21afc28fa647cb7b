/* exec/copy/updates.h — updates of optimizer state that lives on another tier, and the copies to
 * and from the host's memory around them. */
#pragma once

#include "exec/worker/worker.h"

/* Finds the parts of a place's share that host and device update, once its state has a place. */
void pp_update_find(const struct pp_worker *w, int place);
/* Before a step: copies weights that have changed to the host, which updates them there. */
enum pp_status pp_update_refresh(const struct pp_worker *w, struct pp_error *err);
