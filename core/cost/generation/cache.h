/* core/cost/generation/cache.h — bytes of the cache of keys and values of a run that generates. */
#pragma once

#include "core/cost/inputs.h"

/* Returns the bytes that one token of one sequence adds to the caches of all layers, on all devices
 * of a replica together. Kinds of attention:
 *   plain    2 kv_heads head_dim values a layer
 *   latent   kv_rank + rope_dim values a layer, the same for all heads
 *   encoder  none
 * Windows do not count: they limit the tokens. kv_bits 0 stands for 16. */
double pp_kv_bytes_per_token(const struct pp_model *model, const struct pp_generation *generation);

/* Returns the tokens of a sequence for which a cache has room once a pass has begun. A cache in
 * pages has room for whole pages. A contiguous one has room for all passes at once. A block with a
 * window keeps its near keys only; `window` 0 = all keys. */
int pp_kv_tokens(const struct pp_generation *generation, int pass, int window);

/* Returns the bytes of the caches of a model stage on one device, of `sequences` sequences, once a
 * pass has begun. */
double pp_kv_stage_bytes(const struct pp_cost_inputs *in, int stage, int pass, double sequences);
/* Returns the bytes of a token in the cache of one block on one device. */
double pp_kv_block_bytes(const struct pp_cost_inputs *in);
/* Returns the bytes of all sequences of a replica at the end of the run, on all its devices. */
double pp_kv_replica_bytes(const struct pp_cost_inputs *in);
