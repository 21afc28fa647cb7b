/* kernels/cuda/ops/tokens.cuh — ids and targets lie in memory of the host. They are fetched once,
 * side by side, so that what reads them again and again reads the device's. */
#pragma once

#include <stdint.h>

/* to [batch][tokens], on the device, = columns first .. first + tokens - 1 of ids [batch][stride].
 */
void pp_cuda_fetch_tokens(void *stream, int batch, int tokens, int first, int stride,
                          const int32_t *ids, int32_t *to);

/* order [count] = the tokens by their ids, those of the same id as they come. `place` [count] is
 * scratch. Every pair of tokens is compared: 16,384 of them are 2^28 comparisons. */
void pp_cuda_order_tokens(void *stream, int count, const int32_t *ids, int *place, int *order);
