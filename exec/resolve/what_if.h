/* exec/resolve/what_if.h — --slow, --link-bw and --unit: a run on imaginary devices and wires. The
 * virtual clock then shows what the evaluator predicts with the same options. */
#pragma once

#include "exec/resolve/config.h"

/* Takes the durations of --unit before there is a program: schedules that search use them. */
enum pp_status pp_exec_plan_unit(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                 const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                 struct pp_error *err);
/* Makes the costs of a plan, whose program, stages and batch are set, from its wires and these
 * options. PP_EINVAL for unknown ranks or wires, factors out of range, options that the wall clock
 * cannot follow, and runs longer than the clock. */
enum pp_status pp_exec_plan_costs(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                  struct pp_error *err);
/* Is true if a value of --inject is one of these options, "slow:1=0.5", and no fault. */
bool pp_exec_is_what_if(const char *inject);
/* Returns the options as typed, "--slow 1=0.5 --link-bw 0-1=0.1"; NULL without any. */
const char *pp_exec_what_if_text(struct pp_arena *arena, const struct pp_exec_wish *wish);
