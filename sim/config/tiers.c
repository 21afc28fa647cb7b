/* Homes of state and activations on other memory tiers: options, room, reports. */
#include "sim/config/tiers.h"

#include "core/units.h"
#include "schedules/select/offload.h"
#include "sim/cli/wish.h"
#include "sim/config/copies.h"

#include "sim/config/auto_share.h"

#include "sim/config/usable.h"

#include <math.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

static enum pp_status check_tier(const struct pp_cluster *cluster, const char *option,
                                 enum pp_tier tier, struct pp_error *err)
{
    const enum pp_tier lacking = pp_tier_lacking(cluster->tiers, tier);
    const struct pp_tier_row *row = &pp_tier_rows[lacking];

    return lacking == PP_TIER_DEVICE || !row->lack
               ? PP_OK
               : pp_error_set(err, PP_EINVAL, "%s: %scluster %s %s", option, row->owner,
                              cluster->name, row->lack);
}

static enum pp_status check_cluster(const struct pp_cluster *cluster, const char *homes,
                                    const struct pp_state_spec *state, struct pp_error *err)
{
    for (int c = 0; c < PP_STATE_CLASSES; c++)
        if (pp_state_is_away(state, (enum pp_state_class)c) &&
            check_tier(cluster, homes, state->home[c], err) != PP_OK)
            return pp_error_prefix(err, "--offload ");
    if (state->is_cpu_update && !(cluster->update_params_per_s > 0))
        return pp_error_set(err, PP_EINVAL,
                            "--cpu-optimizer: cluster %s has no processors for updates: add "
                            "cpu:5e9 (parameters that a node updates in a second) to its text",
                            cluster->name);
    return PP_OK;
}

enum pp_status pp_tiers_resolve(const struct pp_wish *wish, const struct pp_cluster *cluster,
                                struct pp_state_spec *state, struct pp_error *err)
{
    const char *homes = wish->offload;
    const struct pp_offload_options options = {
        .homes = homes,
        .bucket = wish->given.update_bucket.count ? wish->update_bucket : NULL,
        .is_cpu_update = wish->cpu_optimizer,
        .is_summed_on_device = wish->given.sum.count && wish->sum == 1,
        .is_early = wish->given.update.count && wish->update == 1,
        .scope = {.generates = pp_wish_generates(wish), .has_peers = true}};

    PP_TRY(pp_offload_take(&options, state, err));
    if (!cluster && pp_auto_share_last(state) > 0)
        return pp_error_set(err, PP_EINVAL,
                            "--offload %s: auto finds a share by the memory of a run, which a "
                            "program alone does not have; give a share, such as 40%%",
                            homes);
    state->is_offloaded_by_layer = wish->given.offload_unit.count && wish->offload_unit == 1;
    if (state->is_offloaded_by_layer && !pp_state_is_away(state, PP_STATE_ACTIVATIONS))
        return pp_error_set(err, PP_EINVAL,
                            "--offload-unit layer has no effect: saved activations stay on the "
                            "device; nearest: --offload a=host --offload-unit layer");
    state->has_grads_in_params = wish->grads_in_params;
    state->activation_bits = wish->given.act_bits.count ? 2 << wish->act_bits : 0;
    return cluster ? check_cluster(cluster, homes, state, err) : PP_OK;
}

/* ---- room ------------------------------------------------------------------------------------ */

bool pp_tiers_are_used(const struct pp_result *r)
{
    return !r->config.is_unit && pp_state_is_offloaded(&r->config.state);
}

double pp_tiers_bytes(const struct pp_result *r, enum pp_tier tier)
{
    double most = 0;

    for (int rank = 0; rank < r->program->ranks; rank++)
        most = fmax(most, r->memory[rank].away_bytes[tier]);
    return most;
}

double pp_tiers_room_bytes(const struct pp_result *r, enum pp_tier tier)
{
    const struct pp_cluster *c = &r->config.cluster;
    const double devices = fmin(c->gpus_per_node, r->config.layout.gpus);

    return c->tiers[tier].bytes * pp_state_usable(&r->config.state, tier) /
           pp_tier_sharers(tier, devices);
}

enum pp_tier pp_tiers_full(const struct pp_result *r)
{
    for (int tier = PP_TIER_HOST; tier < PP_TIERS && pp_tiers_are_used(r); tier++)
        if (pp_tiers_bytes(r, (enum pp_tier)tier) > pp_tiers_room_bytes(r, (enum pp_tier)tier))
            return (enum pp_tier)tier;
    return PP_TIER_DEVICE;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *pp_tiers_text(struct pp_arena *arena, const struct pp_result *r)
{
    char usable[PP_USABLE_TEXT_BYTES];
    const char *text = "";

    for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++) {
        const double bytes = pp_tiers_bytes(r, (enum pp_tier)tier);
        if (bytes > 0)
            text = pp_arena_printf(arena, "%s%s%s %.1f of %.1f GiB a device%s", text,
                                   *text ? ", " : "", pp_tier_rows[tier].name, bytes / PP_GIB,
                                   pp_tiers_room_bytes(r, (enum pp_tier)tier) / PP_GIB,
                                   pp_usable_text(&r->config.state, (enum pp_tier)tier, usable));
    }
    const char *found = pp_auto_share_text(arena, &r->config);
    return *found ? pp_arena_printf(arena, "%s%s%s", text, *text ? "; " : "", found) : text;
}

double pp_tiers_copied_bytes(const struct pp_result *r, int rank, int stream)
{
    struct pp_copied by_class[PP_STATE_CLASSES];
    double bytes = 0;

    if (!pp_tiers_are_used(r))
        return 0;
    pp_copied_of_rank(r->program, r->costs, rank, by_class);
    for (int c = 0; c < PP_STATE_CLASSES; c++)
        bytes += stream == PP_COPY_UP ? by_class[c].up_bytes : by_class[c].down_bytes;
    return bytes;
}

void pp_tiers_explain(const struct pp_result *r, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    const char *text = pp_tiers_text(arena, r), *why = pp_auto_share_why(arena, &r->config);
    if (!*text)
        return;
    fprintf(out, "\nmemory tiers\n  %s\n", text);
    if (*why)
        fprintf(out, "  auto: %s\n", why);
    fprintf(out, "  copied %s by a device, down | up, GiB, rank by rank:",
            r->config.generation.passes ? "in all" : "a step");
    for (int rank = 0; rank < r->program->ranks; rank++) {
        if (rank == 8 && r->program->ranks > 9) {
            fputs(" ...", out);
            break;
        }
        fprintf(out, "%s %.3f | %.3f", rank ? "," : "", pp_tiers_copied_bytes(r, rank, 0) / PP_GIB,
                pp_tiers_copied_bytes(r, rank, 1) / PP_GIB);
    }
    fputc('\n', out);
}
