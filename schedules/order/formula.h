/* schedules/order/formula.h — time of a step without simulation, the baseline of predictions. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/order/schedule.h"
#include "schedules/program/program.h"

/* Returns the seconds of a step: mean work of a rank over 1 - bubble. The bubble is the schedule's
 * closed form, else that of Huang et al. 2019, section 2.3. `schedule` may be NULL. */
double pp_formula_step_s(const struct pp_program *program, const struct pp_schedule *schedule,
                         const struct pp_costs *costs);
