/* Whether the memory of each rank is within its caps. */
#include "exec/fit/parts.h"

static const double MIB = 1024.0 * 1024.0;

/* ---- what does not fit ----------------------------------------------------------------------- */

static void tell_device(const struct pp_rank_layout *l, struct pp_error *err)
{
    pp_error_append(err,
                    "\n  in MiB: weights %.1f, gradients %.1f, optimizer %.1f, activations %.1f, "
                    "buffers %.1f, other %.1f",
                    (double)l->params_bytes / MIB, (double)l->grads_bytes / MIB,
                    (double)l->optimizer_bytes / MIB, (double)l->activations_bytes / MIB,
                    (double)l->buffers_bytes / MIB, (double)l->other_bytes / MIB);
}

static void tell_host(const struct pp_rank_layout *l, struct pp_error *err)
{
    const size_t *bytes = l->away_bytes[PP_TIER_HOST];

    pp_error_append(err,
                    "\n  in MiB: weights %.1f, gradients %.1f, optimizer %.1f, activations %.1f, "
                    "buffers and checksums of its file %.1f",
                    (double)bytes[PP_STATE_PARAMS] / MIB, (double)bytes[PP_STATE_GRADS] / MIB,
                    (double)bytes[PP_STATE_OPTIMIZER] / MIB,
                    (double)bytes[PP_STATE_ACTIVATIONS] / MIB,
                    (double)pp_tier_file_memory_bytes(l->tier_bytes[PP_TIER_NVME]) / MIB);
}

static enum pp_status refuse(const struct pp_exec_wish *wish, const struct pp_fit_needs *needs,
                             const size_t most_bytes[PP_TIERS], enum pp_tier tier,
                             struct pp_error *err)
{
    static void (*const TELL[])(const struct pp_rank_layout *l, struct pp_error *err) = {
        [PP_TIER_DEVICE] = tell_device, [PP_TIER_HOST] = tell_host};
    static const char *const PLACES[] = {
        [PP_TIER_DEVICE] = "on its device", [PP_TIER_HOST] = "of host memory"};
    const struct pp_given *const caps[] = {
        [PP_TIER_DEVICE] = &wish->given.device_memory, [PP_TIER_HOST] = &wish->given.host_memory};
    const int rank = needs->rank[tier];
    const double most_mib = (double)most_bytes[tier] / MIB;
    const double needs_mib = (double)needs->bytes[tier] / MIB;
    const bool is_near = needs_mib - most_mib < 0.1; /* both would read alike */

    pp_error_set(err, PP_EFIT, "rank %d needs ", rank);
    if (is_near)
        pp_error_append(err, "%zu bytes", needs->bytes[tier]);
    else
        pp_error_append(err, "%.1f MiB", needs_mib);
    pp_error_append(err, " %s, and %s allows ", PLACES[tier], caps[tier]->typed);
    if (is_near || most_mib < 0.1) /* the latter is a cap without its unit */
        pp_error_append(err, "%zu byte%s", most_bytes[tier], most_bytes[tier] == 1 ? "" : "s");
    else
        pp_error_append(err, "%.1f MiB", most_mib);
    TELL[tier](&needs->layout[rank], err);
    return PP_EFIT;
}

static enum pp_status check(struct pp_arena *arena, const struct pp_exec_wish *wish,
                            const struct pp_exec_config *config, const struct pp_exec_plan *plan,
                            enum pp_tier *tier, struct pp_error *err)
{
    const struct pp_fit_needs needs = pp_fit_needs_of(arena, config, plan);

    *tier = pp_fit_beyond(&needs, config->tiers.most_bytes);
    return *tier == PP_TIERS ? PP_OK : refuse(wish, &needs, config->tiers.most_bytes, *tier, err);
}

enum pp_status pp_exec_fit(struct pp_arena *arena, const struct pp_exec_wish *wish,
                           const struct pp_exec_run *run, struct pp_error *err)
{
    const size_t *most_bytes = run->config.tiers.most_bytes;
    enum pp_tier tier;

    if (most_bytes[PP_TIER_DEVICE] == 0 && most_bytes[PP_TIER_HOST] == 0)
        return PP_OK;
    if (check(arena, wish, &run->config, &run->plan, &tier, err) != PP_OK) {
        pp_exec_advise(wish, run, tier, err);
        return PP_EFIT;
    }
    if (run->other.program && check(arena, wish, &run->measured, &run->other, &tier, err) != PP_OK)
        return pp_error_prefix(err, "--calibrate-on %s: ", wish->calibrate_on);
    return PP_OK;
}
