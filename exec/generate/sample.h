/* exec/generate/sample.h — the choice of the next token from its logits. */
#pragma once

#include "core/error.h"

#include <stdatomic.h>
#include <stdint.h>

struct pp_sampler {
    double top_p;       /* share of the probabilities that is drawn from; 0 = greedy */
    double temperature; /* above 0: logits are divided by it */
    uint64_t seed;
    /* 1 + sequence in the upper half, position in the lower one: the first token found whose logits
     * are no numbers. 0 = none. */
    _Atomic uint64_t fault;
};

/* Reads "greedy" or "top-p=P". PP_EINVAL for others, and for P that is not above 0 and at most 1.
 */
enum pp_status pp_sampler_read(const char *how, struct pp_sampler *sampler, struct pp_error *err);

/* Chooses a token of `sequence` at `position`. Greedy: the largest logit, the first of several.
 * Else one is drawn from the fewest most probable tokens that have the share `top_p` together; of
 * equal tokens, the first counts as more probable. The draw depends on seed, sequence and position
 * alone. Logits that are not finite, but for minus infinity, are a fault: then -1. */
int32_t pp_sampler_choose(void *sampler, int sequence, int position, const double *logits,
                          int words);

/* PP_EFAIL, with sequence and position, if there was a fault. */
enum pp_status pp_sampler_check(const struct pp_sampler *sampler, struct pp_error *err);
