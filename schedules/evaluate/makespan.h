/* schedules/evaluate/makespan.h — when one step ends, and nothing else: the program is played once,
 * without a plan of it. For those who look at many programs and keep few. */
#ifndef PP_SCHEDULES_EVALUATE_MAKESPAN_H
#define PP_SCHEDULES_EVALUATE_MAKESPAN_H

#include "schedules/evaluate/evaluate.h"

/* makespan_ps of pp_eval_run() with one replica and nothing perturbed, to the picosecond. False: a
 * plan must say it, as options ask for what is not played here (several steps, nic_fifo, rings,
 * implied messages), or must say what is wrong (deadlock, overflow). */
bool pp_makespan(const struct pp_program *program, const struct pp_costs *costs,
                 const struct pp_eval_options *options, int64_t *makespan_ps);

#endif
