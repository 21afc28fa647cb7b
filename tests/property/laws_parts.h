/* tests/property/laws_parts.h — how the cases of laws.h are made. Private to laws*.c. */
#ifndef PP_TESTS_LAWS_PARTS_H
#define PP_TESTS_LAWS_PARTS_H

#include "tests/property/laws.h"
#include "tests/unit/support/random_program.h"

/* For the program and the network of the case. */
void law_make_costs(struct law_case *c, struct rng *rng);

#endif
