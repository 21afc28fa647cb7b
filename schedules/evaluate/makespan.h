/* schedules/evaluate/makespan.h — ends of steps, and spans: the program is played once and not
 * compiled (struct pp_eval). For callers that compare many programs, such as the planner, and for
 * large programs: a compiled form takes twice the memory. */
#pragma once

#include "schedules/evaluate/evaluate.h"

/* Fills step_end_ps[steps] like pp_eval_run() with one replica and no perturbation, to the
 * picosecond. Plays the periods that a cut program leaves out too. False if only pp_eval_run() can.
 * Either an option is not supported: several steps with a barrier, nic_fifo, rings,
 * implied messages. Or it reports an error of the program (deadlock, overflow). */
bool pp_makespan(const struct pp_program *program, const struct pp_costs *costs,
                 const struct pp_eval_options *options, int64_t step_end_ps[]);
/* As above for a program whose lists have several steps, step_of[instruction]. An end of a step is
 * the latest of its instructions, without WAITs. False too if messages of steps mix. */
bool pp_makespan_in_list(const struct pp_program *program, const struct pp_costs *costs,
                         const struct pp_eval_options *options, const int *step_of, int steps,
                         int64_t step_end_ps[]);
/* Returns what pp_eval_run() does for PP_TIMES_SPANS or PP_TIMES_POSTS with one replica and no
 * perturbation, in the arena. Periods that a cut program leaves out are not played. NULL where
 * pp_makespan() returns false. */
struct pp_times *pp_makespan_spans(struct pp_arena *arena, const struct pp_program *program,
                                   const struct pp_costs *costs,
                                   const struct pp_eval_options *options,
                                   enum pp_times_wanted wanted);
