/* schedules/evaluate/makespan.h — the end of one step alone: the program is played once and not
 * compiled (struct pp_eval). For callers that compare many programs, such as the planner. */
#pragma once

#include "schedules/evaluate/evaluate.h"

/* makespan_ps of pp_eval_run() with one replica and no perturbation, to the picosecond. False: the
 * caller must use pp_eval_run(). Either an option is not supported here (several steps, nic_fifo,
 * rings, implied messages), or the program has an error that pp_eval_run() reports (deadlock,
 * overflow). */
bool pp_makespan(const struct pp_program *program, const struct pp_costs *costs,
                 const struct pp_eval_options *options, int64_t *makespan_ps);
