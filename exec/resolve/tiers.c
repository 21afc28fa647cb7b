/* Memory tiers: where state and activations live, and what each tier may hold. */
#include "core/units.h"
#include "exec/resolve/parts.h"
#include "exec/resolve/planned.h"
#include "schedules/build/build.h"
#include "schedules/select/offload.h"

#include <string.h>

/* ---- caps and rates -------------------------------------------------------------------------- */

static enum pp_status take_cap(const struct pp_given *given, const char *text, size_t *most_bytes,
                               struct pp_error *err)
{
    double bytes = 0;

    if (!text)
        return PP_OK;
    if (pp_units_parse(text, PP_UNIT_BYTES, &bytes, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", given->typed);
    if (!(bytes >= 1) || bytes > 1e18)
        return pp_error_set(err, PP_EINVAL, "%s: expected at least 1 byte, such as 53MB",
                            given->typed);
    *most_bytes = (size_t)bytes;
    return PP_OK;
}

/* Parses "host:10GBps nvme:2GBps", each at most once. */
static enum pp_status take_rates(const char *text, double bytes_per_s[PP_TIERS],
                                 struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    char *rest = pp_arena_strdup(scratch, text ? text : "");
    bool is_seen[PP_TIERS] = {false};

    bytes_per_s[PP_TIER_HOST] = 10e9;
    bytes_per_s[PP_TIER_NVME] = 2e9;
    for (char *word; (word = strtok_r(rest, " ,", &rest));) {
        const char *colon = strchr(word, ':');
        int tier = PP_TIER_HOST;

        while (tier < PP_TIERS &&
               !(colon && pp_tier_rows[tier].is_of_host &&
                 strlen(pp_tier_rows[tier].name) == (size_t)(colon - word) &&
                 memcmp(pp_tier_rows[tier].name, word, (size_t)(colon - word)) == 0))
            tier++;
        if (tier == PP_TIERS)
            return pp_error_set(
                err, PP_EINVAL,
                "\"%s\" is neither host: nor nvme:; expected words like host:10GBps nvme:2GBps",
                word);
        if (is_seen[tier])
            return pp_error_set(err, PP_EINVAL, "%s is given twice", pp_tier_rows[tier].name);
        is_seen[tier] = true;
        PP_TRY(pp_units_parse(colon + 1, PP_UNIT_BYTES_PER_S, &bytes_per_s[tier], err));
        if (!(bytes_per_s[tier] >= 1) || bytes_per_s[tier] > 1e18)
            return pp_error_set(err, PP_EINVAL, "%s is out of range: 1Bps to 1e6TBps", word);
    }
    return PP_OK;
}

enum pp_status pp_exec_tiers(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                             struct pp_error *err)
{
    struct pp_tier_options *tiers = &config->tiers;

    tiers->dir = wish->nvme;
    config->act_bits = wish->given.act_bits.count ? 2 << wish->act_bits : 0;
    PP_TRY(take_cap(&wish->given.device_memory, wish->device_memory,
                    &tiers->most_bytes[PP_TIER_DEVICE], err));
    PP_TRY(take_cap(&wish->given.host_memory, wish->host_memory, &tiers->most_bytes[PP_TIER_HOST],
                    err));
    if (config->clock == PP_CLOCK_WALL && wish->given.tier.count)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect with --clock wall: copies take real time",
                            wish->given.tier.typed);
    return take_rates(wish->given.tier.count ? wish->tier : NULL, config->wires.tier_bytes_per_s,
                      err) == PP_OK
               ? PP_OK
               : pp_error_prefix(err, "--tier \"%s\": ", wish->tier);
}

/* ---- homes ----------------------------------------------------------------------------------- */

static enum pp_status check_nvme(const struct pp_exec_wish *wish, const struct pp_state_spec *state,
                                 struct pp_error *err)
{
    const bool is_used = pp_state_has_home(state, PP_TIER_NVME);

    if (is_used && !wish->nvme)
        return pp_error_set(err, PP_EINVAL,
                            "--offload %s: the tier nvme needs a folder for its files; add --nvme "
                            "DIR",
                            wish->offload);
    if (!is_used && wish->nvme)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect: nothing lives on the tier nvme; give --offload "
                            "os=nvme, or another class",
                            wish->given.nvme.typed);
    return PP_OK;
}

