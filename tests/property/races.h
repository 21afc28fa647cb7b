/* tests/property/races.h — a third opinion on lowered programs, in addition to verify and
 * execution. It reports two ops that touch one buffer or one gradient with nothing that orders
 * them.
 *
 * Weaker than verify on purpose: a missing WAIT does no harm where other messages imply it, and an
 * ordered program need not be correct. Without races all orders of execution have the same result,
 * so one of them shows whether it is correct. Replicas are copies of each other that meet in sums
 * and barriers. An order of two ops in one holds in all. No recomputation. */
#ifndef PP_TESTS_RACES_H
#define PP_TESTS_RACES_H

#include "schedules/program/program.h"

#include <stdbool.h>

/* Names the first pair found, or a circle; NULL when there is none. In the arena. */
const char *find_race(struct pp_arena *arena, const struct pp_program *program);

#endif
