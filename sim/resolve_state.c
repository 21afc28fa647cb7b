/* What the planner may do so that a layout fits: which ZeRO stage and which recomputation. */
#include "sim/resolve.h"

#include <math.h>

#define ROUNDING 1e-9 /* of sums in another order */

double pp_resolve_state_bytes(const struct pp_config *config, const struct pp_costs *costs,
                              const uint16_t *rank_of)
{
    const int stages = costs->stages;
    double worst_bytes = 0;

    for (int r = 0; r < config->shape.ranks; r++) {
        double bytes = 0;
        for (int k = 0; k < config->shape.pipelines * stages; k++) {
            const struct pp_stage_memory *memory = &costs->memory[k % stages];
            if (rank_of[k] == r)
                bytes += memory->params_bytes + memory->grads_bytes + memory->optimizer_bytes;
        }
        worst_bytes = bytes > worst_bytes ? bytes : worst_bytes;
    }
    return worst_bytes;
}

enum pp_status pp_resolve_bare_costs(struct pp_arena *arena, const struct pp_config *config,
                                     const uint16_t **rank_of, struct pp_costs **costs,
                                     struct pp_error *err)
{
    struct pp_config bare = *config;
    struct pp_cost_inputs inputs;

    bare.fabric = NULL;
    *rank_of = pp_resolve_ranks(arena, config);
    return pp_simulate_costs(arena, &bare, *rank_of, &inputs, costs, err);
}

static bool may_shard(const struct pp_config *config)
{
    return config->chosen & PP_CHOSE_ZERO && pp_config_copies(config) > 1;
}

/* The state alone is more than a device has: what else there is can only add to it. Programs of
 * files may keep less: some only go forward. */
static bool is_too_much(struct pp_arena *arena, const struct pp_config *config,
                        struct pp_state_spec state)
{
    struct pp_config sharded = *config;
    const uint16_t *rank_of;
    struct pp_costs *costs;
    struct pp_error err;

    sharded.state = state;
    if (config->file_program ||
        pp_resolve_bare_costs(arena, &sharded, &rank_of, &costs, &err) != PP_OK)
        return false;
    const double bytes = pp_resolve_state_bytes(&sharded, costs, rank_of) + costs->other_bytes;
    return bytes > config->cluster.device.memory_bytes * (1 + ROUNDING);
}

bool pp_resolve_cannot_fit(struct pp_arena *arena, const struct pp_config *config)
{
    return is_too_much(arena, config, config->state) &&
           (!may_shard(config) ||
            is_too_much(arena, config, pp_state_with_zero(&config->state, 1)));
}

/* What may still be chosen when a layout does not fit: first shard the optimizer, then recompute.
 */
struct relief {
    struct pp_state_spec state;
    enum pp_recompute recompute;
};
static int reliefs_of(const struct pp_config *config, struct relief out[4])
{
    const bool may_recompute = config->chosen & PP_CHOSE_RECOMPUTE;
    const struct pp_state_spec state =
        may_shard(config) ? pp_state_with_zero(&config->state, 1) : config->state;
    int count = 0;

    out[count++] = (struct relief){config->state, config->recompute};
    if (may_shard(config))
        out[count++] = (struct relief){state, config->recompute};
    if (may_recompute && (config->cluster.device.is_attention_unfused || /* else it frees nothing */
                          config->framework->is_selective_per_op))
        out[count++] = (struct relief){state, PP_RECOMPUTE_SELECTIVE};
    if (may_recompute)
        out[count++] = (struct relief){state, PP_RECOMPUTE_FULL};
    return count;
}

/* The first of the reliefs that fits, else the one that needs least. */
static enum pp_status try_reliefs(struct pp_arena *arena, const struct pp_config *config,
                                  const struct relief *reliefs, int count, struct pp_result *result,
                                  struct pp_error *err)
{
    double least_bytes = INFINITY;

    for (int i = 0; i < count; i++) {
        struct pp_config config_i = *config;
        struct pp_result result_i;
        config_i.state = reliefs[i].state;
        config_i.recompute = reliefs[i].recompute;
        config_i.prepared = NULL;
        PP_TRY(pp_simulate(arena, &config_i, PP_MEMORY, &result_i, err));
        const double peak_bytes = result_i.memory[result_i.peak_rank].peak_bytes;
        if (!result_i.fits && peak_bytes >= least_bytes)
            continue;
        least_bytes = peak_bytes;
        *result = result_i;
        if (result_i.fits)
            break;
    }
    return PP_OK;
}

enum pp_status pp_resolve_state(struct pp_arena *arena, struct pp_config *config,
                                struct pp_result *result, struct pp_error *err)
{
    struct relief reliefs[4];
    const int count = reliefs_of(config, reliefs);
    const int first = may_shard(config) && is_too_much(arena, config, config->state) ? 1 : 0;

    PP_TRY(try_reliefs(arena, config, reliefs + first, count - first, result, err));
    if (first > 0 && !result->fits)
        PP_TRY(try_reliefs(arena, config, reliefs, count, result, err));
    *config = result->config;
    return pp_simulate(arena, config, PP_QUICK, result, err);
}
