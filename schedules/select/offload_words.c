/* Where state lives, in words: for the reader of a report, and as --offload takes it. */
#include "schedules/select/offload.h"

/* Text such as "p, g, 55 %* of os on host", of the classes on a tier; "" if there are none. */
static const char *classes_on(struct pp_arena *arena, const struct pp_state_spec *state,
                              const struct pp_offload_found *found, enum pp_tier tier)
{
    const char *text = "";

    for (int c = 0; c < PP_STATE_CLASSES; c++) {
        const double frac = pp_state_moved(state, (enum pp_state_class)c);
        if (state->home[c] != tier)
            continue;
        text = pp_arena_printf(arena, "%s%s", text, *text ? ", " : "");
        if (frac < 1 || found->is_share[c])
            text = pp_arena_printf(arena, "%s%.3g~%%%s of ", text, 100 * frac,
                                   found->is_share[c] ? "*" : "");
        text = pp_arena_printf(arena, "%s%s", text, pp_state_class_names[c]);
    }
    return *text ? pp_arena_printf(arena, "%s on %s", text, pp_tier_rows[tier].name) : "";
}

/* Text such as "64 MiB units, 6 cached (belady)"; "6* cached" of a number that the run found. */
static const char *units_text(struct pp_arena *arena, const struct pp_state_spec *state,
                              const struct pp_offload_found *found)
{
    const char *text = "";

    if (state->gather_bytes > 0)
        text = pp_arena_printf(arena, "%.4g~MiB units", state->gather_bytes / (1 << 20));
    if (state->cached > 1)
        text =
            pp_arena_printf(arena, "%s%s%d%s cached (%s)", text, *text ? ", " : "", state->cached,
                            found->is_cache ? "*" : "", pp_evict_names[state->evict]);
    return text;
}

const char *pp_offload_words(struct pp_arena *arena, const struct pp_state_spec *state,
                             const struct pp_offload_found *found)
{
    const char *text = "", *units = units_text(arena, state, found);

    for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++) {
        const char *here = classes_on(arena, state, found, (enum pp_tier)tier);
        if (*here)
            text = pp_arena_printf(arena, "%s%s%s", text, *text ? ", " : "; ", here);
    }
    if (state->is_cpu_update)
        text = pp_arena_printf(arena, "%s, updated by the host%s", text,
                               state->has_early_update ? " just in time" : "");
    if (*units)
        text = pp_arena_printf(arena, "%s; %s", text, units);
    if (state->has_grads_in_params)
        text = pp_arena_printf(arena, "%s; gradients in place of parameters", text);
    if (state->is_offloaded_by_layer)
        text = pp_arena_printf(arena, "%s; saved activations layer by layer", text);
    if (state->activation_bits > 0)
        text = pp_arena_printf(arena, "%s; saved activations in %d bits", text,
                               state->activation_bits);
    return text;
}

const char *pp_offload_print(struct pp_arena *arena, const struct pp_state_spec *state)
{
    const char *text = "";

    for (int c = 0; c < PP_STATE_CLASSES; c++) {
        const double frac = pp_state_moved(state, (enum pp_state_class)c);
        if (!pp_state_is_away(state, (enum pp_state_class)c))
            continue;
        text = pp_arena_printf(arena, "%s%s%s=%s", text, *text ? "," : "", pp_state_class_names[c],
                               pp_tier_rows[state->home[c]].name);
        if (frac < 1)
            text = pp_arena_printf(arena, "%s:%.6g%%", text, 100 * frac);
    }
    return text;
}
