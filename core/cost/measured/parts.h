/* core/cost/measured/parts.h — private to core/cost/measured: functions that its files share. */
#pragma once

#include "core/cost/measured/file.h"

/* sums.c: PP_EINVAL if the run sends messages or sums gradients without a measured channel. */
enum pp_status pp_measured_check_channels(const struct pp_cost_file *file,
                                          const struct pp_cost_inputs *in,
                                          const struct pp_costs *costs, struct pp_error *err);
/* Replace collectives, and messages, by those of the measured channels. */
void pp_measured_put_sums(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                          struct pp_costs *costs);
void pp_measured_put_wires(struct pp_arena *arena, const struct pp_cost_file *file,
                           const struct pp_cost_inputs *in, struct pp_costs *costs);
