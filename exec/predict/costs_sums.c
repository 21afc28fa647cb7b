/* Costs of collectives before anything is measured: each is a ring over the members of its group in
 * all replicas. */
#include "core/units.h"
#include "exec/predict/costs_parts.h"

#include <math.h>

static const struct pp_group *group_of(const struct pp_program *p, bool is_tied, int stage)
{
    for (int c = 0; c < p->collective_count; c++)
        if (p->collectives[c].tied == is_tied && p->collectives[c].pipe < 0 &&
            (is_tied || p->collectives[c].stage == stage))
            return &p->groups[p->collectives[c].group];
    return NULL;
}

/* Returns the bandwidth of a ring's slowest wire, which limits all members. Wires lead from rank to
 * rank of the group, and from its last rank to the first of the next replica. */
static double ring_bytes_per_s(const struct pp_cost_builder *b, const struct pp_group *group)
{
    double slowest = (double)INFINITY;

    for (int k = 0; b->wires->factors && group && k < group->count; k++) {
        const uint16_t *members = &b->p->members[group->first];
        const int source = members[k], to = members[(k + 1) % group->count];
        slowest = fmin(slowest, b->wires->factors[source * b->p->ranks + to]);
    }
    return b->wires->bytes_per_s * (isfinite(slowest) ? slowest : 1);
}

/* Returns the cost of a ring: n - 1 steps of bytes / n a turn; a sum has two turns (Patarasuk and
 * Yuan 2009). */
static struct pp_cost ring_of(const struct pp_cost_builder *b, int kind,
                              const struct pp_group *group, int members, double bytes)
{
    const int steps = pp_ring_turns(kind) * (members - 1);
    const int64_t alpha_ps = pp_units_ps(b->wires->alpha_s);
    const int64_t share_ps = pp_units_ps(bytes / members / ring_bytes_per_s(b, group));

    return (struct pp_cost){
        .ps = steps * (alpha_ps + share_ps), .latency_ps = steps * alpha_ps, .bytes = bytes};
}

static int members_of(const struct pp_cost_builder *b, const struct pp_group *group)
{
    return group ? group->count * b->batch->replicas : 1;
}

/* If groups of sharers hold the state of a stage, its scatters and gathers are within a group.
 * Sums are between them, of a share. If the optimizer state is cut more finely than parameters,
 * those of visits are among the copies that gather together. Those of an update are among the
 * copies of a part of the parameters. */
static struct pp_cost ring(const struct pp_cost_builder *b, int kind, int purpose, int stage,
                           double bytes)
{
    const struct pp_group *group = group_of(b->p, false, stage);
    const struct pp_cuts cuts = b->cuts[stage];
    const int all = members_of(b, group), sharers = cuts.optimizer, parts = cuts.params;

    if (parts > 1 && parts < sharers && kind != PP_AR)
        return purpose == PP_FOR_STEP ? ring_of(b, kind, group, sharers / parts, bytes / parts)
                                      : ring_of(b, kind, group, parts, bytes);
    if (sharers == 1 || sharers == all)
        return ring_of(b, kind, group, all, bytes);
    return kind == PP_AR ? ring_of(b, kind, group, all / sharers, bytes / sharers)
                         : ring_of(b, kind, group, sharers, bytes);
}

/* Collectives with a purpose of their own have all elements of a stage. */
static void add_purposes(const struct pp_cost_builder *b)
{
    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++) {
        const int kind = pp_purposes[purpose].kind;

        if (!pp_op_is_collective(kind))
            continue;
        b->costs->purpose[purpose] = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
        for (int s = 0; s < b->p->stages; s++) {
            const int64_t elements = b->stages[s]->elements;
            const double bytes = kind == PP_AG
                                     ? (double)elements * (double)b->kernels->element_bytes
                                     : pp_cost_gradient_bytes(b, elements);
            b->costs->purpose[purpose][s] = ring(b, kind, purpose, s, bytes);
        }
    }
}

void pp_cost_add_sums(const struct pp_cost_builder *b)
{
    static const int collectives[] = {PP_AR, PP_RS, PP_AG};
    struct pp_costs *costs = b->costs;
    const struct pp_group *tied = group_of(b->p, true, 0);

    for (size_t k = 0; k < PP_COUNT(collectives); k++)
        costs->op[collectives[k]] = PP_ARRAY(b->arena, struct pp_cost, b->p->stages);
    add_purposes(b);
    costs->ring_alpha_ps = PP_ARRAY(b->arena, int64_t, b->p->stages);
    costs->sync_ranks = b->batch->replicas * b->p->pipelines;
    for (int s = 0; s < b->p->stages; s++) {
        const struct pp_param *shared = tied ? pp_stage_tied(b->stages[s]) : NULL;
        const double bytes =
            pp_cost_gradient_bytes(b, b->stages[s]->elements - (shared ? shared->count : 0));
        const int all = members_of(b, group_of(b->p, false, s)), sharers = b->cuts[s].optimizer,
                  summed = sharers < all ? all / sharers : all;

        costs->op[PP_AR][s] = ring(b, PP_AR, PP_FOR_STEP, s, bytes);
        costs->op[PP_RS][s] = ring(b, PP_RS, PP_FOR_STEP, s, bytes);
        costs->op[PP_AG][s] =
            ring(b, PP_AG, PP_FOR_STEP, s,
                 (double)b->stages[s]->elements * (double)b->kernels->element_bytes);
        if (costs->op[PP_AR][s].ps > 0)
            costs->ring_alpha_ps[s] = costs->op[PP_AR][s].ps / (2 * (int64_t)(summed - 1));
    }
    const struct pp_param *shared = pp_stage_tied(b->stages[0]);
    if (!tied || !shared)
        return;
    costs->tied = PP_NEW(b->arena, struct pp_cost);
    *costs->tied =
        ring_of(b, PP_AR, tied, members_of(b, tied), pp_cost_gradient_bytes(b, shared->count));
}
