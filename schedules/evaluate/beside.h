/* schedules/evaluate/beside.h — what a compute op of a program costs where it stands. Parameters
 * that come up inside of it share their link with the copies that the program posts beside it, so
 * that it lasts as long as all of them at the least. Source of the rule: docs/costs-memory.md,
 * "Offloading". */
#ifndef PP_SCHEDULES_EVALUATE_BESIDE_H
#define PP_SCHEDULES_EVALUATE_BESIDE_H

#include "core/cost/cost.h"
#include "schedules/program/program.h"

/* Of instruction i; `is_fused`: with the op behind it, as one. */
struct pp_cost pp_program_cost(const struct pp_program *program, const struct pp_costs *costs,
                               int i, bool is_fused);
/* Its duration alone. */
int64_t pp_program_ps(const struct pp_program *program, const struct pp_costs *costs, int i,
                      bool is_fused);

#endif
