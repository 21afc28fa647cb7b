/* schedules/evaluate/makespan.h — only the ends of steps: the program is played once and not
 * compiled (struct pp_eval). For callers that compare many programs, such as the planner. */
#pragma once

#include "schedules/evaluate/evaluate.h"

/* Fills step_end_ps[steps] like pp_eval_run() with one replica and no perturbation, to the
 * picosecond. False if only pp_eval_run() can. Either an option is not supported (several steps
 * with a barrier, nic_fifo, rings, implied messages), or it reports an error of the program
 * (deadlock, overflow). */
bool pp_makespan(const struct pp_program *program, const struct pp_costs *costs,
                 const struct pp_eval_options *options, int64_t step_end_ps[]);
