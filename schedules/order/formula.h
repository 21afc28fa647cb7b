/* schedules/order/formula.h — a step without any simulation: what a prediction has to beat. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/order/schedule.h"
#include "schedules/program/program.h"

/* Seconds: mean work of a rank over 1 - the closed form of the bubble (Huang et al. 2019, section
 * 2.3, where the schedule gives none of its own; `schedule` may be NULL). */
double pp_formula_step_s(const struct pp_program *program, const struct pp_schedule *schedule,
                         const struct pp_costs *costs);
