/* Resolves a wish into a configuration, step by step; refuses flags without effect. */
#include "sim/resolve/resolve.h"

#include "core/units.h"
#include "schedules/registry.h"
#include "sim/cli/cli.h"
#include "sim/config/inputs.h"
#include "sim/resolve/mode.h"

#include <math.h>
#include <string.h>

static enum pp_status check_unit_flags(const struct pp_wish *wish, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    for (int i = 0; i < pp_sim_cli.option_count; i++) {
        const struct pp_option *option = &pp_sim_cli.options[i];
        const struct pp_option_value *value = &wish->request.flags->values[i];
        if (!value->count || option->commands & PP_SIM_UNIT ||
            (option->commands & PP_SIM_UNIT_ONE && value->integer == 1))
            continue;
        return pp_error_set(err, PP_EINVAL, "%s has no effect with --unit, %s",
                            pp_request_typed(&wish->request, option->name, typed),
                            strcmp(option->group, PP_GROUP_COMM) != 0
                                ? "which has no model, devices or memory, but the costs of ops "
                                  "alone"
                                : "where only compute and C cost time and messages are buffered "
                                  "without bound");
    }
    return PP_OK;
}

/* R is the price of --recompute: neither goes without the other. */
static enum pp_status check_unit_again(const struct pp_wish *wish, const struct pp_config *config,
                                       struct pp_error *err)
{
    const bool is_again = config->costs.recompute != PP_RECOMPUTE_NONE;

    if (config->unit.has_r && !is_again)
        return pp_error_set(err, PP_EINVAL,
                            "--unit %s: R has no effect without --recompute; give --recompute "
                            "full, or leave R out",
                            wish->unit);
    if (is_again && !config->unit.has_r)
        return pp_error_set(err, PP_EINVAL,
                            "--recompute %s: --unit %s says what F and B cost, not what R does; "
                            "nearest: --unit %s,R=%g",
                            wish->recompute, wish->unit, wish->unit, config->unit.f);
    return PP_OK;
}

/* The needs of options, PP_SIM_NEEDS_*, that a configuration meets. */
static unsigned met_needs(const struct pp_config *config)
{
    const struct pp_program *file = config->file_program;
    const struct pp_layout *l = &config->layout;
    const bool has_replicas = pp_config_copies(config) > 1, has_tensors = l->tp > 1;
    const bool has_degrees = (l->tp > 1) + (l->cp > 1) + (l->dp > 1) + (l->pp > 1) > 1;

    return (has_replicas ? PP_SIM_NEEDS_REPLICAS : 0U) | (has_tensors ? PP_SIM_NEEDS_TENSORS : 0U) |
           (has_replicas || has_tensors ? PP_SIM_NEEDS_GROUPS : 0U) |
           (has_degrees ? PP_SIM_NEEDS_DEGREES : 0U) |
           (config->shape.ranks > 1 ? PP_SIM_NEEDS_PEERS : 0U) |
           (!file || file->collective_count == 0 ? PP_SIM_NEEDS_OWN_SUMS : 0U) |
           (!file || file->message_count == 0 ? PP_SIM_NEEDS_MESSAGES : 0U) |
           (pp_state_is_gathered(&config->state) ? PP_SIM_NEEDS_SHARDS : 0U) |
           (pp_state_is_fetched(&config->state) ||
                    pp_state_is_away(&config->state, PP_STATE_GRADS) ||
                    pp_state_is_away(&config->state, PP_STATE_CACHE)
                ? PP_SIM_NEEDS_FETCHES
                : 0U);
}

/* Needs of options, in the order of their checks. If several of the degrees `by` are open, another
 * choice of the tool might meet the need. */
enum { TP = PP_CHOSE_TP, PP = PP_CHOSE_PP, DP = PP_CHOSE_DP };
static const struct need {
    enum pp_sim_trait trait;
    unsigned by;
    const char *text;
} NEEDS[] = {
    {PP_SIM_NEEDS_REPLICAS, DP, "there is one replica of each stage, so no gradient is exchanged"},
    {PP_SIM_NEEDS_SHARDS, 0,
     "parameters are whole on every device, so none are gathered; --zero 3 or --shard p=AxB cuts "
     "them"},
    {PP_SIM_NEEDS_FETCHES, 0,
     "parameters are whole on every device, so none are gathered; --zero 3 or --shard p=AxB cuts "
     "them, --offload p=host moves them"},
    {PP_SIM_NEEDS_OWN_SUMS, 0, "the program file brings its own gradient sums"},
    {PP_SIM_NEEDS_MESSAGES, 0, "the program file brings its own messages"},
    {PP_SIM_NEEDS_PEERS, PP, "one pipeline rank sends no messages"},
    {PP_SIM_NEEDS_DEGREES, TP | PP | DP,
     "one degree alone is above 1, so the devices have only one order"},
    {PP_SIM_NEEDS_GROUPS, TP | DP,
     "tp is 1 and there is one replica of each stage, so there are no collectives"},
    {PP_SIM_NEEDS_TENSORS, TP, "tp is 1, so no layer is cut and nothing is exchanged inside one"},
};

