/* Costs of copies between memory tiers before anything is measured: saved activations, parameters
 * and gradients. */
#include "core/units.h"
#include "exec/predict/costs_parts.h"

struct pp_cost pp_exec_copy_cost(const struct pp_exec_wires *wires, enum pp_tier tier, double bytes)
{
    const double rate = wires->tier_bytes_per_s[tier];

    return (struct pp_cost){.ps = rate > 0 ? pp_units_ps(bytes / rate) : 0, .bytes = bytes};
}

/* Gradients of a visit, and the sum so far, are those of the whole chunk. */
static void add_parts(const struct pp_cost_builder *b)
{
    static const int purposes[] = {PP_FOR_GRAD_DOWN, PP_FOR_GRAD_UP};

    for (size_t k = 0; k < PP_COUNT(purposes); k++) {
        struct pp_cost *costs = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
        for (int s = 0; s < b->p->stages; s++)
            costs[s] = pp_exec_copy_cost(b->wires, b->p->state.spec.home[PP_STATE_GRADS],
                                         pp_cost_gradient_bytes(b, b->stages[s]->elements));
        b->costs->purpose[purposes[k]] = costs;
    }
}

/* Copies of saved activations have the bytes of the first one of their stage. */
static void add_activations(const struct pp_cost_builder *b)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_program *p = b->p;

    if (!pp_program_has_kind(p, PP_COPY))
        return;
    const struct pp_away *away = pp_away_find(scratch, p);
    b->costs->op[PP_COPY] = PP_ARRAY(b->arena, struct pp_cost, p->stages * p->splits);
    for (int i = 0; i < pp_program_size(p); i++) {
        struct pp_cost *cost = &b->costs->op[PP_COPY][p->stage[i] * p->splits + p->split[i]];
        if (p->kind[i] != PP_COPY || cost->bytes > 0)
            continue;
        const double granules = (double)p->granules / p->granule_count[i];
        *cost = pp_exec_copy_cost(b->wires, p->state.spec.home[PP_STATE_ACTIVATIONS],
                                  granules * (double)pp_moved_by(p, b->stages, away, i).away);
    }
}

/* Elements of a stage's parameters that go home: what the host updates is there. */
static double leaving_elements(const struct pp_cost_builder *b, int stage)
{
    const int64_t all = b->stages[stage]->elements;

    return (double)(pp_state_is_updated_at_home(&b->p->state.spec)
                        ? all - pp_update_moved(&b->p->state.spec, all)
                        : all);
}

/* Parameters of a chunk, from their home or to it. */
static void add_loads(const struct pp_cost_builder *b)
{
    static const int purposes[] = {PP_FOR_LOAD, PP_FOR_RELOAD, PP_FOR_HOME};
    const enum pp_tier home = b->p->state.spec.home[PP_STATE_PARAMS];

    for (size_t k = 0; k < PP_COUNT(purposes) && home != PP_TIER_DEVICE; k++) {
        struct pp_cost *costs = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);

        for (int s = 0; s < b->p->stages; s++)
            costs[s] =
                pp_exec_copy_cost(b->wires, home,
                                  (purposes[k] == PP_FOR_HOME ? leaving_elements(b, s)
                                                              : (double)b->stages[s]->elements) *
                                      (double)b->kernels->element_bytes);
        b->costs->purpose[purposes[k]] = costs;
    }
}

void pp_cost_add_copies(const struct pp_cost_builder *b)
{
    add_activations(b);
    add_loads(b);
    if (pp_state_is_away(&b->p->state.spec, PP_STATE_GRADS))
        add_parts(b);
}
