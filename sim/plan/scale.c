/* A configuration on another machine: its links and devices scaled. */
#include "sim/plan/search.h"

/* Bandwidth of a class of links, by the cluster's figures and by the fabric's. */
static enum pp_status scale_links(const struct pp_fabric *fabric, const char *class, double factor,
                                  double *links, struct pp_error *err)
{
    if (factor == 0)
        return PP_OK;
    *links *= factor;
    return pp_fabric_scale((struct pp_fabric *)(uintptr_t)fabric, class, factor, err);
}

static void scale_device(const struct pp_search_scale *scale, struct pp_device *device)
{
    if (scale->memory > 0)
        device->memory_bytes *= scale->memory;
    if (scale->peak > 0)
        pp_device_scale_peak(device, scale->peak * device->peak_flops_per_s);
}

enum pp_status pp_search_rescale(const struct pp_search_scale *scale, struct pp_config *config,
                                 struct pp_error *err)
{
    PP_TRY(scale_links(config->costs.fabric, "network", scale->network, &config->costs.inter_factor,
                       err));
    PP_TRY(
        scale_links(config->costs.fabric, "node", scale->node, &config->costs.intra_factor, err));
    scale_device(scale, &config->cluster.device);
    return PP_OK;
}
