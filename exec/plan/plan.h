/* exec/plan/plan.h — a schedule on the model of a run. */
#pragma once

#include "exec/resolve/config.h"

/* Makes the program of `subject` (name or file, NULL = the usual schedule), lowered and verified,
 * and its stages. PP_EINVAL for a schedule that is only simulated, with the executable ones, and
 * for layouts that do not divide, with the nearest that do. PP_EPROGRAM for an illegal file. */
enum pp_status pp_exec_plan_make(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                 const struct pp_exec_config *config, struct pp_subject subject,
                                 struct pp_exec_plan *plan, struct pp_error *err);
struct pp_training pp_exec_training(const struct pp_exec_wish *wish,
                                    const struct pp_exec_config *config,
                                    const struct pp_exec_plan *plan);
