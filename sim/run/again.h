/* sim/run/again.h — recomputations of a program. */
#pragma once

#include "schedules/program/program.h"

/* Returns, for each stage, the share of its forwards that an R repeats; those of periods that a cut
 * program leaves out count, too. Owned by the arena. */
double *pp_again_run_frac(struct pp_arena *arena, const struct pp_program *program);
