/* Costs of updates of optimizer state that lives on another tier, and of the copies around them. */
#include "exec/predict/costs_parts.h"

/* Words of a parameter that an update on the host's stream reads or writes: weights and two moments
 * both, the gradient once. On the virtual clock they pass at the rate of the host's tier. */
static const double UPDATE_WORDS = 7;

/* Elements of a stage that an update moves, of a share of its state. */
static int64_t moved_of(const struct pp_cost_builder *b, int stage)
{
    const size_t moment =
        pp_state_bytes(b->stages[stage], b->kernels, b->is_exact, b->cuts[stage]).moment;

    return pp_update_moved(&b->p->state.spec, (int64_t)(moment / b->kernels->gradient_bytes));
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

static void add_fetches(const struct pp_cost_builder *b)
{
    const struct pp_state_spec *spec = &b->p->state.spec;
    const struct pp_kernels *k = b->kernels;
    const size_t vectors = k->element_bytes != k->gradient_bytes ? 3 : 2;
    const double each_bytes[2] = {(double)(vectors * k->gradient_bytes),
                                  (double)pp_update_element_bytes(spec, k, b->is_exact)};

    b->costs->purpose[PP_FOR_FETCH] = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
    b->costs->purpose[PP_FOR_STORE] = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
    for (int s = 0; s < b->p->stages; s++) {
        const int64_t moved = moved_of(b, s);

        add_streamed(b->wires, spec, (double)moved, (double)pp_update_streamed(spec, k, moved),
                     each_bytes, s, b->costs);
    }
}

/* Gradients to the host, its update, and parameters back. */
static void add_updates_of_host(const struct pp_cost_builder *b)
{
    struct pp_cost **purpose = b->costs->purpose;

    purpose[PP_FOR_GRADS] = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
    purpose[PP_FOR_PARAMS] = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
    purpose[PP_FOR_UPDATE] = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
    for (int s = 0; s < b->p->stages; s++) {
        const int64_t moved = moved_of(b, s);
        const double params_bytes = (double)moved * (double)b->kernels->element_bytes,
                     words_bytes =
                         UPDATE_WORDS * (double)moved * (double)b->kernels->gradient_bytes;

        purpose[PP_FOR_GRADS][s] =
            pp_exec_copy_cost(b->wires, PP_TIER_HOST, pp_cost_gradient_bytes(b, moved));
        purpose[PP_FOR_PARAMS][s] = pp_exec_copy_cost(b->wires, PP_TIER_HOST, params_bytes);
        purpose[PP_FOR_UPDATE][s].ps = pp_exec_copy_cost(b->wires, PP_TIER_HOST, words_bytes).ps;
    }
}

void pp_cost_add_updates(const struct pp_cost_builder *b)
{
    if (!pp_state_is_away(&b->p->state.spec, PP_STATE_OPTIMIZER))
        return;
    if (b->p->state.spec.is_cpu_update)
        add_updates_of_host(b);
    else
        add_fetches(b);
}
