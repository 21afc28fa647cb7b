/* core/cluster/layout.h — division of the devices, and the batch. A value, copied freely.
 * gpus = tp * cp * pp * dp; ep times etp divides tp * cp * dp; gbs = dp * mbs * micro_batches. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pp_layout {
    int gpus;
    int tp, pp, dp, cp, ep; /* degrees, >= 1 */
    int etp;                /* tensor-parallel degree of experts, divides tp; 0 = tp */
    int vp;                 /* chunks per pipeline rank and pipeline */
    int micro_batches;      /* N of one data-parallel replica, over all its pipelines together */
    int mbs;                /* samples per micro-batch */
    int64_t gbs;            /* samples per step over all replicas */
    int seq;                /* tokens per sample */
};

static inline int pp_layout_etp(const struct pp_layout *layout)
{
    return layout->etp > 0 ? layout->etp : layout->tp;
}
/* Returns the number of devices that together hold the experts of a pipeline rank once. */
static inline int pp_layout_expert_devices(const struct pp_layout *layout)
{
    return layout->ep * pp_layout_etp(layout);
}
