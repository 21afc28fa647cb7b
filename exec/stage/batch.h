/* exec/stage/batch.h — division of a step's samples. */
#pragma once

#include "exec/net/net.h"

/* Sample i of micro-batch m of replica r is sample (r * micro_batches + m) * mbs + i of a step. */
struct pp_batch {
    int replicas, micro_batches, mbs, granules, splits;
    int sharers; /* copies of a stage that share its state; 0: all of them */
};
static inline int pp_batch_samples(const struct pp_batch *b)
{
    return b->replicas * b->micro_batches * b->mbs;
}
/* Targets of a step that count in its loss. */
static inline int64_t pp_targets_of_step(const struct pp_batch *b, const struct pp_net *net)
{
    return (int64_t)pp_batch_samples(b) * pp_net_targets(net);
}
