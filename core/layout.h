/* core/layout.h — how the devices are divided, and the batch. A value, copied freely.
 * gpus = tp * cp * pp * dp; ep divides dp * cp; gbs = dp * mbs * micro_batches. */
#ifndef PP_CORE_LAYOUT_H
#define PP_CORE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct pp_layout {
    int gpus;
    int tp, pp, dp, cp, ep; /* degrees, >= 1 */
    int vp;                 /* chunks per pipeline rank and pipeline */
    int micro_batches;      /* N of one data-parallel replica, over all its pipelines together */
    int mbs;                /* samples per micro-batch */
    int64_t gbs;            /* samples per step over all replicas */
    int seq;                /* tokens per sample */
};

#endif
