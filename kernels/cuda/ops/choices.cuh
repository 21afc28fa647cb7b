/* kernels/cuda/ops/choices.cuh — choices of experts, put in the order of rows. */
#pragma once

#include "kernels/kernels.h"

/* Fills row, from, begin and so_far from `expert`. */
void pp_cuda_order_choices(void *stream, const struct pp_routing *r);
