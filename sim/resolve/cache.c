/* --gather, --cache, --evict: units of parameters, and those that stay on a device. */
#include "sim/resolve/resolve.h"

#include "core/cost/inputs.h"
#include "core/units.h"
#include "schedules/lower/cache.h"
#include "sim/cli/wish.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define LEAST_BYTES (1024.0 * 1024) /* of a unit */

/* ---- options --------------------------------------------------------------------------------- */

static enum pp_status take_gather(const char *text, struct pp_state_spec *state,
                                  struct pp_error *err)
{
    state->gather = PP_GATHER_LAYER;
    for (int k = 0; text && pp_gather_names[k]; k++)
        if (!strcmp(text, pp_gather_names[k])) {
            state->gather = (enum pp_gather)k;
            return PP_OK;
        }
    if (!text || (pp_units_parse(text, PP_UNIT_BYTES, &state->gather_bytes, err) == PP_OK &&
                  state->gather_bytes >= LEAST_BYTES))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--gather %.40s: expected layer, chunk, or at least 1MiB, such as 64MiB",
                        text);
}

static enum pp_status take_cache(const char *text, struct pp_state_spec *state,
                                 struct pp_error *err)
{
    int64_t units;

    if (!text)
        return PP_OK;
    if (!strcmp(text, "auto")) {
        state->cached = -1;
        return PP_OK;
    }
    if (pp_units_parse_int(text, 1, UINT16_MAX, &units, err) == PP_OK) {
        state->cached = (int)units;
        return PP_OK;
    }
    if (text[strspn(text, "0123456789")] != '\0' &&
        pp_units_parse(text, PP_UNIT_BYTES, &state->cache_bytes, err) == PP_OK &&
        state->cache_bytes > 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--cache %.40s: expected 1 to V, where a rank has V units, bytes such as "
                        "4GiB, or auto",
                        text);
}

enum pp_status pp_cache_take(const struct pp_wish *wish, struct pp_state_spec *state,
                             struct pp_error *err)
{
    state->evict = (enum pp_evict)wish->evict;
    PP_TRY(take_gather(wish->gather, state, err));
    return take_cache(wish->cache, state, err);
}

/* ---- room ------------------------------------------------------------------------------------ */

int pp_cache_units(struct pp_arena *arena, const struct pp_config *config, double *most_bytes)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    const uint16_t *rank_of = pp_config_ranks(arena, config);
    const struct pp_cost_inputs in = pp_config_costs(config, rank_of);
    int *units = PP_ARRAY(arena, int, config->shape.ranks), most = 1;

    *most_bytes = 0;
    for (int k = 0; k < config->shape.pipelines * in.stages; k++) {
        double bytes;
        int *here = &units[rank_of[k]];
        *here += pp_cost_gather_units(&in, k % in.stages, &bytes);
        *most_bytes = fmax(*most_bytes, bytes);
        most = *here > most ? *here : most;
    }
    pp_arena_release(arena, mark);
    return most;
}

struct chunk_units {
    int least, most;
};

static struct chunk_units chunk_units(struct pp_arena *arena, const struct pp_config *config)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    const struct pp_cost_inputs in = pp_config_costs(config, pp_config_ranks(arena, config));
    struct chunk_units chunk = {INT_MAX, 1};
    double bytes;

    for (int s = 0; s < in.stages; s++) {
        const int units = pp_cost_gather_units(&in, s, &bytes);
        chunk.least = units < chunk.least ? units : chunk.least;
        chunk.most = units > chunk.most ? units : chunk.most;
    }
    pp_arena_release(arena, mark);
    return chunk;
}

bool pp_cache_evicts(struct pp_arena *arena, const struct pp_config *config)
{
    const int cached = config->state.cached;
    double bytes;

    return cached >= 2 * chunk_units(arena, config).most &&
           cached < pp_cache_units(arena, config, &bytes);
}

int pp_cache_wanted(struct pp_arena *arena, const struct pp_config *config)
{
    const int cached = config->state.cached;

    if (config->generation.passes == 0 || cached <= 1)
        return 0;
    const int least = chunk_units(arena, config).least;
    return cached < least ? least : 0;
}