/* Is true for --tier nvme:1GBps. With a rate of the host, too, the text describes a machine. */
static bool is_rate_of_drive_alone(const struct pp_exec_wish *wish)
{
    return wish->tier && strstr(wish->tier, "nvme:") && !strstr(wish->tier, "host:");
}

/* Finds an option without effect, and what gives it one. */
static enum pp_status check_idle(const struct pp_exec_wish *wish, const struct pp_state_spec *state,
                                 struct pp_error *err)
{
    const bool is_fetched = pp_state_is_fetched(state);
    const struct {
        const struct pp_given *given;
        bool is_idle;
        const char *help;
    } options[] = {
        {&wish->given.cache, !is_fetched, "nothing is loaded or gathered; give --offload p=host"},
        {&wish->given.evict, !is_fetched || wish->cache < 2,
         "nothing leaves a cache; give --offload p=host --cache 2"},
        {&wish->given.sum, !pp_state_is_away(state, PP_STATE_GRADS),
         "gradients add up on the device anyway; give --offload g,os=host"},
        {&wish->given.tier, !pp_state_is_offloaded(state),
         "everything lives on the device; give --offload a=host"},
        {&wish->given.tier, is_rate_of_drive_alone(wish) && !pp_state_has_home(state, PP_TIER_NVME),
         "nothing lives on the tier nvme; give --offload a=nvme"},
        {&wish->given.host_memory, !pp_state_is_offloaded(state),
         "nothing lives on the host; give --offload a=host"},
    };

    for (size_t i = 0; i < PP_COUNT(options); i++)
        if (options[i].given->count && options[i].is_idle)
            return pp_error_set(err, PP_EINVAL, "%s has no effect: %s", options[i].given->typed,
                                options[i].help);
    return PP_OK;
}

static enum pp_status check_auto(const struct pp_exec_wish *wish, const struct pp_state_spec *state,
                                 struct pp_error *err)
{
    for (int class = 0; class < PP_STATE_CLASSES; class ++)
        if (state->moved_frac[class] < 0)
            return pp_error_set(err, PP_EINVAL,
                                "--offload %s: pipesim finds the share of auto; give the one that "
                                "it prints, such as 40%%",
                                wish->offload);
    return PP_OK;
}

static enum pp_status check_cache(const struct pp_exec_wish *wish,
                                  const struct pp_state_spec *state, struct pp_error *err)
{
    return pp_state_is_away(state, PP_STATE_CACHE)
               ? pp_error_set(err, PP_EINVAL,
                              "--offload %s: kv, the cache of keys and values, is only simulated; "
                              "nearest: pipesim --mode infer --offload kv=host",
                              wish->offload)
               : PP_OK;
}

/* A chunk's parameters are in one place. */
static enum pp_status check_params(const struct pp_exec_wish *wish,
                                   const struct pp_state_spec *state, struct pp_error *err)
{
    if (!pp_state_is_away(state, PP_STATE_PARAMS) || pp_state_moved(state, PP_STATE_PARAMS) >= 1)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--offload %s: a share of parameters on another tier is only simulated; "
                        "nearest: --offload p=%s",
                        wish->offload, pp_tier_rows[state->home[PP_STATE_PARAMS]].name);
}

static enum pp_status check_simulated(const struct pp_exec_wish *wish, struct pp_error *err)
{
    if (wish->given.grads_in_params.count)
        return pp_error_set(err, PP_EINVAL,
                            "%s is only simulated: gradients here are summed in fp32, and in the "
                            "place of bf16 parameters they would be rounded once more; nearest: "
                            "--offload g,os=host",
                            wish->given.grads_in_params.spelled);
    return PP_OK;
}

static enum pp_status check_unit(const struct pp_exec_wish *wish, const struct pp_state_spec *state,
                                 struct pp_error *err)
{
    if (wish->offload_unit != 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s is only simulated: what a forward saves moves once it has ended; "
                            "nearest: --offload-unit op",
                            wish->given.offload_unit.typed);
    if (wish->given.offload_unit.count && !pp_state_is_away(state, PP_STATE_ACTIVATIONS))
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect: saved activations stay on the device; nearest: "
                            "--offload a=host %s",
                            wish->given.offload_unit.typed, wish->given.offload_unit.typed);
    return PP_OK;
}

