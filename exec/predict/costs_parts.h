/* exec/predict/costs_parts.h — private parts of pp_exec_costs(). */
#pragma once

#include "exec/predict/predict.h"

struct pp_cost_builder {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_stage *const *stages;
    const struct pp_batch *batch;
    const struct pp_kernels *kernels;
    const struct pp_exec_wires *wires;
    const struct pp_cuts *cuts; /* [stage] */
    bool is_exact;
    struct pp_costs *costs;
};

static inline double pp_cost_gradient_bytes(const struct pp_cost_builder *b, int64_t elements)
{
    return (double)elements * (double)(b->is_exact ? sizeof(int64_t) : b->kernels->gradient_bytes);
}

/* costs_sums.c: adds collectives. */
void pp_cost_add_sums(const struct pp_cost_builder *b);
/* costs_copies.c: adds copies between memory tiers, but for those around updates. */
void pp_cost_add_copies(const struct pp_cost_builder *b);
/* Time of bytes from or to a tier. */
struct pp_cost pp_exec_copy_cost(const struct pp_exec_wires *wires, enum pp_tier tier,
                                 double bytes);
/* costs_updates.c: adds updates of state on other tiers, after memory. */
void pp_cost_add_updates(const struct pp_cost_builder *b);
