/* Decides whether one data-parallel replica stands for all. */
#include "sim/run/fold.h"

#include <string.h>

/* Is true with --slow RANK.REPLICA=FACTOR. */
static bool slows_one_replica(const struct pp_config *config)
{
    for (int i = 0; i < config->slow_count; i++) {
        const char *dot = strchr(config->slow[i], '.'), *equals = strchr(config->slow[i], '=');
        if (dot && dot < equals)
            return true;
    }
    return false;
}

/* Stage whose ring has hops of different lengths: its members do not run in step; else -1. */
static int uneven_ring(const struct pp_costs *costs)
{
    for (int s = 0; costs->rings && s < costs->stages; s++) {
        const struct pp_ring *ring = &costs->rings[s];
        for (int i = 1; ring->hop_ps && i < ring->positions; i++)
            if (ring->hop_ps[i] != ring->hop_ps[0])
                return s;
    }
    return -1;
}

/* Reason why replicas differ on any network, or NULL. */
static const char *what_differs(struct pp_arena *arena, const struct pp_config *config,
                                const struct pp_costs *costs)
{
    const bool has_flows = config->engine_options.eval.ring_flows;

    if (config->engine_options.perturbation.jitter_frac > 0)
        return "not folded: --jitter makes replicas differ";
    if (slows_one_replica(config))
        return "not folded: --slow makes replicas differ";
    if (config->no_fold)
        return "not folded: --no-fold";
    if (has_flows && config->engine->shares_links)
        return "not folded: rings of --collectives flows run through all replicas";
    if (has_flows && uneven_ring(costs) >= 0)
        return pp_arena_printf(arena,
                               "not folded: hops of the ring of stage %d take different times",
                               uneven_ring(costs));
    return NULL;
}

static const char *explain(struct pp_arena *arena, const struct pp_network *network,
                           const struct pp_fold *fold)
{
    char text[PP_LINK_NAME_BYTES];
    const char *name = pp_fabric_link_name(network->fabric, fold->link, text);
    const double bytes_per_s = pp_fabric_link(network->fabric, fold->link).bytes_per_s;

    if (fold->obstacle == PP_FOLD_WIRING)
        return pp_arena_printf(arena, "not folded: replicas %d and %d are wired differently at %s",
                               fold->replicas[0], fold->replicas[1], name);
    return pp_arena_printf(arena,
                           "not folded: replicas %d and %d meet on %s, which can be asked for %.3g "
                           "times its bandwidth",
                           fold->replicas[0], fold->replicas[1], name,
                           fold->demand_per_s / bytes_per_s);
}

int pp_fold_replicas(struct pp_arena *arena, const struct pp_config *config,
                     const struct pp_program *program, const struct pp_costs *costs,
                     const struct pp_network *network, const char **note)
{
    const int dp = config->layout.dp;

    *note = "";
    if (dp == 1)
        return 1;
    *note = what_differs(arena, config, costs);
    if (*note)
        return dp;
    *note = "data-parallel replicas are identical and share no link in this engine";
    if (!network || !config->engine->shares_links)
        return 1;
    const struct pp_fold fold = pp_fold_network(program, network);
    *note = "data-parallel replicas are identical, and no link that they share can be full";
    if (fold.obstacle == PP_FOLD_EXACT)
        return 1;
    *note = explain(arena, network, &fold);
    return dp;
}
