/* Table of functions of the module. */
#include "sim/simgrid/module/module.h"

#include "sim/simgrid/module/probe.h"
#include "sim/simgrid/module/solver.h"

/* The only symbol that pp_simgrid_load() looks up. */
extern const struct pp_simgrid_module pp_simgrid_module;
__attribute__((visibility("default"))) const struct pp_simgrid_module pp_simgrid_module = {
    .abi = PP_SIMGRID_ABI,
    .version = PP_VERSION,
    .run = pp_simgrid_run,
    .serve_platform = pp_simgrid_serve_platform,
};
