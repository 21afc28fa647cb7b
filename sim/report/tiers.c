/* Data on other memory tiers: the state line, and members of the JSON. */
#include "sim/report/tiers.h"

#include "core/text/json_write.h"
#include "core/units.h"
#include "schedules/select/offload.h"
#include "sim/config/auto_share.h"
#include "sim/config/copies.h"
#include "sim/config/gathers.h"
#include "sim/config/tiers.h"

#include <stdio.h>

/* ---- words ----------------------------------------------------------------------------------- */

const char *pp_line_moved(struct pp_arena *arena, const struct pp_config *config)
{
    struct pp_offload_found found = {.is_cache = config->wanted.cached < 0};

    for (int c = 0; c < PP_STATE_CLASSES; c++)
        found.is_share[c] = pp_auto_share_is(&config->wanted, (enum pp_state_class)c);
    return pp_offload_words(arena, &config->state, &found);
}

/* Returns the share of the ops of a kind that quantises or restores, over all stages. */
static double bits_frac(const struct pp_costs *costs, enum pp_op_kind kind)
{
    double bits_ps = 0, all_ps = 0;

    for (int i = 0; i < costs->stages * costs->splits; i++) {
        bits_ps += (double)costs->op[kind][i].bits_ps;
        all_ps += (double)costs->op[kind][i].ps;
    }
    return all_ps > 0 ? bits_ps / all_ps : 0;
}

const char *pp_line_bits(struct pp_arena *arena, const struct pp_result *r)
{
    const double forward_frac = bits_frac(r->costs, PP_F);

    return forward_frac > 0
               ? pp_arena_printf(arena, "; quantised: %.1f~%% of forward, %.1f~%% of backward",
                                 100 * forward_frac, 100 * bits_frac(r->costs, PP_B))
               : "";
}

const char *pp_line_copied(struct pp_arena *arena, const struct pp_result *r)
{
    const double exposed_frac = r->metrics.time_frac[PP_TIME_MOVES];
    const char *copies = pp_copies_text(arena, r);
    char exposed[PP_UNITS_TEXT_BYTES];

    if (!*copies)
        return "";
    return pp_arena_printf(
        arena, "copied %s, down | up, GiB: %s; exposed %s (%.1f~%%)",
        r->config.generation.passes ? "in all" : "a step", copies,
        pp_units_print(exposed_frac * r->metrics.iteration_s, PP_UNIT_SECONDS, exposed),
        100 * exposed_frac);
}

const char *pp_line_host(struct pp_arena *arena, const struct pp_result *r)
{
    char update[PP_UNITS_TEXT_BYTES], hidden[PP_UNITS_TEXT_BYTES];

    if (!r->config.state.is_cpu_update)
        return "";
    const struct pp_host_updates host = pp_host_updates(r);
    const double hidden_s = host.s - host.exposed_s;
    const char *text =
        pp_arena_printf(arena, "host updates %s", pp_units_print(host.s, PP_UNIT_SECONDS, update));
    return hidden_s > 0 ? pp_arena_printf(arena, "%s, %s of it while the device works", text,
                                          pp_units_print(hidden_s, PP_UNIT_SECONDS, hidden))
                        : text;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Lists the classes that move in a step. Bytes are those of the device that copies most. */
static json_t *copies_json(const struct pp_result *r)
{
    const struct pp_state_spec *state = &r->config.state;
    struct pp_copied by_class[PP_STATE_CLASSES];
    json_t *list = json_array();

    pp_copied_of_rank(r->program, r->costs, pp_copied_most(r->program, r->costs), by_class);
    for (int c = 0; c < PP_STATE_CLASSES; c++) {
        if (by_class[c].down_bytes + by_class[c].up_bytes == 0)
            continue;
        const enum pp_tier home = state->home[c];
        json_t *o = json_pack("{ss ss}", "class", pp_state_class_names[c], "tier",
                              pp_tier_rows[home ? home : PP_TIER_HOST].name);
        pp_json_put_bytes(o, "down_bytes", by_class[c].down_bytes);
        pp_json_put_bytes(o, "up_bytes", by_class[c].up_bytes);
        pp_json_put(o, "exposed_s", r->metrics.moves_frac[c] * r->metrics.iteration_s);
        json_array_append_new(list, o);
    }
    return list;
}

/* Shares of classes that the run found. */
static json_t *auto_share_json(const struct pp_config *config)
{
    json_t *o = json_object();

    for (int c = 0; c < PP_STATE_CLASSES; c++)
        if (pp_auto_share_is(&config->wanted, (enum pp_state_class)c))
            pp_json_put(o, pp_state_class_names[c],
                        pp_state_moved(&config->state, (enum pp_state_class)c));
    return o;
}

/* Bytes of the fullest device on each tier, and its share of the tier. */
json_t *pp_tiers_json(const struct pp_result *r)
{
    json_t *o = json_object();

    for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++) {
        char key[32];
        snprintf(key, sizeof key, "%s_bytes", pp_tier_rows[tier].name);
        pp_json_put_bytes(o, key, pp_tiers_bytes(r, (enum pp_tier)tier));
        snprintf(key, sizeof key, "%s_room_bytes", pp_tier_rows[tier].name);
        pp_json_put_bytes(o, key, pp_tiers_room_bytes(r, (enum pp_tier)tier));
    }
    json_object_set_new(o, "copies", copies_json(r));
    if (r->config.state.is_cpu_update) {
        const struct pp_host_updates host = pp_host_updates(r);
        pp_json_put(o, "host_update_s", host.s);
        pp_json_put(o, "host_update_exposed_s", host.exposed_s);
    }
    if (pp_gathers_are_used(r)) {
        const struct pp_cache_counts count = pp_cache_count(r);
        pp_json_put_int(o, "loads", count.loads);
        pp_json_put_int(o, "hits", count.hits);
        pp_json_put_int(o, "cached_units", count.cached);
    }
    if (pp_auto_share_last(&r->config.wanted) > 0)
        json_object_set_new(o, "auto_share", auto_share_json(&r->config));
    return o;
}

void pp_moved_json(const struct pp_state_spec *state, json_t *o)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    if (pp_state_is_offloaded(state))
        pp_json_put_text(o, "offload", pp_offload_print(arena, state));
    if (state->is_offloaded_by_layer)
        pp_json_put_text(o, "offload_unit", "layer");
    if (state->is_cpu_update)
        pp_json_put_text(o, "update", state->has_early_update ? "jit" : "end");
    if (state->cached > 1)
        pp_json_put_text(o, "evict", pp_evict_names[state->evict]);
    if (state->activation_bits > 0)
        pp_json_put_int(o, "act_bits", state->activation_bits);
    if (state->has_grads_in_params)
        json_object_set_new(o, "grads_in_params", json_true());
}
