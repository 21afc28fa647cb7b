/* Distribution of experts: --ep, --etp, and the tool's choices. */
#include "sim/resolve/resolve.h"

/* Refuses options of experts for a dense model, unless their values are neutral. */
static enum pp_status refuse_dense(const struct pp_wish *wish, const struct pp_config *config,
                                   struct pp_error *err)
{
    const struct pp_given *refused = wish->ep != 1                ? &wish->given.ep
                                     : wish->etp                  ? &wish->given.etp
                                     : wish->ep_overlap != 0      ? &wish->given.ep_overlap
                                     : wish->ep_share != 0        ? &wish->given.ep_share
                                     : wish->capacity_factor != 1 ? &wish->given.capacity_factor
                                     : wish->ep_dispatch          ? &wish->given.ep_dispatch
                                                                  : NULL;

    if (!refused)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "%s: %s has no experts", refused->typed, config->model.name);
    return wish->ep != 1 ? pp_error_append(err, "; a dense model has --ep 1") : PP_EINVAL;
}

enum pp_status pp_resolve_exchanges(const struct pp_wish *wish, struct pp_config *config,
                                    struct pp_error *err)
{
    enum { MAX_CAPACITY = 16 };

    if (config->model.experts.count == 0)
        return refuse_dense(wish, config, err);
    config->costs.ep_overlap_frac = wish->ep_overlap;
    config->costs.ep_share_frac = wish->ep_share;
    config->costs.is_sent_once = wish->ep_dispatch == 1;
    config->costs.capacity_factor = wish->capacity_factor;
    if (config->costs.ep_overlap_frac > 1)
        return pp_error_set(err, PP_EINVAL, "%s: expected at most 1 (100 %%)",
                            wish->given.ep_overlap.typed);
    if (config->costs.ep_share_frac >= 1)
        return pp_error_set(err, PP_EINVAL, "%s: expected less than 1 (100 %%)",
                            wish->given.ep_share.typed);
    if (config->costs.capacity_factor <= 0 || config->costs.capacity_factor > MAX_CAPACITY)
        return pp_error_set(err, PP_EINVAL, "%s: expected more than 0, at most %d",
                            wish->given.capacity_factor.typed, MAX_CAPACITY);
    return PP_OK;
}

/* Is true if `ep` devices of a pipeline rank's replicas hold equal numbers of experts. */
static bool is_legal(const struct pp_config *config, int64_t devices, int ep)
{
    return devices % ep == 0 && config->model.experts.count % ep == 0;
}

/* --etp; else tp, or its largest divisor that the software has and that leaves enough devices for
 * ep. */
static int expert_tp(const struct pp_wish *wish, const struct pp_config *config, int tp,
                     int64_t replicas, int ep)
{
    if (wish->etp)
        return wish->etp;
    for (int etp = tp; etp >= 1; etp--)
        if (tp % etp == 0 && pp_tool_has_etp(config->tool, tp, etp) &&
            is_legal(config, tp / etp * replicas, ep))
            return etp;
    return tp;
}

static enum pp_status ep_error(const struct pp_wish *wish, const struct pp_config *config,
                               int64_t devices, struct pp_error *err)
{
    const struct pp_layout *l = &config->layout;
    const int count = config->model.experts.count;
    int below = l->ep < count ? l->ep : count, above = l->ep + 1;

    while (below > 1 && !is_legal(config, devices, below))
        below--;
    while (above <= count && !is_legal(config, devices, above))
        above++;
    pp_error_set(err, PP_EINVAL,
                 "%s must divide the %d experts of %s and tp / etp * cp * dp = %lld; nearest: --ep "
                 "%d",
                 wish->given.ep.typed, count, config->model.name, (long long)devices, below);
    return above <= count ? pp_error_append(err, " or %d", above) : PP_EINVAL;
}

enum pp_status pp_resolve_experts(const struct pp_wish *wish, struct pp_config *config,
                                  struct pp_error *err)
{
    struct pp_layout *l = &config->layout;

    l->etp = 0;
    if (config->model.experts.count == 0)
        return PP_OK;
    l->etp = expert_tp(wish, config, l->tp, (int64_t)l->cp * l->dp, l->ep);
    if (l->tp % pp_layout_etp(l))
        return pp_error_set(err, PP_EINVAL, "%s does not divide tp %d", wish->given.etp.typed,
                            l->tp);
    const int64_t devices = (int64_t)l->tp / pp_layout_etp(l) * l->cp * l->dp;
    return is_legal(config, devices, l->ep) ? PP_OK : ep_error(wish, config, devices, err);
}

int pp_resolve_expert_degrees(const struct pp_wish *wish, const struct pp_config *config,
                              const struct pp_degrees *degrees, int ep[PP_EXPERT_DEGREES])
{
    const int given = wish->given.ep.count ? wish->ep : 0, experts = config->model.experts.count;
    const int etp = wish->etp ? wish->etp : degrees->tp, node = config->cluster.gpus_per_node;
    int count = 0;

    ep[count++] = given > 0 ? given : 1;
    if (given > 0 || experts == 0 || degrees->tp % etp)
        return count;
    const int64_t devices = (int64_t)degrees->tp / etp * degrees->cp * degrees->dp;
    for (int i = 2; i <= experts && i <= devices; i++) {
        if (!is_legal(config, devices, i))
            continue;
        if (i * etp <= node)
            ep[0] = i;
        else if (i >= 2 * ep[count - 1] && count < PP_EXPERT_DEGREES)
            ep[count++] = i;
    }
    return count;
}
