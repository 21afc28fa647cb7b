/* Sequences that have room: bisection over the memory of the program. Words on the cache. */
#include "core/cost/generation/cache.h"
#include "core/units.h"
#include "sim/config/auto_share.h"
#include "sim/config/tiers.h"
#include "sim/inference/inference.h"
#include "sim/run/simulate.h"

#include <math.h>

enum { MOST_SEQUENCES = 1 << 24 };

/* Finds the memory of the run with other sequences. Its program is the same: only sizes change. */
static bool find_memory(struct pp_arena *arena, const struct pp_result *r, int batch, int tokens,
                        struct pp_result *other)
{
    struct pp_error ignored;
    struct pp_generation *g = PP_NEW(arena, struct pp_generation);

    *other = *r;
    *g = r->config.generation;
    g->batch = batch;
    g->prompt_tokens = tokens - g->passes;
    other->config.generation = *g;
    other->config.layout.mbs = batch / g->groups;
    other->config.layout.seq = g->prompt_tokens;
    other->config.layout.gbs = (int64_t)batch * r->config.layout.dp;
    other->cost_inputs.generation = g;
    other->cost_inputs.layout = other->config.layout;
    if (pp_costs_generation(arena, &other->cost_inputs, &other->costs, &ignored) != PP_OK)
        return false;
    other->memory = pp_memory_peaks(arena, r->program, other->costs);
    for (int rank = 0; rank < r->program->ranks; rank++)
        if (other->memory[rank].peak_bytes > other->memory[other->peak_rank].peak_bytes)
            other->peak_rank = rank;
    return true;
}

/* Memory for some sequences. */
struct need {
    double bytes[PP_TIERS]; /* of the fullest device on each tier; NAN: they cannot be priced */
    enum pp_tier full;      /* another tier that is too small; PP_TIER_DEVICE if none is */
    bool fits;              /* on the device, and on other tiers */
};

static struct need need_of(const struct pp_result *r, int64_t batch, int tokens)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_result other;

    if (!find_memory(scratch, r, (int)batch, tokens, &other))
        return (struct need){.bytes = {(double)NAN}};
    struct need need = {.bytes = {other.memory[other.peak_rank].peak_bytes},
                        .full = pp_tiers_full(&other)};
    for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++)
        need.bytes[tier] = pp_tiers_bytes(&other, (enum pp_tier)tier);
    need.fits = need.bytes[PP_TIER_DEVICE] <= pp_config_capacity_bytes(&r->config) &&
                need.full == PP_TIER_DEVICE;
    return need;
}

/* Multiples of the pieces between which the answer lies: `low` has room, `high` has none. */
struct range {
    int64_t low, high;
};

static void narrow(const struct pp_result *r, int tokens, int64_t at, struct range *range)
{
    if (at <= range->low || at >= range->high)
        return;
    if (need_of(r, at * r->config.generation.prompt_groups, tokens).fits)
        range->low = at;
    else
        range->high = at;
}

/* Takes a tier, and the line through the bytes on it. */
static void set_line(const struct pp_result *r, enum pp_tier tier, const struct need *one,
                     const struct need *many, struct pp_room *room)
{
    const int step = r->config.generation.prompt_groups;

    room->tier = tier;
    room->capacity_bytes = tier == PP_TIER_DEVICE ? pp_config_capacity_bytes(&r->config)
                                                  : pp_tiers_room_bytes(r, tier);
    room->sequence_bytes = (many->bytes[tier] - one->bytes[tier]) / (64.0 * step);
    room->fixed_bytes = one->bytes[tier] - step * room->sequence_bytes;
}

static struct pp_room room_of(const struct pp_result *r, int tokens)
{
    const int step = r->config.generation.prompt_groups;
    struct range range = {1, MOST_SEQUENCES / step + 1};
    struct pp_room room = {0};

    if (r->config.is_unit || tokens <= r->config.generation.passes)
        return room;
    const struct need one = need_of(r, step, tokens), many = need_of(r, 65 * (int64_t)step, tokens);
    set_line(r, PP_TIER_DEVICE, &one, &many, &room);
    if (!one.fits)
        return room;
    const double guess =
        floor((room.capacity_bytes - room.fixed_bytes) / room.sequence_bytes / step);
    for (int k = 0; k < 2 && guess > 0 && guess < MOST_SEQUENCES; k++)
        narrow(r, tokens, (int64_t)guess + k, &range);
    while (range.low + 1 < range.high)
        narrow(r, tokens, (range.low + range.high) / 2, &range);
    room.sequences = (int)(range.low * step);
    set_line(r, need_of(r, range.high * step, tokens).full, &one, &many, &room);
    return room;
}

/* Returns the units that the largest stage loads; with so many all stay. */
static int all_units(const struct pp_cost_inputs *in)
{
    double bytes;
    int most = 1;

    for (int s = 0; s < in->stages; s++) {
        const int units = pp_cost_gather_units(in, s, &bytes);
        most = units > most ? units : most;
    }
    return most;
}

