/* exec/stage/batch.h — division of a step's samples. */
#pragma once

/* Sample i of micro-batch m of replica r is sample (r * micro_batches + m) * mbs + i of a step. */
struct pp_batch {
    int replicas, micro_batches, mbs, granules, splits;
};
static inline int pp_batch_samples(const struct pp_batch *b)
{
    return b->replicas * b->micro_batches * b->mbs;
}
