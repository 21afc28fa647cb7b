#include "core/state.h"

const char *const pp_state_class_names[PP_STATE_CLASSES] = {"p", "g", "os", "a"};
const char *const pp_tier_names[PP_TIERS] = {"device", "host", "nvme"};
const char *const pp_gather_names[] = {"layer", "chunk", NULL};

struct pp_state_spec pp_state_spec_zero(int zero, struct pp_mesh replicas)
{
    const struct pp_mesh whole = {1, 1};

    return (struct pp_state_spec){
        .shard = {[PP_STATE_PARAMS] = zero >= 3 ? replicas : whole,
                  [PP_STATE_GRADS] = zero >= 2 ? replicas : whole,
                  [PP_STATE_OPTIMIZER] = zero >= 1 ? replicas : whole},
        .buffers = 2,
    };
}