/* Shares of a state are used in visits, whose gathers and loads would follow each other. */
static enum pp_status check_shards(const struct pp_exec_wish *wish,
                                   const struct pp_state_spec *state, struct pp_error *err)
{
    const bool is_cut = pp_state_cut(state, PP_STATE_GRADS) > 1;

    if (is_cut &&
        (pp_state_is_away(state, PP_STATE_PARAMS) || pp_state_is_away(state, PP_STATE_GRADS)))
        return pp_error_set(err, PP_EINVAL,
                            "--offload %s: gradients that copies share, or parameters, on another "
                            "tier are only simulated; nearest: --zero 1, or --offload os=host",
                            wish->offload);
    return PP_OK;
}

/* The device updates no share of what has left it, and one stream makes what leaves. */
static enum pp_status check_grads(const struct pp_exec_wish *wish,
                                  const struct pp_state_spec *state, struct pp_error *err)
{
    if (!pp_state_is_away(state, PP_STATE_GRADS))
        return PP_OK;
    if (pp_state_moved(state, PP_STATE_GRADS) < 1)
        return pp_error_set(err, PP_EINVAL,
                            "--offload %s: a share of gradients on another tier is only simulated; "
                            "nearest: --offload g,os=%s",
                            wish->offload, pp_tier_rows[state->home[PP_STATE_GRADS]].name);
    if (wish->weight_grad_stream == 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s: gradients leave the device in the order of one compute stream; "
                            "leave it out, or keep g on the device",
                            wish->given.weight_grad_stream.typed);
    return PP_OK;
}

/* Buckets come and go inside of U, whose stream reaches no file. */
static enum pp_status check_device(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config,
                                   const struct pp_state_spec *state, struct pp_error *err)
{
    if (config->kernels->is_immediate || state->is_cpu_update ||
        state->home[PP_STATE_OPTIMIZER] != PP_TIER_NVME)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--offload %s: no GPU updates optimizer state in a file yet; nearest: "
                        "--offload os=host",
                        wish->offload);
}

enum pp_status pp_exec_take_tiers(const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_build *build,
                                  struct pp_error *err)
{
    struct pp_state_spec *state = &build->state;
    const struct pp_offload_options options = {
        .homes = wish->offload,
        .bucket = wish->given.update_bucket.count ? wish->update_bucket : NULL,
        .is_cpu_update = wish->cpu_optimizer,
        .is_summed_on_device = wish->given.sum.count && wish->sum == 0,
        .is_early = wish->given.update.count && wish->update == 1};

    PP_TRY(pp_offload_take(&options, state, err));
    state->is_summed_on_device = wish->sum == 0 && pp_state_is_away(state, PP_STATE_GRADS);
    state->cached = wish->cache;
    state->evict = (enum pp_evict)wish->evict;
    state->has_grads_in_params = wish->grads_in_params;
    state->activation_bits = config->act_bits;
    PP_TRY(check_cache(wish, state, err));
    PP_TRY(check_auto(wish, state, err));
    PP_TRY(check_nvme(wish, state, err));
    PP_TRY(check_shards(wish, state, err));
    PP_TRY(check_params(wish, state, err));
    PP_TRY(check_grads(wish, state, err));
    PP_TRY(check_simulated(wish, err));
    PP_TRY(check_device(wish, config, state, err));
    PP_TRY(check_unit(wish, state, err));
    return check_idle(wish, state, err);
}

enum pp_status pp_exec_check_bits(const struct pp_exec_config *config,
                                  const struct pp_exec_plan *plan, struct pp_error *err)
{
    if (config->act_bits == 0 || !pp_program_has_kind(plan->program, PP_W))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--act-bits %d: %s goes backward by I and W apart, and what I leaves for W "
                        "is in full; nearest: --schedule 1f1b, or no --act-bits",
                        config->act_bits, plan->subject.name);
}