/* Finds the room of the run with another state, if it is larger. Returns whether the device is full
 * first; false if another tier is. */
static bool choose(const struct pp_result *r, int tokens, const struct pp_state_spec *state,
                   struct pp_room *room)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_config config = r->config;
    struct pp_error ignored;
    struct pp_result other;

    config.state = *state;
    if (pp_simulate(scratch, &config, PP_MEMORY, NULL, &other, &ignored) != PP_OK)
        return false;
    const struct pp_room with = room_of(&other, tokens);
    const int64_t more = with.sequences + config.generation.prompt_groups;
    *room = with.sequences > room->sequences ? with : *room;
    return !(need_of(&other, more, tokens).bytes[PP_TIER_DEVICE] <=
             pp_config_capacity_bytes(&config));
}

/* A larger batch keeps one unit, or all of a stage. */
static void choose_units(const struct pp_result *r, int tokens, struct pp_room *room)
{
    const int units[] = {1, all_units(&r->cost_inputs)};

    for (size_t k = 0; k < PP_COUNT(units); k++) {
        struct pp_state_spec state = r->config.state;
        if (state.cached < 1 || units[k] == state.cached)
            continue;
        state.cached = units[k];
        choose(r, tokens, &state, room);
    }
}

/* A larger batch moves a larger share, at last all. The device has more room then, and the other
 * tier less, so that the most sequences are where these are equal. */
static void choose_share(const struct pp_result *r, int tokens, struct pp_room *room)
{
    struct pp_state_spec open = r->config.state;
    int low = r->config.origin.share_place, high = pp_auto_share_last(&r->config.wanted);
    struct pp_room last = {0};

    for (int class = 0; class < PP_STATE_CLASSES; class ++)
        if (pp_auto_share_is(&r->config.wanted, (enum pp_state_class) class)) {
            open.home[class] = r->config.wanted.home[class];
            open.moved_frac[class] = r->config.wanted.moved_frac[class];
        }
    open.cached = r->config.wanted.cached < 0 ? 1 : open.cached;
    struct pp_state_spec state = pp_auto_share_at(&open, high);
    if (choose(r, tokens, &state, &last)) {
        *room = last.sequences > room->sequences ? last : *room;
        return;
    }
    while (high - low > 1) {
        const int place = (low + high) / 2;
        state = pp_auto_share_at(&open, place);
        *(choose(r, tokens, &state, room) ? &low : &high) = place;
    }
    *room = last.sequences > room->sequences ? last : *room;
}

/* A larger batch finds shares and units of its own. */
struct pp_room pp_inference_room(const struct pp_result *r, int tokens)
{
    struct pp_room room = room_of(r, tokens);

    if (r->config.is_unit || tokens <= r->config.generation.passes)
        return room;
    if (pp_auto_share_last(&r->config.wanted) > 0)
        choose_share(r, tokens, &room);
    else if (r->config.wanted.cached < 0)
        choose_units(r, tokens, &room);
    return room;
}

const char *pp_inference_room_text(struct pp_arena *arena, const struct pp_room *room, int tokens)
{
    char count[PP_UNITS_TEXT_BYTES];

    return pp_arena_printf(arena, "(%.2f - %.2f GiB) / %.4g MiB a sequence of %s tokens%s",
                           room->capacity_bytes / PP_GIB, room->fixed_bytes / PP_GIB,
                           room->sequence_bytes / (PP_GIB / 1024),
                           pp_units_print_count(tokens, count),
                           room->tier == PP_TIER_DEVICE
                               ? ""
                               : pp_arena_printf(arena, " on %s", pp_tier_rows[room->tier].name));
}

static const char *small_bytes(struct pp_arena *arena, double bytes)
{
    static const double KIB = 1024;

    return bytes < KIB * KIB ? pp_arena_printf(arena, "%.4g~KiB", bytes / KIB)
                             : pp_arena_printf(arena, "%.3g~MiB", bytes / KIB / KIB);
}

const char *pp_inference_cache_text(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_state_spec *state = &r->config.state;
    const double moved = pp_state_moved(state, PP_STATE_CACHE),
                 bytes =
                     pp_kv_stage_bytes(&r->cost_inputs, r->peak_rank,
                                       r->config.generation.passes - 1, r->config.generation.batch);
    const char *text;

    if (r->inference->kv_bytes_per_token == 0)
        return "";
    text = pp_arena_printf(arena, "; KV %s a token",
                           small_bytes(arena, r->inference->kv_bytes_per_token));
    if (moved < 1)
        text = pp_arena_printf(arena, "%s, %.2f~GiB here", text,
                               r->memory[r->peak_rank].kv_bytes / PP_GIB);
    return moved > 0 ? pp_arena_printf(arena, "%s, %.1f~GiB on %s", text, moved * bytes / PP_GIB,
                                       pp_tier_rows[state->home[PP_STATE_CACHE]].name)
                     : text;
}
