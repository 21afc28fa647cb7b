#include "sim/resolve/resolve.h"

#include "core/cost/measured/file.h"
#include "core/lines.h"
#include "core/units.h"
#include "schedules/registry.h"
#include "sim/cli/cli.h"
#include "sim/config/inputs.h"

#include <string.h>

/* Options that mean something in unit mode, beside those of single schedules; all others are
 * refused there. */
static const char *const UNIT_OPTIONS[] = {"schedule",
                                           "preset",
                                           "micro-batches",
                                           "pipelines",
                                           "splits",
                                           "order",
                                           "steps",
                                           "step-barrier",
                                           "dialect",
                                           "pp",
                                           "vp",
                                           "unit",
                                           "engine",
                                           "jitter",
                                           "seed",
                                           "slow",
                                           "json",
                                           "gantt",
                                           "explain",
                                           "trace",
                                           "plot",
                                           "plot-kind",
                                           "paper",
                                           "size",
                                           "title",
                                           "no-alternatives",
                                           "html",
                                           "color",
                                           "to",
                                           "wires",
                                           "output",
                                           NULL};
/* ... except where they only repeat what unit mode fixes. */
static const char *const UNIT_ONES[] = {"tp", "dp", "cp", "ep", "mbs", NULL};

static enum pp_status check_unit_flags(const struct pp_request *request, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    for (int i = 0; i < pp_sim_cli.option_count; i++) {
        const char *name = pp_sim_cli.options[i].name;
        const struct pp_option_value *value = &request->flags->values[i];
        if (!value->count || pp_is_one_of(name, UNIT_OPTIONS) || pp_schedule_option_find(name) ||
            (pp_is_one_of(name, UNIT_ONES) && value->integer == 1))
            continue;
        return pp_error_set(
            err, PP_EINVAL,
            "%s has no effect with --unit, where only compute and C cost time and messages are "
            "buffered without bound",
            pp_request_typed(request, name, typed));
    }
    return PP_OK;
}

/* Flags that change nothing when there is nothing to change; the neutral value (index 0) is fine.
 */
enum need {
    NEEDS_REPLICAS,
    NEEDS_SHARDS,
    NEEDS_FETCHES,
    NEEDS_OWN_SUMS,
    NEEDS_PEERS,
    NEEDS_DEGREES,
    NEEDS_GROUPS,
    NEEDS_TENSORS
};
static const struct effect {
    const char *option;
    enum need need;
    const char *neutral; /* as typed; of shares any spelling of nothing */
} EFFECTS[] = {
    {"zero", NEEDS_REPLICAS, "0"},
    {"shard", NEEDS_REPLICAS, NULL},
    {"secondary", NEEDS_SHARDS, NULL},
    {"gather", NEEDS_FETCHES, "layer"},
    {"gather-buffers", NEEDS_FETCHES, NULL},
    {"grad-sync", NEEDS_REPLICAS, "end"},
    {"collectives", NEEDS_REPLICAS, "analytic"},
    {"p2p", NEEDS_PEERS, "rendezvous"},
    {"post", NEEDS_PEERS, "early"},
    {"recv-slots", NEEDS_PEERS, NULL},
    {"nic", NEEDS_PEERS, "free"},
    {"map", NEEDS_DEGREES, "tp,cp,dp,pp"},
    {"dp-overlap", NEEDS_REPLICAS, "off"},
    {"dp-overlap", NEEDS_OWN_SUMS, "off"},
    {"buckets", NEEDS_REPLICAS, "1"},
    {"bucket-size", NEEDS_REPLICAS, NULL},
    {"buckets", NEEDS_OWN_SUMS, "1"},
    {"bucket-size", NEEDS_OWN_SUMS, NULL},
    {"sync-share", NEEDS_REPLICAS, "0"},
    {"collective-algorithm", NEEDS_GROUPS, "auto"},
    {"sequence-parallel", NEEDS_TENSORS, "on"},
    {"tp-overlap", NEEDS_TENSORS, "0"},
};
static const char *const NEED_TEXT[] = {
    [NEEDS_REPLICAS] = "there is one replica of each stage, so no gradient is exchanged",
    [NEEDS_SHARDS] = "parameters are whole on every device, so none are gathered; --zero 3 or "
                     "--shard p=AxB cuts them",
    [NEEDS_FETCHES] = "parameters are whole on every device, so none are gathered; --zero 3 or "
                      "--shard p=AxB cuts them, --offload p=host moves them",
    [NEEDS_OWN_SUMS] = "the program file brings its own gradient sums",
    [NEEDS_PEERS] = "one pipeline rank sends no messages",
    [NEEDS_DEGREES] = "one degree alone is above 1, so the devices have only one order",
    [NEEDS_GROUPS] = "tp is 1 and there is one replica of each stage, so there are no collectives",
    [NEEDS_TENSORS] = "tp is 1, so no layer is cut and nothing is exchanged inside one",
};

