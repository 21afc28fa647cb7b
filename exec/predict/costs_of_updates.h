/* exec/predict/costs_of_updates.h — costs of updates of state on other tiers: private. */
#pragma once

#include "exec/predict/predict.h"

/* Time of bytes from or to a tier. */
struct pp_cost pp_exec_copy_cost(const struct pp_exec_wires *wires, enum pp_tier tier,
                                 double bytes);
/* Adds copies around updates; `cuts`: [stage]. */
void pp_exec_update_costs(struct pp_arena *arena, const struct pp_program *program,
                          const struct pp_stage *const *stages, const struct pp_kernels *kernels,
                          const struct pp_exec_wires *wires, const struct pp_cuts *cuts,
                          bool is_exact, struct pp_costs *costs);
