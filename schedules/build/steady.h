/* schedules/build/steady.h — times of a whole program from those of a cut one. */
#pragma once

#include "schedules/evaluate/evaluate.h"

/* Adds the time of the periods that a program leaves out (schedules/build/cut.h) to the ends of its
 * only step. False, with `times` unchanged, unless all instructions around the gap, on all ranks,
 * run exactly one span later in each period. The span of periods that is compared is longer than
 * any dependency. So the whole program repeats as well, and all that comes after the gap is as much
 * later as the periods last. */
bool pp_steady_lengthen(const struct pp_program *program, const struct pp_eval_options *options,
                        struct pp_times *times);
/* Is true if, when rank 0 begins the period after the gap, all ranks are amid such periods. If
 * links are shared and all transfers are then in the state of one span before, they repeat, too. */
bool pp_steady_is_together(const struct pp_program *program, const struct pp_eval_options *options,
                           const struct pp_times *times);
