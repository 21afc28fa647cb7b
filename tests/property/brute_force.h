/* tests/property/brute_force.h — a second opinion on tiny programs. It runs the lists step by step
 * on a machine with tokens, rendezvous channels and buffers, and reports the first error.
 *
 * Shares no code with verify: no tables, no graph, only lists searched from end to end. */
#ifndef PP_TESTS_BRUTE_FORCE_H
#define PP_TESTS_BRUTE_FORCE_H

#include "schedules/program/program.h"

enum judgement { JUDGED_LEGAL, JUDGED_ILLEGAL, JUDGED_DEADLOCK };
extern const char *const judgement_names[];

/* `why` (256 bytes) gets the reason when not legal. */
enum judgement judge(const struct pp_program_head *head, const struct pp_orders *lists, char *why);

#endif
