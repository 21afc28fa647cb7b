/* How experts are spread: --ep, --etp, and what the tool chooses. */
#include "sim/resolve/resolve.h"

/* Options that mean something for experts alone; the neutral value is fine without. */
static const struct {
    const char *option;
    double neutral;
} about_experts[] = {
    {"ep", 1}, {"etp", 0}, {"ep-overlap", 0}, {"capacity-factor", 1}, {"ep-dispatch", 0}};

static double value_of(const struct pp_option_value *value)
{
    return value->number != 0 ? value->number : (double)value->integer;
}

static enum pp_status refuse_dense(const struct pp_request *request, const struct pp_config *config,
                                   struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    for (size_t i = 0; i < sizeof about_experts / sizeof *about_experts; i++) {
        const char *option = about_experts[i].option;
        const struct pp_option_value *value = pp_request_get(request, option, NULL);
        if (!value || value_of(value) == about_experts[i].neutral)
            continue;
        pp_error_set(err, PP_EINVAL, "%s: %s has no experts",
                     pp_request_typed(request, option, typed), config->model.name);
        return i == 0 ? pp_error_append(err, "; a dense model has --ep 1") : PP_EINVAL;
    }
    return PP_OK;
}

enum pp_status pp_resolve_exchanges(const struct pp_request *request, struct pp_config *config,
                                    struct pp_error *err)
{
    enum { MAX_CAPACITY = 16 };
    const struct pp_option_value *overlap = pp_request_get(request, "ep-overlap", NULL);
    const struct pp_option_value *dispatch = pp_request_get(request, "ep-dispatch", NULL);
    const struct pp_option_value *capacity = pp_request_get(request, "capacity-factor", NULL);
    char typed[PP_REQUEST_TYPED_BYTES];

    if (config->model.experts.count == 0)
        return refuse_dense(request, config, err);
    config->costs.ep_overlap_frac = overlap ? overlap->number : 0;
    config->costs.is_sent_once = dispatch && dispatch->integer == 1;
    config->costs.capacity_factor = capacity ? capacity->number : 1;
    if (config->costs.ep_overlap_frac > 1)
        return pp_error_set(err, PP_EINVAL, "%s: expected at most 1 (100 %%)",
                            pp_request_typed(request, "ep-overlap", typed));
    if (config->costs.capacity_factor <= 0 || config->costs.capacity_factor > MAX_CAPACITY)
        return pp_error_set(err, PP_EINVAL, "%s: expected more than 0, at most %d",
                            pp_request_typed(request, "capacity-factor", typed), MAX_CAPACITY);
    return PP_OK;
}

/* Experts are spread over the devices of a pipeline rank's replicas, and each holds as many. */
static bool is_legal(const struct pp_config *config, int64_t devices, int ep)
{
    return devices % ep == 0 && config->model.experts.count % ep == 0;
}

/* --etp; else tp, or the largest divisor of it that leaves enough devices for ep. */
static int expert_tp(const struct pp_request *request, const struct pp_config *config, int tp,
                     int64_t replicas, int ep)
{
    if (pp_request_has(request, "etp"))
        return pp_request_int(request, "etp", tp);
    for (int etp = tp; etp >= 1; etp--)
        if (tp % etp == 0 && is_legal(config, tp / etp * replicas, ep))
            return etp;
    return tp;
}

static enum pp_status ep_error(const struct pp_request *request, const struct pp_config *config,
                               int64_t devices, struct pp_error *err)
{
    const struct pp_layout *l = &config->layout;
    const int count = config->model.experts.count;
    char typed[PP_REQUEST_TYPED_BYTES];
    int below = l->ep < count ? l->ep : count, above = l->ep + 1;

    while (below > 1 && !is_legal(config, devices, below))
        below--;
    while (above <= count && !is_legal(config, devices, above))
        above++;
    pp_error_set(err, PP_EINVAL,
                 "%s must divide the %d experts of %s and tp / etp * cp * dp = %lld; nearest: --ep "
                 "%d",
                 pp_request_typed(request, "ep", typed), count, config->model.name,
                 (long long)devices, below);
    return above <= count ? pp_error_append(err, " or %d", above) : PP_EINVAL;
}

enum pp_status pp_resolve_experts(const struct pp_request *request, struct pp_config *config,
                                  struct pp_error *err)
{
    struct pp_layout *l = &config->layout;
    char typed[PP_REQUEST_TYPED_BYTES];

    l->etp = 0;
    if (config->model.experts.count == 0)
        return PP_OK;
    l->etp = expert_tp(request, config, l->tp, (int64_t)l->cp * l->dp, l->ep);
    if (l->tp % pp_layout_etp(l))
        return pp_error_set(err, PP_EINVAL, "%s does not divide tp %d",
                            pp_request_typed(request, "etp", typed), l->tp);
    const int64_t devices = (int64_t)l->tp / pp_layout_etp(l) * l->cp * l->dp;
    return is_legal(config, devices, l->ep) ? PP_OK : ep_error(request, config, devices, err);
}

int pp_resolve_expert_degrees(const struct pp_request *request, const struct pp_config *config,
                              const struct pp_degrees *degrees, int ep[PP_EXPERT_DEGREES])
{
    const int given = pp_request_int(request, "ep", 0), experts = config->model.experts.count;
    const int etp = pp_request_int(request, "etp", degrees->tp),
              node = config->cluster.gpus_per_node;
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
