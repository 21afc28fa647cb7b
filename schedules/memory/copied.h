/* schedules/memory/copied.h — bytes that a device copies between memory tiers in a step, as the
 * costs of a program say. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/program.h"

/* Bytes of one device in a step. Those that stream through an op are included. */
struct pp_copied {
    double down_bytes, up_bytes;
};
/* Fills what the device of a rank copies, by class. */
void pp_copied_of_rank(const struct pp_program *program, const struct pp_costs *costs, int rank,
                       struct pp_copied by_class[PP_STATE_CLASSES]);
/* Returns the rank whose device copies most; the first of several. */
int pp_copied_most(const struct pp_program *program, const struct pp_costs *costs);

/* Is true if a MOVE.sum brings up gradients for instruction i, a B or W. */
bool pp_program_brings_sum(const struct pp_program *program, int i);
