/* core/cost/terms.h — bytes of values, and abilities, by framework, model and device. */
#pragma once

#include "core/cost/inputs.h"

double pp_dtype_bytes(const struct pp_device *device); /* of parameters and activations */
/* Returns the bytes of a parameter in memory: of a run that generates, in its weight bits. In fewer
 * than 8 bits, groups of values share a scale and a minimum. */
double pp_cost_weight_bytes(const struct pp_cost_inputs *in);
/* Returns the framework; "plain" if the inputs name none. */
const struct pp_framework *pp_cost_framework(const struct pp_cost_inputs *in);
/* Is true if hidden vectors and attention scores pass dropout: in models without a gated MLP, if
 * the framework trains them so. */
bool pp_cost_has_dropout(const struct pp_cost_inputs *in);
/* Is true if fused kernels compute experts, and graphs launch whole steps. */
bool pp_cost_has_fused_experts(const struct pp_cost_inputs *in);
/* Is true if graphs launch the kernels of layers: the host needs no time for them. */
bool pp_cost_has_graph(const struct pp_cost_inputs *in);
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
