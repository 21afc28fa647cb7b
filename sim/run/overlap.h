/* sim/run/overlap.h — whether a program's sums run next to its ops. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/program.h"

/* Costs assume that the sums of a stage slow its last backward, and add this time to the update
 * (gather_ps). Takes it back where no rank of the program computes while they run. */
void pp_overlap_settle(const struct pp_program *p, struct pp_costs *costs);
