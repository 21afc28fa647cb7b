/* core/cost/constants.h — the constants fitted on published measurements: their places, and their
 * values before any measurement. Everything else in the rows of devices, clusters and frameworks
 * comes from data sheets or from the source of a library.
 *
 * A constant belongs to an owner: the generation of a device, or a framework. All A100 and A800
 * share "ampere", so a device without measurements is predicted from its siblings. docs/costs.md,
 * "Constants". */
#pragma once

#include "core/cluster/cluster.h"
#include "core/cost/framework.h"

enum pp_constant_home { PP_HOME_DEVICE, PP_HOME_FRAMEWORK, PP_HOME_CLUSTER };

/* Parts of a step. A few measured steps tell them apart, but not the constants of one part. */
enum pp_constant_part {
    PP_PART_COMPUTE,
    PP_PART_HOST, /* gaps between kernels and ops */
    PP_PART_STEP, /* once a step */
    PP_PART_LINK,
    PP_CONSTANT_PARTS
};
extern const char *const pp_constant_parts[PP_CONSTANT_PARTS];

struct pp_constant {
    const char *name; /* name of the field: "gemm_eta" */
    enum pp_constant_home home;
    enum pp_constant_part part;
    size_t offset;      /* of a double in struct pp_device, pp_framework or pp_cluster */
    double typical;     /* value before any measurement */
    double least, most; /* physical bounds, which the solver keeps */
    double spread;      /* of the logarithm: owners differ from each other by about this factor */
    bool is_given;      /* published runs do not determine it; only a user's own steps change it */
};
extern const struct pp_constant pp_constants[]; /* terminated by name NULL */

/* Returns the owner of the constant for runs on this cluster with this framework. That is "ampere",
 * a generation of devices, also for links, or "megatron", a framework. NULL for frameworks without
 * a host, which have no constants. */
const char *pp_constant_owner(const struct pp_constant *constant, const struct pp_cluster *cluster,
                              const struct pp_framework *framework);
double pp_constant_get(const struct pp_constant *constant, const struct pp_cluster *cluster,
                       const struct pp_framework *framework);
void pp_constant_set(const struct pp_constant *constant, struct pp_cluster *cluster,
                     struct pp_framework *framework, double value);