static bool is_met(enum need need, const struct pp_config *config)
{
    const bool has_replicas = pp_config_copies(config) > 1;

    switch (need) {
    case NEEDS_REPLICAS:
        return has_replicas;
    case NEEDS_SHARDS:
        return pp_state_cut(&config->state, PP_STATE_PARAMS) > 1;
    case NEEDS_FETCHES:
        return pp_state_cut(&config->state, PP_STATE_PARAMS) > 1 ||
               config->state.home[PP_STATE_PARAMS] != PP_TIER_DEVICE;
    case NEEDS_OWN_SUMS:
        return !config->file_program || config->file_program->collective_count == 0;
    case NEEDS_PEERS:
        return config->shape.ranks > 1;
    case NEEDS_GROUPS:
        return has_replicas || config->layout.tp > 1;
    case NEEDS_TENSORS:
        return config->layout.tp > 1;
    case NEEDS_DEGREES:
        return (config->layout.tp > 1) + (config->layout.cp > 1) + (config->layout.dp > 1) +
                   (config->layout.pp > 1) >
               1;
    }
    return true;
}

static bool is_neutral(const struct effect *effect, const struct pp_option_value *value)
{
    double frac;

    if (!effect->neutral || !value->text)
        return false;
    return !strcmp(value->text, effect->neutral) ||
           (!strcmp(effect->neutral, "0") &&
            pp_units_parse(value->text, PP_UNIT_FRAC, &frac, NULL) == PP_OK && frac == 0);
}

/* Degrees that the user left open, as a bit mask by index of DEGREES. */
enum { TP = 1 << 0, PP = 1 << 1, DP = 1 << 2 };
static unsigned open_degrees(const struct pp_request *request, const struct pp_config *config)
{
    static const char *const DEGREES[] = {"tp", "pp", "dp"};
    unsigned open = 0;

    for (unsigned i = 0; i < 3; i++)
        if (!pp_request_has(request, DEGREES[i]))
            open |= 1U << i;
    return config->file_program ? open & ~(unsigned)PP : open;
}

/* Another choice of the tool for these GPUs might have met the need: one open degree alone follows
 * from the others. */
static bool might_be_met(enum need need, const struct pp_request *request,
                         const struct pp_config *config)
{
    static const unsigned DEGREES[] = {
        [NEEDS_REPLICAS] = DP,    [NEEDS_PEERS] = PP,   [NEEDS_DEGREES] = TP | PP | DP,
        [NEEDS_GROUPS] = TP | DP, [NEEDS_OWN_SUMS] = 0, [NEEDS_SHARDS] = 0,
        [NEEDS_TENSORS] = TP};
    const unsigned open = open_degrees(request, config);
    const bool has_gpus = !(config->chosen & PP_CHOSE_GPUS) || config->cluster.nodes;

    return has_gpus && (open & (open - 1)) && (open & DEGREES[need]);
}

static void note(struct pp_arena *arena, struct pp_config *config, const char *text)
{
    *PP_PUSH(arena, config->notes, config->note_count, config->note_capacity) = text;
}

/* A fused kernel keeps no scores, so that there is nothing to compute again. */
static void note_recompute(struct pp_arena *arena, const struct pp_request *request,
                           struct pp_config *config)
{
    const unsigned again = config->costs.again ? config->costs.again : PP_AGAIN_CORE;

