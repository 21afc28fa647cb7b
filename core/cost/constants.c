/* The table of fitted constants. */
#include "core/cost/constants.h"

#include <stddef.h>
#include <string.h>

#define DEVICE(field)                                                                              \
    .name = #field, .home = PP_HOME_DEVICE, .offset = offsetof(struct pp_device, field)

#define CLUSTER(field)                                                                             \
    .name = #field, .home = PP_HOME_CLUSTER, .offset = offsetof(struct pp_cluster, field)

#define FRAMEWORK(field)                                                                           \
    .name = #field, .home = PP_HOME_FRAMEWORK, .offset = offsetof(struct pp_framework, field)

/* clang-format off */
const struct pp_constant pp_constants[] = {
    {DEVICE(gemm_eta), .part = PP_PART_COMPUTE, .typical = 0.75, .least = 0.2, .most = 1, .spread = 0.15},
    {DEVICE(memory_eta), .part = PP_PART_COMPUTE, .typical = 0.8, .least = 0.3, .most = 1, .spread = 0.1},
    {DEVICE(attention_eta), .part = PP_PART_COMPUTE, .typical = 0.5, .least = 0.1, .most = 1, .spread = 0.2},
    {DEVICE(launch_s), .part = PP_PART_HOST, .typical = 3e-6, .least = 0.5e-6, .most = 100e-6, .spread = 0.25},
    /* eager PyTorch launches some 20,000 kernels a second */
    {FRAMEWORK(kernel_gap_s), .part = PP_PART_HOST, .typical = 50e-6, .least = 1e-6, .most = 200e-6, .spread = 0.05},
    {FRAMEWORK(op_gap_s), .part = PP_PART_HOST, .typical = 0.3e-3, .least = 1e-6, .most = 10e-3, .spread = 0.25},
    {FRAMEWORK(step_gap_s), .part = PP_PART_STEP, .typical = 5e-3, .least = 0.1e-3, .most = 1, .spread = 1},
    {FRAMEWORK(host_frac), .part = PP_PART_HOST, .typical = 0.2, .least = 0.02, .most = 1, .spread = 0.1},
    {CLUSTER(eta_link), .part = PP_PART_LINK, .typical = 0.8, .least = 0.1, .most = 1, .spread = 0.2, .is_given = true},
    {.name = NULL},
};
/* clang-format on */
const char *const pp_constant_parts[PP_CONSTANT_PARTS] = {"compute", "host", "step", "links"};

const char *pp_constant_owner(const struct pp_constant *constant, const struct pp_cluster *cluster,
                              const struct pp_framework *framework)
{
    const bool is_framework = constant->home == PP_HOME_FRAMEWORK;

    if (is_framework && framework->kernel_gap_s == 0) /* no host between kernels */
        return NULL;
    return is_framework ? framework->name : cluster->device.generation;
}

static void *base_of(const struct pp_constant *constant, const struct pp_cluster *cluster,
                     const struct pp_framework *framework)
{
    const void *bases[] = {[PP_HOME_DEVICE] = &cluster->device,
                           [PP_HOME_FRAMEWORK] = framework,
                           [PP_HOME_CLUSTER] = cluster};

    return (char *)bases[constant->home] + constant->offset;
}

double pp_constant_get(const struct pp_constant *constant, const struct pp_cluster *cluster,
                       const struct pp_framework *framework)
{
    double value;

    memcpy(&value, base_of(constant, cluster, framework), sizeof value);
    return value;
}

void pp_constant_set(const struct pp_constant *constant, struct pp_cluster *cluster,
                     struct pp_framework *framework, double value)
{
    memcpy(base_of(constant, cluster, framework), &value, sizeof value);
}
