/* tests/property/mistakes.h — typical mistakes in lowered programs that are written by hand. */
#ifndef PP_TESTS_MISTAKES_H
#define PP_TESTS_MISTAKES_H

#include "schedules/program/program.h"

enum { MISTAKES = 6, FATAL_MISTAKES = 3 }; /* the fatal ones first: they never come out right */
const char *mistake_name(int mistake);
/* On a rank and at a place that are drawn; false where there is no room for it. */
bool make_mistake(int mistake, uint64_t *random, struct pp_orders *lists);

#endif
