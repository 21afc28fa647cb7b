/* tests/oracle/simgrid_plain_platform.h — a network as a platform file of SimGrid. */
#ifndef PP_TESTS_SIMGRID_PLAIN_PLATFORM_H
#define PP_TESTS_SIMGRID_PLAIN_PLATFORM_H

#include "tests/oracle/fluid.h"

/* Load all devices of the layout as hosts "g0", "g1", ..., all links, a route for each pair. */
void simgrid_plain_platform(const struct pp_network *n);

#endif
