/* schedules/program/uses.h — how often a rank uses units of parameters that are fetched. */
#pragma once

#include "schedules/program/program.h"

/* Returns the most chunks of a rank. */
int pp_program_most_chunks(const struct pp_program *program);
/* Returns how often ops of a rank use a unit in a step of the whole program. Uses of one unit after
 * another count once. 0 if nothing is fetched. */
int64_t pp_program_uses(const struct pp_program *program, int rank);
