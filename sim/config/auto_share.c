/* Places of shares that a run finds itself: the state at each, and words. */
#include "sim/config/auto_share.h"

#include "core/units.h"

enum { STEPS = 20 }; /* of 5 % */

static const enum pp_state_class order[] = {PP_STATE_OPTIMIZER, PP_STATE_GRADS, PP_STATE_PARAMS,
                                            PP_STATE_ACTIVATIONS, PP_STATE_CACHE};

int pp_auto_share_first(const struct pp_state_spec *spec)
{
    const bool needs_update =
        pp_state_is_away(spec, PP_STATE_GRADS) && !pp_auto_share_is(spec, PP_STATE_GRADS);

    return needs_update && pp_auto_share_is(spec, PP_STATE_OPTIMIZER);
}

int pp_auto_share_last(const struct pp_state_spec *spec)
{
    int count = 0;

    for (size_t i = 0; i < PP_COUNT(order); i++)
        count += pp_auto_share_is(spec, order[i]);
    return count * STEPS;
}

/* Leaves `steps` of a class elsewhere. */
static void move(struct pp_state_spec *spec, enum pp_state_class class, int steps)
{
    spec->moved_frac[class] = steps < STEPS ? (double)steps / STEPS : 0;
    if (steps > 0)
        return;
    spec->home[class] = PP_TIER_DEVICE;
    if (class == PP_STATE_OPTIMIZER)
        spec->is_cpu_update = spec->has_early_update = false;
    if (class == PP_STATE_GRADS)
        spec->is_summed_on_device = false;
}

struct pp_state_spec pp_auto_share_at(const struct pp_state_spec *spec, int place)
{
    struct pp_state_spec state = *spec;

    for (size_t i = 0; i < PP_COUNT(order); i++) {
        if (!pp_auto_share_is(spec, order[i]))
            continue;
        move(&state, order[i], place < 0 ? 0 : place < STEPS ? place : STEPS);
        place -= STEPS;
    }
    return state;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *pp_auto_share_text(struct pp_arena *arena, const struct pp_config *config)
{
    const char *text = "";

    for (size_t i = 0; i < PP_COUNT(order); i++)
        if (pp_auto_share_is(&config->wanted, order[i]))
            text = pp_arena_printf(arena, "%s%s%s %.0f %%*", text, *text ? ", " : "",
                                   pp_state_class_names[order[i]],
                                   100 * pp_state_moved(&config->state, order[i]));
    return text;
}

const char *pp_auto_share_why(struct pp_arena *arena, const struct pp_config *config)
{
    const int place = config->origin.share_place;
    const struct pp_state_spec less = pp_auto_share_at(&config->wanted, place - 1);

    for (size_t i = 0; i < PP_COUNT(order); i++) {
        const double frac = pp_state_moved(&config->state, order[i]),
                     less_frac = pp_state_moved(&less, order[i]);
        if (!pp_auto_share_is(&config->wanted, order[i]))
            continue;
        if (place == 0)
            return "0 %: all fits on the device";
        if (place == pp_auto_share_first(&config->wanted))
            return pp_arena_printf(arena,
                                   "%.0f %% of %s, the least that leaves room for the "
                                   "gradients elsewhere",
                                   100 * frac, pp_state_class_names[order[i]]);
        if (frac > less_frac)
            return pp_arena_printf(arena, "%.0f %% of %s: %.0f %% needs %.3g GiB more", 100 * frac,
                                   pp_state_class_names[order[i]], 100 * less_frac,
                                   config->origin.share_short_bytes / PP_GIB);
    }
    return "";
}
