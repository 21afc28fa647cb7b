/* exec/data/order.h — which tokens a sample has, by its number alone. Without state, a resumed
 * training continues at the right sample, on any layout. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* In the order of the choices of --shuffle. */
enum pp_sample_order_kind {
    PP_ORDER_DRAWN,    /* each sample begins at a random position, whatever was read before */
    PP_ORDER_SHUFFLED, /* all samples of the data once an epoch, in a random order of that epoch */
    PP_ORDER_IN_TURN,  /* all samples once an epoch, as they lie */
};

struct pp_sample_order {
    enum pp_sample_order_kind kind;
    uint64_t seed;
    int64_t step_samples; /* of all replicas in a step; DRAWN: unused */
};

/* Number of samples that an epoch of `tokens` has: the last token is only a target. */
int64_t pp_order_samples(size_t tokens, int seq);
/* Returns the first token of sample `index` of step `step`; there is room for it and a target.
 * `tokens` is more than seq. */
size_t pp_order_first(const struct pp_sample_order *order, size_t tokens, int seq, int64_t step,
                      int64_t index);
/* Returns the image of `x` < `size` in a permutation of 0 to size - 1, one for each key. */
uint64_t pp_order_permute(uint64_t key, uint64_t size, uint64_t x);
