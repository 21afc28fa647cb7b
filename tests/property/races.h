/* tests/property/races.h — a third opinion on lowered programs, in addition to verify and
 * execution: do two ops touch one buffer or one gradient without anything that orders them?
 *
 * Weaker than verify on purpose: a WAIT that is missing does no harm where other messages imply it,
 * and what is in order need not be right. Where nothing races, all orders of execution come to the
 * same result, so one of them shows whether it is the right one. Replicas are copies of each other
 * that meet in sums and barriers: what orders two ops in one orders them in all. No recomputation.
 */
#ifndef PP_TESTS_RACES_H
#define PP_TESTS_RACES_H

#include "schedules/program/program.h"

#include <stdbool.h>

/* Names the first pair found, or a circle; NULL when there is none. In the arena. */
const char *find_race(struct pp_arena *arena, const struct pp_program *program);

#endif