    if (pp_request_has(request, "recompute") && config->costs.recompute == PP_RECOMPUTE_SELECTIVE &&
        again == PP_AGAIN_CORE && !config->cluster.device.is_attention_unfused &&
        (config->costs.again || !config->costs.framework->is_selective_per_op))
        note(arena, config,
             "--recompute selective frees nothing and costs its time: it computes attention "
             "again, whose fused kernel keeps no scores; --recompute selective=layernorm+act or "
             "full free memory");
}

/* What the fullest rank needs. */
static enum pp_status peak_of(const struct pp_config *config, double *peak_bytes)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_result result;
    struct pp_error err;

    PP_TRY(pp_simulate(scratch, config, PP_MEMORY, NULL, &result, &err));
    *peak_bytes = result.memory[result.peak_rank].peak_bytes;
    return PP_OK;
}

/* An activation is on its way down for an op of its rank and back an op before its own: where no
 * more are saved at a time, none is ever away at the peak. */
static void note_moved_saves(struct pp_arena *arena, struct pp_config *config)
{
    struct pp_config without = *config;
    double peak_bytes, other_bytes;

    if (config->state.home[PP_STATE_ACTIVATIONS] == PP_TIER_DEVICE)
        return;
    without.state.home[PP_STATE_ACTIVATIONS] = PP_TIER_DEVICE;
    if (peak_of(config, &peak_bytes) == PP_OK && peak_of(&without, &other_bytes) == PP_OK &&
        peak_bytes >= other_bytes)
        note(arena, config,
             "--offload a frees nothing at the peak and costs its time: what the fullest rank has "
             "saved there is all on its way or about to be used; it frees memory where a rank "
             "has more in flight (more stages, gpipe)");
}

enum pp_status pp_resolve_effects(struct pp_arena *arena, const struct pp_request *request,
                                  struct pp_config *config, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    for (size_t i = 0; i < sizeof(EFFECTS) / sizeof(*EFFECTS); i++) {
        enum pp_origin origin;
        const struct pp_option_value *value = pp_request_get(request, EFFECTS[i].option, &origin);
        if (!value || origin != PP_FROM_FLAG || is_neutral(&EFFECTS[i], value) ||
            is_met(EFFECTS[i].need, config))
            continue;
        pp_request_typed(request, EFFECTS[i].option, typed);
        if (!might_be_met(EFFECTS[i].need, request, config))
            return pp_error_set(err, PP_EINVAL, "%s has no effect here: %s", typed,
                                NEED_TEXT[EFFECTS[i].need]);
        note(arena, config,
             pp_arena_printf(arena, "%s has no effect in the layout chosen: %s", typed,
                             NEED_TEXT[EFFECTS[i].need]));
    }
    note_recompute(arena, request, config);
    note_moved_saves(arena, config);
    return PP_OK;
}

enum pp_status pp_resolve(struct pp_arena *arena, const struct pp_request *typed,
                          const struct pp_subject *subject, struct pp_config *config,
                          struct pp_prepared *prepared, struct pp_error *err)
{
    struct pp_prepared own;
    struct pp_request *request = PP_NEW(arena, struct pp_request);

    *request = *typed;
    *config = (struct pp_config){0};
    prepared = prepared ? prepared : &own;
    *prepared = (struct pp_prepared){0};
    PP_TRY(pp_resolve_cost(arena, request, config, err));
    pp_inputs_take(arena, request, config);
    PP_TRY(pp_resolve_fixed(arena, request, config, err));
    PP_TRY(pp_resolve_cost_check(config, err));
    config->lower.has_clip = config->cost && config->cost->is_clipped;
    if (config->is_unit)
        PP_TRY(check_unit_flags(request, err));
    PP_TRY(pp_resolve_shape(request, subject, config, err));
    if (config->is_unit) {
        struct pp_result ignored;
        PP_TRY(pp_resolve_unit(request, config, err));
        return pp_resolve_is_open(config)
                   ? pp_resolve_choice(arena, config, prepared, &ignored, err)
                   : PP_OK;
    }
    PP_TRY(pp_resolve_plan(arena, request, config, prepared, err));
    return pp_resolve_effects(arena, request, config, err);
}
