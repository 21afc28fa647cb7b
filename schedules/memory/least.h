/* schedules/memory/least.h — a bound on the memory of an order that is not lowered yet. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/lists.h"
#include "schedules/program/program.h"

struct pp_least_options {
    int pipelines;
    int cells;                    /* of a micro-batch: granules times splits */
    const double *recompute_frac; /* [stage] as in pp_lower_options; NULL = 0 on all */
    int passes;                   /* of a generating program; 0 = training */
    bool is_moved;                /* saved activations do not stay on the device as they are */
};
/* Lower bounds of the fullest rank: on the device, and on the tier where saved activations wait. */
struct pp_least {
    double bytes, away_bytes;
};
/* Returns lower bounds of an order, whole with all periods of `cut` (NULL = none, in ops). They
 * have the state, the allocator's waste, and what F, B, I and W hold at a time and use while they
 * run. Messages and gathered parameters come on top. */
struct pp_least pp_memory_least(struct pp_arena *arena, const struct pp_orders *lists,
                                const struct pp_program_cut *cut, const struct pp_costs *costs,
                                const struct pp_least_options *options);
