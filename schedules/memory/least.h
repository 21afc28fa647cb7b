/* schedules/memory/least.h — a bound on the memory of an order that is not lowered yet. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/lists.h"

struct pp_least_options {
    int pipelines;
    int cells;                    /* of a micro-batch: granules times splits */
    const double *recompute_frac; /* [stage] as in pp_lower_options; NULL = 0 on all */
    bool is_moved;                /* saved activations do not stay on the device as they are */
};
/* Returns a lower bound on the peak of the fullest rank. It has the state, the allocator's waste,
 * and what F, B, I and W hold at a time and use while they run. Messages and gathered parameters
 * come on top. */
double pp_memory_least_bytes(struct pp_arena *arena, const struct pp_orders *lists,
                             const struct pp_costs *costs, const struct pp_least_options *options);