/* Is true for the neutral value; zero shares are neutral in any spelling. */
static bool is_neutral(const struct pp_option *option, const struct pp_option_value *value)
{
    double frac;

    if (!option->neutral || !value->text)
        return false;
    return !strcmp(value->text, option->neutral) ||
           (!strcmp(option->neutral, "0") &&
            pp_units_parse(value->text, PP_UNIT_FRAC, &frac, NULL) == PP_OK && frac == 0);
}

/* Is true if other degrees might have met the need. A single open degree follows from the rest. */
static bool might_be_met(const struct need *need, const struct pp_config *config)
{
    const unsigned open = config->origin.chosen & (TP | PP | DP);
    const bool has_gpus = !(config->origin.chosen & PP_CHOSE_GPUS) || config->cluster.nodes;

    return has_gpus && (open & (open - 1)) && (open & need->by);
}

static void note(struct pp_arena *arena, struct pp_config *config, const char *text)
{
    *PP_PUSH(arena, config->origin.notes, config->origin.note_count, config->origin.note_capacity) =
        text;
}

/* Notes what unit mode leaves out of a preset. */
static void note_unit_preset(struct pp_arena *arena, const struct pp_wish *wish,
                             struct pp_config *config)
{
    if (wish->request.preset_row)
        note(arena, config,
             pp_arena_printf(arena,
                             "with --unit, --preset %s gives the schedule, pipeline ranks and "
                             "micro-batches; its model, cluster and replicas have no effect",
                             wish->request.preset_row->name));
}

/* Notes a recomputation without effect: a fused kernel keeps no scores, so none are recomputed. */
static void note_recompute(struct pp_arena *arena, const struct pp_wish *wish,
                           struct pp_config *config)
{
    const unsigned again = config->costs.again ? config->costs.again : PP_AGAIN_CORE;

    if (wish->given.recompute.count && config->costs.recompute == PP_RECOMPUTE_SELECTIVE &&
        again == PP_AGAIN_CORE && !config->cluster.device.is_attention_unfused &&
        (config->costs.again || !config->costs.framework->is_selective_per_op))
        note(arena, config,
             "--recompute selective frees nothing and costs time: it recomputes attention, whose "
             "fused kernel keeps no scores; --recompute selective=layernorm+act or full free "
             "memory");
}

/* Finds the peak of a configuration from the programs of others, which it leaves as they are. */
static enum pp_status peak_of(const struct pp_config *config, struct pp_prepared prepared,
                              double *peak_bytes)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_result result;
    struct pp_error err;

    PP_TRY(pp_simulate(scratch, config, PP_MEMORY, &prepared, &result, &err));
    *peak_bytes = result.memory[result.peak_rank].peak_bytes;
    return PP_OK;
}

/* Notes an offload of activations that frees nothing. One is copied down during one op of its rank,
 * and back one op before its use. If no more are saved at a time, none is away at the peak. */
static void note_moved_saves(struct pp_arena *arena, const struct pp_prepared *prepared,
                             struct pp_config *config)
{
    struct pp_config without = *config;
    struct pp_known_programs own = {.is_bounded = true};
    struct pp_prepared mine = *prepared;
    double peak_bytes, other_bytes;

    if (!pp_state_is_away(&config->state, PP_STATE_ACTIVATIONS))
        return;
    without.state.home[PP_STATE_ACTIVATIONS] = PP_TIER_DEVICE;
    mine.programs = mine.programs ? mine.programs : &own;
    if (peak_of(config, mine, &peak_bytes) == PP_OK &&
        peak_of(&without, mine, &other_bytes) == PP_OK && peak_bytes >= other_bytes)
        note(arena, config,
             "--offload a frees nothing at the peak and costs its time: all saved activations of "
             "the fullest rank are in transfer or about to be used; it frees memory if a rank has "
             "more in flight (more stages, gpipe)");
    pp_known_programs_drop(&own);
}

/* Notes a policy that chooses nothing: one unit is there at a time, or all stay. */
static void note_evict(struct pp_arena *arena, const struct pp_wish *wish, struct pp_config *config)
{
    if (config->state.evict != PP_EVICT_BELADY && !pp_cache_evicts(arena, config))
        note(arena, config,
             pp_arena_printf(arena,
                             "%s changes nothing: --cache %d keeps the units at the end of one "
                             "chunk, or all units of a device",
                             wish->given.evict.typed, config->state.cached));
}

