/* The planner's choices that make a layout fit: ZeRO stage and recomputation. */
#include "sim/resolve/resolve.h"

#include "sim/config/tiers.h"

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

/* The state that is chosen first, and the one with which more fits. */
static struct pp_state_spec mild_state(const struct pp_config *config)
{
    return may_shard(config)
               ? pp_state_with_zero(&config->state,
                                    pp_tool_mild_zero(config->tool, config->layout.pp > 1))
               : config->state;
}

static struct pp_state_spec next_state(const struct pp_config *config)
{
    return may_shard(config)
               ? pp_state_with_zero(&config->state,
                                    pp_tool_next_zero(config->tool, config->layout.pp > 1))
               : config->state;
}

double pp_resolve_floor_bytes(struct pp_arena *arena, const struct pp_config *config)
{
    const double bytes = floor_bytes(arena, config, mild_state(config));

    return may_shard(config) ? fmin(bytes, floor_bytes(arena, config, next_state(config))) : bytes;
}

/* ---- choices --------------------------------------------------------------------------------- */

int pp_resolve_levels(const struct pp_config *config,
                      struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS])
{
    const struct pp_cost_inputs in = pp_config_costs(config, NULL);
    const int count = pp_recompute_levels(&in, levels);
    int kept = 0;

    for (int i = 0; i < count; i++) /* parts are not measured */
        if ((!config->cost || levels[i].recompute != PP_RECOMPUTE_SELECTIVE) &&
            pp_tool_recomputes(config->tool, levels[i].recompute, levels[i].again,
                               config->model.experts.count > 0))
            levels[kept++] = levels[i];
    return kept;
}

/* A choice of state and recomputation, its memory once that is known, and bounds of it. */
struct choice {
    struct pp_state_spec state;
    enum pp_recompute recompute;
    unsigned again;
    bool is_known, has_least;
    struct pp_least least;
    struct pp_result result;
    struct pp_prepared prepared;
};

/* Choices, from the fastest to the one with least memory: as it is, with sharded optimizer state,
 * and then also with each level of recomputation. No choice needs more than the one before. */
struct choices {
    struct pp_arena *arena;
    const struct pp_config *config;
    struct pp_known_programs *programs; /* most choices have the program of another one */
    struct choice *list;
    int count;
};

static void add_choice(struct choices *c, struct pp_state_spec state, enum pp_recompute recompute,
                       unsigned again)
{
    c->list[c->count++] = (struct choice){.state = state, .recompute = recompute, .again = again};
}

static struct choices choices_of(struct pp_arena *arena, const struct pp_config *config,
                                 struct pp_known_programs *programs)
{
    const bool may_recompute = config->origin.chosen & PP_CHOSE_RECOMPUTE;
    const struct pp_state_spec state = next_state(config);
    struct choices c = {.arena = arena,
                        .config = config,
                        .programs = programs,
                        .list = PP_ARRAY(arena, struct choice, PP_RECOMPUTE_LEVELS + 1)};
    struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS];
    const int count = may_recompute ? pp_resolve_levels(config, levels) : 0;

    add_choice(&c, mild_state(config), config->costs.recompute, config->costs.again);
    if (may_shard(config))
        add_choice(&c, state, config->costs.recompute, config->costs.again);
    for (int i = 1; i < count; i++)
        add_choice(&c, state, levels[i].recompute, levels[i].again);
    return c;
}

static struct pp_config config_of(const struct choices *c, const struct choice *choice)
{
    struct pp_config config = *c->config;

    config.state = choice->state;
    config.costs.recompute = choice->recompute;
    config.costs.again = choice->again;
    return config;
}

/* Sets `is_beyond` if bounds of its order exclude a choice: it needs more than `most_bytes` (0 = no
 * limit). With `needs_fit` another tier may have no room for it, too. */
static enum pp_status check_least(struct choices *c, int at, double most_bytes, bool needs_fit,
                                  bool *is_beyond, struct pp_error *err)
{
    struct choice *choice = &c->list[at];
    const struct pp_result of = {.config = config_of(c, choice)};
    const enum pp_tier home = of.config.state.home[PP_STATE_ACTIVATIONS];

    if (!choice->has_least && !choice->is_known) {
        choice->prepared.programs = c->programs;
        PP_TRY(pp_prepare_least(c->arena, &of.config, &choice->prepared, &choice->least, err));
    }
    choice->has_least = true;
    *is_beyond = (most_bytes > 0 && choice->least.bytes > most_bytes) ||
                 (needs_fit && home != PP_TIER_DEVICE &&
                  choice->least.away_bytes > pp_tiers_room_bytes(&of, home));
    return PP_OK;
}

