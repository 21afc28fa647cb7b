/* Settings of memory tiers that a plan tries, from that which frees least. */
#include "sim/resolve/tier_choice.h"

#include "core/units.h"
#include "sim/cli/wish.h"
#include "sim/resolve/resolve.h"

#include <math.h>
#include <string.h>

const char *const pp_tier_knob_names[PP_TIER_KNOBS] = {"offload", "act-bits", "gather", "cache"};
const char *const pp_tier_keys[PP_TIER_KNOBS] = {"offload", "act_bits", "gather", "cache"};

/* ---- values ---------------------------------------------------------------------------------- */

/* Homes, each with the update by the host. `host`: the row with the host in place of nvme. */
static const struct rung {
    const char *offload; /* NULL: nothing moves */
    int host;
} ladder[] = {
    {NULL, -1},
    {"os=host:auto", -1},
    {"g=host,os=host:auto", -1},
    {"p=host,g=host,os=host:auto", -1},
    {"os=nvme:auto", 1},
    {"g=nvme,os=nvme:auto", 2},
    {"p=nvme,g=nvme,os=nvme:auto", 3},
};
enum { RUNGS = PP_COUNT(ladder) };

static const int bits[] = {0, 8};
static const char *const units[] = {"layer", "32MiB", "64MiB", "128MiB", "256MiB"};
static const char *const caches[] = {"1", "auto"};

static void take_offload(struct pp_wish *wish, int at)
{
    wish->offload = ladder[at].offload;
    wish->cpu_optimizer = at > 0;
}

static void take_bits(struct pp_wish *wish, int at)
{
    wish->given.act_bits.count = bits[at] > 0;
    for (wish->act_bits = 0; bits[at] > 2 << wish->act_bits;)
        wish->act_bits++;
}

static void take_gather(struct pp_wish *wish, int at)
{
    wish->gather = units[at];
}

static void take_cache(struct pp_wish *wish, int at)
{
    wish->cache = caches[at];
}

static const struct knob {
    int count;
    void (*take)(struct pp_wish *wish, int at);
} knobs[PP_TIER_KNOBS] = {
    [PP_TIER_OFFLOAD] = {RUNGS, take_offload},
    [PP_TIER_ACT_BITS] = {PP_COUNT(bits), take_bits},
    [PP_TIER_GATHER] = {PP_COUNT(units), take_gather},
    [PP_TIER_CACHE] = {PP_COUNT(caches), take_cache},
};

/* ---- choices --------------------------------------------------------------------------------- */

/* Advances to the next combination of places; false after the last. The last knob runs fastest. */
static bool next(int at[PP_TIER_KNOBS], const bool is_free[PP_TIER_KNOBS])
{
    for (int k = PP_TIER_KNOBS - 1; k >= 0; k--) {
        if (is_free[k] && ++at[k] < knobs[k].count)
            return true;
        at[k] = 0;
    }
    return false;
}

/* Is false for units, and for a cache of them, where parameters are whole on the device. */
static bool has_effect(const struct pp_tier_choice *choice, const struct pp_config *config)
{
    const bool is_fetched = pp_state_is_away(&config->wanted, PP_STATE_PARAMS) ||
                            config->wanted_zero == 3 ||
                            pp_mesh_size(config->wanted.shard[PP_STATE_PARAMS]) > 1;

    return is_fetched || (choice->at[PP_TIER_GATHER] == 0 && choice->at[PP_TIER_CACHE] == 0);
}

/* Returns the listed choice with the host in place of the drives of `choice`, or -1. */
static int host_of(const struct pp_tier_choices *choices, const struct pp_tier_choice *choice)
{
    struct pp_tier_choice host = *choice;

    host.at[PP_TIER_OFFLOAD] = ladder[choice->at[PP_TIER_OFFLOAD]].host;
    for (int i = 0; i < choices->count && host.at[PP_TIER_OFFLOAD] > 0; i++)
        if (!memcmp(choices->list[i].at, host.at, sizeof(host.at)))
            return i;
    return -1;
}

enum pp_status pp_tier_choices(struct pp_arena *arena, const struct pp_wish *typed,
                               const struct pp_config *fixed, const bool is_free[PP_TIER_KNOBS],
                               struct pp_tier_choices *choices, struct pp_error *err)
{
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);
    struct pp_tier_choice choice = {.host = -1};
    int capacity = 0;

    *choices = (struct pp_tier_choices){0};
    do {
        struct pp_config config = *fixed;
        *wish = *typed;
        for (int k = 0; k < PP_TIER_KNOBS; k++)
            if (is_free[k])
                knobs[k].take(wish, choice.at[k]);
        if (pp_resolve_wishes(wish, &config, err) != PP_OK)
            continue; /* the cluster lacks the tier */
        if (!has_effect(&choice, &config))
            continue;
        choice.wanted = config.wanted;
        choice.host = host_of(choices, &choice);
        *PP_PUSH(arena, choices->list, choices->count, capacity) = choice;
    } while (next(choice.at, is_free));
    return choices->count ? PP_OK : err->status;
}

