/* exec/stage/batch.h — how the samples of a step are cut. */
#pragma once

/* Sample i of micro-batch m of replica r is sample
 * (r * micro_batches + m) * mbs + i of the step. */
struct pp_batch {
    int replicas, micro_batches, mbs, granules, splits;
};
static inline int pp_batch_samples(const struct pp_batch *b)
{
    return b->replicas * b->micro_batches * b->mbs;
}