static const char *bytes_text(double bytes, char text[PP_UNITS_TEXT_BYTES])
{
    return pp_units_print(bytes, PP_UNIT_BYTES, text);
}

enum pp_status pp_cache_settle(struct pp_arena *arena, struct pp_config *config,
                               struct pp_error *err)
{
    struct pp_state_spec *state = &config->state;
    double most_bytes;

    if (!pp_state_is_fetched(state)) {
        state->cached = 0;
        state->cache_bytes = state->gather_bytes = 0;
        return PP_OK;
    }
    if (state->cached == 0 && !(state->cache_bytes > 0))
        return PP_OK;
    const int units = pp_cache_units(arena, config, &most_bytes);
    if (state->cache_bytes > 0) {
        if (state->cache_bytes < most_bytes)
            return pp_error_set(err, PP_EINVAL, "--cache %s: a unit takes %s; nearest: --cache 1",
                                bytes_text(state->cache_bytes, (char[PP_UNITS_TEXT_BYTES]){0}),
                                bytes_text(most_bytes, (char[PP_UNITS_TEXT_BYTES]){0}));
        state->cached = (int)fmin(units, floor(state->cache_bytes / most_bytes));
    }
    return pp_cache_check(state, units, err);
}

/* ---- as many as have room -------------------------------------------------------------------- */

/* Finds whether `room_bytes` of a device suffice for a cache of so many units. */
static enum pp_status has_room(const struct pp_config *settled, int units, double room_bytes,
                               struct pp_known_programs *programs, bool *has, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_prepared prepared = {.programs = programs, .is_alone = true};
    struct pp_config config = *settled;
    struct pp_result result;

    config.state.cached = units;
    PP_TRY(pp_simulate(scratch, &config, PP_MEMORY, &prepared, &result, err));
    *has = result.memory[result.peak_rank].peak_bytes <= room_bytes;
    return PP_OK;
}

/* Bisects the units for which there is room. One unit is always there. */
static enum pp_status find_units(struct pp_arena *arena, const struct pp_config *settled,
                                 double room_bytes, struct pp_known_programs *programs, int *units,
                                 struct pp_error *err)
{
    double bytes;
    int low = 1, high = pp_cache_units(arena, settled, &bytes) + 1;

    for (int at = high - 1; high - low > 1; at = (low + high) / 2) {
        bool has;
        PP_TRY(has_room(settled, at, room_bytes, programs, &has, err));
        *(has ? &low : &high) = at;
    }
    *units = low;
    return PP_OK;
}

/* Finds the units that leave a margin. If one unit has no room, it finds those that just fit. Ops
 * that load the others may need more than all units do. `result` is that of one. */
static enum pp_status choose_units(struct pp_arena *arena, const struct pp_config *settled,
                                   const struct pp_result *result,
                                   struct pp_known_programs *programs, int *units,
                                   struct pp_error *err)
{
    const double most_bytes = pp_config_capacity_bytes(settled);

    PP_TRY(find_units(arena, settled, pp_config_room_bytes(settled), programs, units, err));
    return *units > 1 || result->memory[result->peak_rank].peak_bytes <= most_bytes
               ? PP_OK
               : find_units(arena, settled, most_bytes, programs, units, err);
}

enum pp_status pp_resolve_kept(struct pp_arena *arena, struct pp_config *config,
                               struct pp_prepared *prepared, struct pp_result *result,
                               struct pp_error *err)
{
    struct pp_config settled = *config;
    struct pp_prepared mine = {.programs = prepared->programs, .is_alone = true};

    if (config->state.cached >= 0)
        return pp_resolve_settled(arena, config, prepared, result, err);
    config->state.cached = settled.state.cached = 1;
    PP_TRY(pp_resolve_settled(arena, &settled, &mine, result, err));
    PP_TRY(choose_units(arena, &settled, result, prepared->programs, &config->state.cached, err));
    if (pp_cache_wanted(arena, config) > 0)
        config->state.cached = 1;
    return pp_resolve_settled(arena, config, prepared, result, err);
}
