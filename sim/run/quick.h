/* sim/run/quick.h — the time of a step alone, for choices and sweeps. */
#pragma once

#include "sim/run/prepare.h"

/* Finds metrics.iteration_s as engine dag does, without perturbations. `prepared` as in
 * sim/run/simulate.h. */
enum pp_status pp_quick_time(struct pp_arena *arena, struct pp_prepared *prepared,
                             struct pp_result *result, struct pp_error *err);
