/* sim/simgrid_engine.h — a program interpreted on SimGrid, inside the module. */
#ifndef PP_SIM_SIMGRID_ENGINE_H
#define PP_SIM_SIMGRID_ENGINE_H

#include "core/error.h"

struct pp_simgrid_job;

enum pp_status pp_simgrid_run(struct pp_simgrid_job *job, struct pp_error *err);

#endif
