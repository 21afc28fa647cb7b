/* schedules/build/steady.h — times of a whole program from those of a cut one.
 *
 * A cut program (schedules/build/cut.h) leaves out periods at places of its lists. They are proved
 * to repeat if all instructions around a place, on all ranks, run exactly one span later in each
 * period. The periods that are compared reach farther than any dependency that can delay an
 * instruction. So the whole program repeats as well, and all that comes after the gap is as much
 * later as its periods last. This holds for one gap after the other: all ranks must have as many.
 * Where links are shared, all ranks must also be amid such periods when rank 0 begins the one after
 * the gap. If all transfers are then in the state of one span before, they repeat, too. */
#pragma once

#include "schedules/evaluate/evaluate.h"

/* Is true if all ranks have as many gaps. Else nothing is proved. */
bool pp_steady_may_tell(const struct pp_program *program);
/* Makes spans and ends of steps those of the whole program, whose instructions are those of the cut
 * one and more periods. False, with `times` unchanged, unless the periods are proved. Posts remain
 * as they are. */
bool pp_steady_lengthen(const struct pp_program *program, const struct pp_eval_options *options,
                        bool shares_links, struct pp_times *times);