/* Notes a cache that takes memory and saves nothing. */
static void note_cache(struct pp_arena *arena, const struct pp_wish *wish, struct pp_config *config)
{
    const int wanted = pp_cache_wanted(arena, config), cached = config->state.cached;

    if (wanted > 0)
        note(arena, config,
             pp_arena_printf(arena,
                             "%s takes memory and saves no load: each pass goes through all %d "
                             "units of a rank in turn; with --cache %d all stay, with --offload "
                             "p=%s:%.0f%% about the same memory keeps a share",
                             wish->given.cache.typed, wanted, wanted,
                             pp_tier_rows[config->state.home[PP_STATE_PARAMS]].name,
                             ceil(100 * pp_state_moved(&config->state, PP_STATE_PARAMS) *
                                  (wanted - cached) / wanted)));
}

static enum pp_status check_need(struct pp_arena *arena, const struct pp_wish *wish,
                                 const char *option, const struct need *need,
                                 struct pp_config *config, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    pp_request_typed(&wish->request, option, typed);
    if (!might_be_met(need, config))
        return pp_error_set(err, PP_EINVAL, "%s has no effect here: %s", typed, need->text);
    note(arena, config,
         pp_arena_printf(arena, "%s has no effect in the layout chosen: %s", typed, need->text));
    return PP_OK;
}

/* Refuses flags that cannot change the answer of this configuration. If the tool chose the degrees,
 * and others would make a difference, config->origin.notes gets a note instead. */
static enum pp_status check_effects(struct pp_arena *arena, const struct pp_wish *wish,
                                    const struct pp_prepared *prepared, struct pp_config *config,
                                    struct pp_error *err)
{
    const unsigned met = met_needs(config);

    for (int i = 0; i < pp_sim_cli.option_count; i++) {
        const struct pp_option *option = &pp_sim_cli.options[i];
        const struct pp_option_value *value = &wish->request.flags->values[i];
        for (size_t k = 0; k < PP_COUNT(NEEDS) && value->count; k++)
            if (option->commands & NEEDS[k].trait & ~met && !is_neutral(option, value))
                PP_TRY(check_need(arena, wish, option->name, &NEEDS[k], config, err));
    }
    note_recompute(arena, wish, config);
    note_moved_saves(arena, prepared, config);
    note_evict(arena, wish, config);
    note_cache(arena, wish, config);
    return PP_OK;
}

/* Notes a schedule that the chosen framework does not have; it is simulated all the same. */
static void note_schedule(struct pp_arena *arena, struct pp_config *config)
{
    if (!config->schedule || config->shape.ranks == 1 ||
        pp_schedule_runs_in(config->schedule, &config->shape, config->tool))
        return;
    note(arena, config,
         pp_arena_printf(
             arena, "%s does not run %s%s; its schedules: %s", config->tool->title,
             config->schedule_name,
             pp_schedule_runs_in(config->schedule, NULL, config->tool) ? " with these options" : "",
             pp_schedules_of(arena, pp_schedules, config->tool)));
}

enum pp_status pp_resolve(struct pp_arena *arena, const struct pp_wish *typed,
                          const struct pp_subject *subject, struct pp_config *config,
                          struct pp_prepared *prepared, struct pp_error *err)
{
    struct pp_prepared own = {0};
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);

    *wish = *typed;
    *config = (struct pp_config){0};
    prepared = prepared ? prepared : &own;
    PP_TRY(pp_resolve_mode(wish, err));
    PP_TRY(pp_resolve_cost(arena, wish, config, err));
    pp_inputs_take(arena, wish, config);
    PP_TRY(pp_resolve_fixed(arena, wish, config, err));
    PP_TRY(pp_resolve_cost_check(config, err));
    if (config->is_unit) {
        PP_TRY(check_unit_flags(wish, err));
        PP_TRY(check_unit_again(wish, config, err));
    }
    PP_TRY(pp_resolve_shape(wish, subject, config, err));
    if (config->is_unit) {
        struct pp_result ignored;
        PP_TRY(pp_resolve_unit(wish, config, err));
        note_unit_preset(arena, wish, config);
        return pp_resolve_is_open(config)
                   ? pp_resolve_choice(arena, config, prepared, &ignored, err)
                   : PP_OK;
    }
    PP_TRY(pp_resolve_plan(arena, wish, config, prepared, err));
    note_schedule(arena, config);
    return check_effects(arena, wish, prepared, config, err);
}
