/* The planner's choices that make a layout fit: ZeRO stage and recomputation. */
#include "sim/resolve/resolve.h"

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

    bare.costs.fabric = NULL;
    *rank_of = pp_config_ranks(arena, config);
    return pp_simulate_costs(arena, &bare, *rank_of, &inputs, costs, err);
}

static bool may_shard(const struct pp_config *config)
{
    return config->origin.chosen & PP_CHOSE_ZERO && pp_config_copies(config) > 1;
}

/* Lower bound of a device's memory with this state: the state and the software's fixed bytes. 0 for
 * program files, some of which only go forward. */
static double floor_bytes(struct pp_arena *arena, const struct pp_config *config,
                          struct pp_state_spec state)
{
    struct pp_config sharded = *config;
    const uint16_t *rank_of;
    struct pp_costs *costs;
    struct pp_error err;

    sharded.state = state;
    if (config->file_program ||
        pp_resolve_bare_costs(arena, &sharded, &rank_of, &costs, &err) != PP_OK)
        return 0;
    return (pp_resolve_state_bytes(&sharded, costs, rank_of) + costs->other_bytes) * (1 - ROUNDING);
}

double pp_resolve_floor_bytes(struct pp_arena *arena, const struct pp_config *config)
{
    const double bytes = floor_bytes(arena, config, config->state);

    return may_shard(config)
               ? fmin(bytes, floor_bytes(arena, config, pp_state_with_zero(&config->state, 1)))
               : bytes;
}

/* A choice that frees memory: first sharded optimizer state, then also recomputation. */
struct relief {
    struct pp_state_spec state;
    enum pp_recompute recompute;
};
static int reliefs_of(const struct pp_config *config, struct relief out[4])
{
    const bool may_recompute = config->origin.chosen & PP_CHOSE_RECOMPUTE;
    const struct pp_state_spec state =
        may_shard(config) ? pp_state_with_zero(&config->state, 1) : config->state;
    int count = 0;

    out[count++] = (struct relief){config->state, config->costs.recompute};
    if (may_shard(config))
        out[count++] = (struct relief){state, config->costs.recompute};
    if (may_recompute && (config->cluster.device.is_attention_unfused || /* else it frees nothing */
                          config->costs.framework->is_selective_per_op))
        out[count++] = (struct relief){state, PP_RECOMPUTE_SELECTIVE};
    if (may_recompute)
        out[count++] = (struct relief){state, PP_RECOMPUTE_FULL};
    return count;
}

/* The first relief that fits, else the one that needs least. A relief that cannot fit is tried
 * last, and only if it may need less than the others. */
struct choice {
    struct pp_result *result;
    struct pp_prepared *prepared; /* of the result */
    double least_bytes;           /* of the reliefs that do not fit */
    int least;                    /* its index, the first of equals */
};

static enum pp_status try_relief(struct pp_arena *arena, const struct pp_config *config,
                                 const struct relief *reliefs, int i, struct choice *choice,
                                 struct pp_error *err)
{
    struct pp_config config_i = *config;
    struct pp_result result_i;
    struct pp_prepared prepared = {0};

    config_i.state = reliefs[i].state;
    config_i.costs.recompute = reliefs[i].recompute;
    PP_TRY(pp_simulate(arena, &config_i, PP_MEMORY, &prepared, &result_i, err));
    const double peak_bytes = result_i.memory[result_i.peak_rank].peak_bytes;
    if (!result_i.fits && (peak_bytes > choice->least_bytes ||
                           (peak_bytes == choice->least_bytes && i > choice->least)))
        return PP_OK;
    choice->least_bytes = peak_bytes;
    choice->least = i;
    *choice->result = result_i;
    *choice->prepared = prepared;
    return PP_OK;
}

enum pp_status pp_resolve_state(struct pp_arena *arena, struct pp_config *config,
                                struct pp_prepared *prepared, struct pp_result *result,
                                struct pp_error *err)
{
    struct relief reliefs[4];
    const int count = reliefs_of(config, reliefs);
    const double plain_bytes = may_shard(config) ? floor_bytes(arena, config, config->state) : 0;
    const int first = plain_bytes > config->cluster.device.memory_bytes ? 1 : 0;
    struct choice choice = {.result = result, .prepared = prepared, .least_bytes = INFINITY};
    bool fits = false;

    for (int i = first; i < count && !fits; i++) {
        PP_TRY(try_relief(arena, config, reliefs, i, &choice, err));
        fits = result->fits;
    }
    if (!fits && first > 0 && plain_bytes <= choice.least_bytes)
        PP_TRY(try_relief(arena, config, reliefs, 0, &choice, err));
    *config = result->config;
    return pp_simulate(arena, config, PP_QUICK, prepared, result, err);
}
