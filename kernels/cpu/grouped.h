/* kernels/cpu/grouped.h — work on the rows of each expert, for all tables of the CPU. */
#pragma once

#include "kernels/kernels.h"

void pp_grouped_gemm(const struct pp_kernels *k, void *stream, const struct pp_row_groups *groups,
                     const struct pp_gemm *g);
void pp_grouped_weight_grad(const struct pp_kernels *k, void *stream,
                            const struct pp_row_groups *groups, struct pp_group_range range,
                            const struct pp_gemm *g);
void pp_grouped_sum_rows(const struct pp_kernels *k, void *stream,
                         const struct pp_row_groups *groups, struct pp_group_range range, int width,
                         const void *dy, void *dbias, bool add);
