/* sim/simgrid_probe.h — a platform file read by SimGrid, inside the module. */
#ifndef PP_SIM_SIMGRID_PROBE_H
#define PP_SIM_SIMGRID_PROBE_H

#include "core/error.h"

enum pp_status pp_simgrid_serve_platform(const char *path, int channel, struct pp_error *err);

#endif
