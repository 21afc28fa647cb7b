/* schedules/evaluate/op_cost.h — cost of a compute op at its place in a program. Parameters and
 * gradients that move inside the op share their link with concurrent copies. So the op lasts at
 * least as long as all of them together. Source of the rule: docs/costs-memory.md, "Offloading". */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/program.h"

/* Returns the cost of instruction i; `is_fused`: of i and the op after it, as one. */
struct pp_cost pp_program_cost(const struct pp_program *program, const struct pp_costs *costs,
                               int i, bool is_fused);
/* Returns the duration of pp_program_cost() alone. */
int64_t pp_program_ps(const struct pp_program *program, const struct pp_costs *costs, int i,
                      bool is_fused);
