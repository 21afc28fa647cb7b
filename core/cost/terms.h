/* core/cost/terms.h — bytes of values, and abilities, that follow from framework, model and device
 * together. */
#pragma once

#include "core/cost/inputs.h"

double pp_dtype_bytes(const struct pp_device *device); /* of parameters and activations */
/* The framework, "plain" where the inputs name none. */
const struct pp_framework *pp_cost_framework(const struct pp_cost_inputs *in);
/* Hidden vectors and attention scores pass dropout: models without a gated MLP, where the framework
 * trains them so. */
bool pp_cost_has_dropout(const struct pp_cost_inputs *in);
/* Fused kernels compute experts, and graphs launch whole steps. */
bool pp_cost_has_fused_experts(const struct pp_cost_inputs *in);
bool pp_cost_is_fp16(const struct pp_cost_inputs *in);

/* State bytes per parameter, for mixed precision with Adam as the framework keeps it. `plain` has 2
 * + 2 + 12 (Rajbhandari et al. 2020, section 3.1), fp32 training 4 + 4 + 8. */
struct pp_class_bytes {
    double params, grads, optimizer;
};
struct pp_class_bytes pp_cost_state_bytes(const struct pp_cost_inputs *in);
/* Bytes of a gathered parameter and of a summed gradient. */
struct pp_value_bytes {
    double params, grads;
};
struct pp_value_bytes pp_cost_value_bytes(const struct pp_cost_inputs *in);
