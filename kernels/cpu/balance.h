/* kernels/cpu/balance.h — the loss of balance of experts, for all element types: see
 * kernels/kernels.h. */
#pragma once

#include "kernels/kernels.h"

void pp_balance_sums(void *stream, const struct pp_balance *b);
void pp_balance_grad(void *stream, const struct pp_balance *b, void *grad);
void pp_balance_add(void *stream, const struct pp_balance *b, const void *grad, void *x);
void pp_balance_loss(void *stream, const struct pp_balance *b, int64_t count, double *loss);
