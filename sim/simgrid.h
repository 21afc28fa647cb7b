/* sim/simgrid.h — SimGrid, if this build has it (sim/simgrid.c), or not (sim/simgrid_none.c).
 *
 * Nothing here loads SimGrid: it comes with a good 25 libraries, which would cost every start of
 * pipesim tens of milliseconds. Our code against it is a shared module (sim/simgrid_module.h) that
 * only child processes load. */
#ifndef PP_SIM_SIMGRID_H
#define PP_SIM_SIMGRID_H

#include <stdbool.h>

bool pp_simgrid_is_built(void);

#endif