/* Finds the bytes that a choice needs; more than the device has if another tier is full. Any
 * number above `most_bytes` (0 = no limit) stands for all above: a bound may tell. With `needs_fit`
 * it also stands for a choice that another tier has no room for. */
static enum pp_status bytes_of(struct choices *c, int at, double most_bytes, bool needs_fit,
                               double *bytes, struct pp_error *err)
{
    struct choice *choice = &c->list[at];
    const struct pp_result *result = &choice->result;
    bool is_beyond;

    PP_TRY(check_least(c, at, most_bytes, needs_fit, &is_beyond, err));
    if (!choice->is_known && !is_beyond) {
        const struct pp_config config = config_of(c, choice);
        choice->prepared.most_bytes = most_bytes;
        PP_TRY(pp_simulate(c->arena, &config, PP_MEMORY, &choice->prepared, &choice->result, err));
        choice->prepared.most_bytes = 0;
        choice->is_known = result->program != NULL;
    }
    if (!choice->is_known) {
        *bytes = nextafter(most_bytes, INFINITY);
        return PP_OK;
    }
    *bytes = result->memory[result->peak_rank].peak_bytes;
    if (!result->fits)
        *bytes = fmax(*bytes, nextafter(pp_config_capacity_bytes(c->config), INFINITY));
    return PP_OK;
}

/* Finds the first choice after `low` that needs at most so many bytes, by bisection after the next
 * one; `count` if none does. If the next one does not, bounds of the last one are tried. */
static enum pp_status find_first(struct choices *c, int low, double most_bytes, bool needs_fit,
                                 int *first, struct pp_error *err)
{
    const int from = low + 1;
    int high = c->count;

    for (int at = from; high - low > 1; at = (low + high) / 2) {
        double bytes;
        PP_TRY(bytes_of(c, at, most_bytes, needs_fit, &bytes, err));
        if (bytes <= most_bytes)
            high = at;
        else
            low = at;
        if (at == from && low == at) {
            bool is_beyond = false;
            struct pp_error ignored;
            check_least(c, c->count - 1, most_bytes, needs_fit, &is_beyond, &ignored);
            low = is_beyond ? c->count : low;
        }
    }
    *first = high;
    return PP_OK;
}

/* Finds the first choice with room, else the first that fits, else the first of those with least
 * memory. It is `count` if that is above `most_bytes` (0 = no limit), or with `needs_fit` does not
 * fit, for certain. The lower bound of the first choice may rule it out. */
static enum pp_status find_choice(struct choices *c, double most_bytes, bool needs_fit, int *at,
                                  struct pp_error *err)
{
    const double limits[] = {pp_config_room_bytes(c->config), pp_config_capacity_bytes(c->config)};
    const double plain_bytes =
        may_shard(c->config) ? floor_bytes(c->arena, c->config, mild_state(c->config)) : 0;
    double least_bytes;

    for (size_t i = 0; i < PP_COUNT(limits); i++) {
        PP_TRY(find_first(c, plain_bytes > limits[i] ? 0 : -1, limits[i], true, at, err));
        if (*at < c->count)
            return PP_OK;
    }
    PP_TRY(bytes_of(c, c->count - 1, most_bytes, needs_fit, &least_bytes, err));
    if (!c->list[c->count - 1].is_known)
        return PP_OK;
    return find_first(c, -1, least_bytes, false, at, err);
}

enum pp_status pp_resolve_settled(struct pp_arena *arena, struct pp_config *config,
                                  struct pp_prepared *prepared, struct pp_result *result,
                                  struct pp_error *err)
{
    struct pp_known_programs *given = prepared->programs,
                             own = {.arena = arena, .list_arena = arena, .is_bounded = true};
    struct choices choices = choices_of(arena, config, given ? given : &own);
    const bool is_alone = prepared->is_alone, is_by_fit = prepared->is_by_fit;
    int at;

    PP_TRY(find_choice(&choices, prepared->most_bytes, prepared->needs_fit, &at, err));
    if (at == choices.count) {
        result->program = NULL;
        return PP_OK;
    }
    *config = choices.list[at].result.config;
    *prepared = choices.list[at].prepared;
    prepared->programs = given;
    if (is_alone || (is_by_fit && !choices.list[at].result.fits)) {
        *result = choices.list[at].result;
        return PP_OK;
    }
    return pp_simulate(arena, config, PP_QUICK, prepared, result, err);
}
