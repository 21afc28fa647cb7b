/* exec/resolve/what_if.h — --slow, --link-bw and --unit: a run on devices and wires that are not
 * there. What the virtual clock tells then is what the evaluator predicts with the same options. */
#pragma once

#include "exec/resolve/config.h"

/* The durations that are given, before there is a program: schedules that search play with them. */
enum pp_status pp_exec_plan_unit(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                 const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                 struct pp_error *err);
/* Costs of a plan, whose program, stages and batch are there: those of the wires, and what the
 * options make of them. PP_EINVAL for unknown ranks or wires, factors out of range, options that
 * the wall clock cannot follow, and runs longer than the clock. */
enum pp_status pp_exec_plan_costs(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                  struct pp_error *err);
/* Whether a value of --inject is one of these, "slow:1=0.5", and no fault. */
bool pp_exec_is_what_if(const char *inject);
/* "--slow 1=0.5 --link-bw 0-1=0.1", as typed; NULL without any. */
const char *pp_exec_what_if_text(struct pp_arena *arena, const struct pp_exec_wish *wish);
