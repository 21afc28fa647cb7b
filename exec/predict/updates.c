/* Costs of updates of optimizer state that lives on another tier, and of the copies around them. */
#include "core/units.h"
#include "exec/predict/costs_of_updates.h"

/* Words of a parameter that an update on the host's stream reads or writes: weights and two moments
 * both, the gradient once. On the virtual clock they pass at the rate of the host's tier. */
static const double UPDATE_WORDS = 7;

struct pp_cost pp_exec_copy_cost(const struct pp_exec_wires *wires, enum pp_tier tier, double bytes)
{
    const double rate = wires->tier_bytes_per_s[tier];

    return (struct pp_cost){.ps = rate > 0 ? pp_units_ps(bytes / rate) : 0, .bytes = bytes};
}

/* State that streams through updates of the device: the first bucket comes before U, the last one
 * goes after it. The others are inside of U. */
static void add_streamed(const struct pp_exec_wires *wires, const struct pp_state_spec *spec,
                         double elements, double bucket, const double each_bytes[2], int stage,
                         struct pp_costs *costs)
{
    const enum pp_tier home = spec->home[PP_STATE_OPTIMIZER];
    const int buckets = bucket > 0 ? (int)((elements + bucket - 1) / bucket) : 0;
    const double last = elements - (buckets > 0 ? buckets - 1 : 0) * bucket;
    const struct pp_cost first_up = pp_exec_copy_cost(wires, home, bucket * each_bytes[true]),
                         last_down = pp_exec_copy_cost(wires, home, last * each_bytes[false]),
                         up =
                             pp_exec_copy_cost(wires, home, (elements - bucket) * each_bytes[true]),
                         down =
                             pp_exec_copy_cost(wires, home, (elements - last) * each_bytes[false]);

    costs->purpose[PP_FOR_FETCH][stage] = first_up;
    costs->purpose[PP_FOR_STORE][stage] = last_down;
    costs->memory[stage].up_bytes = up.bytes;
    costs->memory[stage].down_bytes = down.bytes;
    costs->op[PP_U][stage].copy_ps = up.ps + down.ps;
}

static void add_fetches(struct pp_arena *arena, const struct pp_program *p,
                        const struct pp_stage *const *stages, const struct pp_kernels *kernels,
                        const struct pp_exec_wires *wires, const struct pp_cuts *cuts,
                        bool is_exact, struct pp_costs *costs)
{
    const struct pp_state_spec *spec = &p->state.spec;
    const size_t vectors = kernels->element_bytes != kernels->gradient_bytes ? 3 : 2;
    const double each_bytes[2] = {(double)(vectors * kernels->gradient_bytes),
                                  (double)pp_update_element_bytes(spec, kernels, is_exact)};

    costs->purpose[PP_FOR_FETCH] = PP_ARRAY(arena, struct pp_cost, p->stages);
    costs->purpose[PP_FOR_STORE] = PP_ARRAY(arena, struct pp_cost, p->stages);
    for (int s = 0; s < p->stages; s++) {
        const size_t moment = pp_state_bytes(stages[s], kernels, is_exact, cuts[s]).moment;
        const int64_t moved = pp_update_moved(spec, (int64_t)(moment / kernels->gradient_bytes));

        add_streamed(wires, spec, (double)moved, (double)pp_update_streamed(spec, kernels, moved),
                     each_bytes, s, costs);
    }
}

void pp_exec_update_costs(struct pp_arena *arena, const struct pp_program *p,
                          const struct pp_stage *const *stages, const struct pp_kernels *kernels,
                          const struct pp_exec_wires *wires, const struct pp_cuts *cuts,
                          bool is_exact, struct pp_costs *costs)
{
    struct pp_cost **purpose = costs->purpose;
    const double grad_bytes = is_exact ? sizeof(int64_t) : (double)kernels->gradient_bytes;

    if (!pp_state_is_away(&p->state.spec, PP_STATE_OPTIMIZER))
        return;
    if (!p->state.spec.is_cpu_update) {
        add_fetches(arena, p, stages, kernels, wires, cuts, is_exact, costs);
        return;
    }
    purpose[PP_FOR_GRADS] = PP_ARRAY(arena, struct pp_cost, p->stages);
    purpose[PP_FOR_PARAMS] = PP_ARRAY(arena, struct pp_cost, p->stages);
    purpose[PP_FOR_UPDATE] = PP_ARRAY(arena, struct pp_cost, p->stages);
    for (int s = 0; s < p->stages; s++) {
        const size_t moment = pp_state_bytes(stages[s], kernels, is_exact, cuts[s]).moment;
        const double moved =
            (double)pp_update_moved(&p->state.spec, (int64_t)(moment / kernels->gradient_bytes));

        purpose[PP_FOR_GRADS][s] = pp_exec_copy_cost(wires, PP_TIER_HOST, moved * grad_bytes);
        purpose[PP_FOR_PARAMS][s] =
            pp_exec_copy_cost(wires, PP_TIER_HOST, moved * (double)kernels->element_bytes);
        purpose[PP_FOR_UPDATE][s].ps =
            pp_exec_copy_cost(wires, PP_TIER_HOST,
                              UPDATE_WORDS * moved * (double)kernels->gradient_bytes)
                .ps;
    }
}
