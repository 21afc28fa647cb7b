/* Costs of updates of optimizer state that lives on another tier, and of the copies around them. */
#include "core/units.h"
#include "exec/predict/costs_of_updates.h"

struct pp_cost pp_exec_copy_cost(const struct pp_exec_wires *wires, enum pp_tier tier, double bytes)
{
    const double rate = wires->tier_bytes_per_s[tier];

    return (struct pp_cost){.ps = rate > 0 ? pp_units_ps(bytes / rate) : 0, .bytes = bytes};
}

void pp_exec_update_costs(struct pp_arena *arena, const struct pp_program *p,
                          const struct pp_stage *const *stages, const struct pp_kernels *kernels,
                          const struct pp_exec_wires *wires, const struct pp_cuts *cuts,
                          bool is_exact, struct pp_costs *costs)
{
    struct pp_cost **purpose = costs->purpose;
    const double grad_bytes = is_exact ? sizeof(int64_t) : (double)kernels->gradient_bytes;

    if (!p->state.spec.is_cpu_update)
        return;
    purpose[PP_FOR_GRADS] = PP_ARRAY(arena, struct pp_cost, p->stages);
    purpose[PP_FOR_PARAMS] = PP_ARRAY(arena, struct pp_cost, p->stages);
    for (int s = 0; s < p->stages; s++) {
        const size_t moment = pp_state_bytes(stages[s], kernels, is_exact, cuts[s]).moment;
        const double moved =
            (double)pp_update_moved(&p->state.spec, (int64_t)(moment / kernels->gradient_bytes));

        purpose[PP_FOR_GRADS][s] = pp_exec_copy_cost(wires, PP_TIER_HOST, moved * grad_bytes);
        purpose[PP_FOR_PARAMS][s] =
            pp_exec_copy_cost(wires, PP_TIER_HOST, moved * (double)kernels->element_bytes);
    }
}
