/* sim/simgrid/simgrid.h — SimGrid, if this build has it (sim/simgrid/simgrid.c), or not
 * (sim/simgrid/none.c).
 *
 * SimGrid comes with a good 25 libraries, which would cost every start of pipesim tens of
 * milliseconds. Our code against it is a shared module (sim/simgrid/module/module.h), loaded when
 * two transfers meet or a platform file is read. */
#ifndef PP_SIM_SIMGRID_SIMGRID_H
#define PP_SIM_SIMGRID_SIMGRID_H

#include <stdbool.h>

bool pp_simgrid_is_built(void);

#endif
