/* The planner's choices that make a layout fit: ZeRO stage and recomputation. */
#include "sim/resolve/resolve.h"

#include <math.h>

#define ROUNDING 1e-9 /* of sums in another order */

/* Bytes of parameters, gradients and optimizer state of the fullest rank. */
static double state_bytes(const struct pp_config *config, const struct pp_costs *costs,
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
    return (state_bytes(&sharded, costs, rank_of) + costs->other_bytes) * (1 - ROUNDING);
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

/* The first relief with room, else the first that fits, else the one that needs least. A relief
 * that cannot have room is tried last, and only if it may be better than the others. */
struct choice {
    struct pp_result *result;
    struct pp_prepared *prepared; /* of the result */
    struct pp_outcome outcome;    /* refused: none so far */
    int at;                       /* its index */
};

/* Is true if relief `i` is better than the choice so far. */
static bool is_better(const struct pp_outcome *outcome, int i, const struct choice *choice)
{
    const struct pp_outcome *old = &choice->outcome;

    if (old->is_refused || outcome->fits != old->fits)
        return old->is_refused || outcome->fits;
    if (outcome->is_tight != old->is_tight)
        return old->is_tight;
    if (outcome->fits || outcome->peak_bytes == old->peak_bytes)
        return i < choice->at;
    return outcome->peak_bytes < old->peak_bytes;
}

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
    const struct pp_outcome outcome = pp_outcome_of(&result_i);
    if (!is_better(&outcome, i, choice))
        return PP_OK;
    choice->outcome = outcome;
    choice->at = i;
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
    const int first = plain_bytes > pp_config_room_bytes(config) ? 1 : 0;
    struct choice choice = {
        .result = result, .prepared = prepared, .outcome = {.is_refused = true}};
    bool has_room = false;

    for (int i = first; i < count && !has_room; i++) {
        PP_TRY(try_relief(arena, config, reliefs, i, &choice, err));
        has_room = result->fits && !result->is_tight;
    }
    if (!has_room && first > 0 &&
        plain_bytes <=
            (choice.outcome.fits ? config->cluster.device.memory_bytes : choice.outcome.peak_bytes))
        PP_TRY(try_relief(arena, config, reliefs, 0, &choice, err));
    *config = result->config;
    return pp_simulate(arena, config, PP_QUICK, prepared, result, err);
}