bool pp_tier_is_milder(const struct pp_tier_choice *a, const struct pp_tier_choice *b)
{
    return a->at[PP_TIER_OFFLOAD] <= b->at[PP_TIER_OFFLOAD] &&
           a->at[PP_TIER_ACT_BITS] <= b->at[PP_TIER_ACT_BITS] &&
           a->at[PP_TIER_GATHER] == b->at[PP_TIER_GATHER] &&
           a->at[PP_TIER_CACHE] == b->at[PP_TIER_CACHE];
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Returns "=host:55%", the home of a class; "" if it stays on the device. */
static const char *home_text(struct pp_arena *arena, const struct pp_state_spec *state,
                             enum pp_state_class class)
{
    const double frac = state->moved_frac[class];

    if (!pp_state_is_away(state, class))
        return "";
    return pp_arena_printf(arena, "=%s%s", pp_tier_rows[state->home[class]].name,
                           frac > 0 && frac < 1 ? pp_arena_printf(arena, ":%.6g%%", 100 * frac)
                                                : "");
}

const char *pp_tier_offload_text(struct pp_arena *arena, const struct pp_state_spec *state)
{
    static const enum pp_state_class order[] = {PP_STATE_PARAMS, PP_STATE_GRADS, PP_STATE_OPTIMIZER,
                                                PP_STATE_ACTIVATIONS};
    const char *text = "", *next = "";

    for (size_t i = PP_COUNT(order); i-- > 0;) {
        const char *home = home_text(arena, state, order[i]);
        if (!*home)
            continue;
        text = pp_arena_printf(arena, "%s%s%s%s", pp_state_class_names[order[i]],
                               strcmp(home, next) == 0 ? "" : home, *text ? "," : "", text);
        next = home;
    }
    return *text ? text : "none";
}

static const char *bits_text(struct pp_arena *arena, const struct pp_state_spec *state)
{
    return state->activation_bits ? pp_arena_printf(arena, "%d", state->activation_bits) : "none";
}

static const char *gather_text(struct pp_arena *arena, const struct pp_state_spec *state)
{
    return state->gather_bytes > 0
               ? pp_arena_printf(arena, "%.17gMiB", state->gather_bytes / (1 << 20))
           : state->gather ? pp_gather_names[state->gather]
                           : "none";
}

static const char *cache_text(struct pp_arena *arena, const struct pp_state_spec *state)
{
    return state->cached > 1 ? pp_arena_printf(arena, "%d", state->cached) : "none";
}

const char *pp_tier_text(struct pp_arena *arena, enum pp_tier_knob knob,
                         const struct pp_state_spec *state)
{
    static const char *(*const texts[])(struct pp_arena *, const struct pp_state_spec *) = {
        pp_tier_offload_text, bits_text, gather_text, cache_text};

    return texts[knob](arena, state);
}

const char *pp_tier_choice_text(struct pp_arena *arena, const struct pp_tier_choice *choice,
                                const bool is_free[PP_TIER_KNOBS])
{
    const int *at = choice->at;
    const char *rung = ladder[at[PP_TIER_OFFLOAD]].offload, *const values[] = {
                                                                rung ? rung : "none",
                                                                bits[at[PP_TIER_ACT_BITS]]
                                                                    ? "8 bits"
                                                                    : "all bits",
                                                                units[at[PP_TIER_GATHER]],
                                                                caches[at[PP_TIER_CACHE]]};
    const char *text = "";

    for (int k = 0; k < PP_TIER_KNOBS; k++)
        if (is_free[k])
            text = pp_arena_printf(arena, "%s%s%s", text, *text ? " " : "", values[k]);
    return text;
}

void pp_tier_command(struct pp_arena *arena, const struct pp_state_spec *state,
                     const bool is_free[PP_TIER_KNOBS], struct pp_parsed *command)
{
    struct pp_error ignored; /* these values are legal */

    for (int k = 0; k < PP_TIER_KNOBS; k++) {
        const char *text = pp_tier_text(arena, (enum pp_tier_knob)k, state);
        if (is_free[k] && strcmp(text, "none") != 0)
            pp_command_set(arena, command, pp_tier_knob_names[k], text, &ignored);
    }
    if (is_free[PP_TIER_OFFLOAD] && state->is_cpu_update)
        pp_command_set(arena, command, "cpu-optimizer", NULL, &ignored);
}
