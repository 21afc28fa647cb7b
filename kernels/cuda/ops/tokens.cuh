/* kernels/cuda/ops/tokens.cuh — ids and targets, fetched once from host to device memory. */
#pragma once

#include <stdint.h>

/* to [batch][tokens], on the device, = columns first .. of ids [batch][stride]. */
void pp_cuda_fetch_tokens(void *stream, int batch, int tokens, int first, int stride,
                          const int32_t *ids, int32_t *to);

/* order [count] = the tokens by their ids, equal ids in the order of tokens. `place` [count] is
 * scratch. Every pair of tokens is compared: 16,384 tokens take 2^28 comparisons. */
void pp_cuda_order_tokens(void *stream, int count, const int32_t *ids, int *place, int *order);
