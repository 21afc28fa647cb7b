/* Memory that ranks need of each tier, from a layout. */
#include "exec/fit/parts.h"

struct pp_fit_needs pp_fit_needs_of(struct pp_arena *arena, const struct pp_exec_config *config,
                                    const struct pp_exec_plan *plan)
{
    const struct pp_program *p = plan->program;
    const struct pp_stage *const *stages = plan->stages;
    const struct pp_cuts *cuts = pp_memory_cuts(arena, p, stages, &plan->batch);
    struct pp_fit_needs needs = {
        .layout = pp_memory_layout(arena, p, stages, config->kernels, config->recipe.is_exact, cuts,
                                   pp_wholes_find(arena, p, stages, cuts), pp_away_find(arena, p))};

    for (int rank = 0; rank < p->ranks; rank++) {
        const size_t bytes[] = {[PP_TIER_DEVICE] = needs.layout[rank].block_bytes,
                                [PP_TIER_HOST] = pp_memory_host_bytes(&needs.layout[rank])};
        for (int tier = 0; tier < (int)PP_COUNT(bytes); tier++)
            if (bytes[tier] > needs.bytes[tier]) {
                needs.bytes[tier] = bytes[tier];
                needs.rank[tier] = rank;
            }
    }
    return needs;
}

enum pp_tier pp_fit_beyond(const struct pp_fit_needs *needs, const size_t most_bytes[PP_TIERS])
{
    int tier = PP_TIER_DEVICE;

    while (tier < PP_TIERS && (most_bytes[tier] == 0 || needs->bytes[tier] <= most_bytes[tier]))
        tier++;
    return (enum pp_tier)tier;
}
