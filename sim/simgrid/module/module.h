/* sim/simgrid/module/module.h — the shared module with SimGrid: its entries, and its loader.
 *
 * The module is pipesim-simgrid.so: the files of this folder that need SimGrid, and SimGrid
 * itself. A process has one SimGrid engine, and bad input ends the process. So only functions of
 * pp_child_run() call an entry, each child one, once. Jobs are plain data of the parent; the
 * child has a copy. Results go through memory that the parent mapped as shared, or through the
 * channel. */
#pragma once

#include "core/error.h"

struct pp_simgrid_job;     /* sim/simgrid/module/solver.h */
struct pp_platform_source; /* sim/simgrid/module/probe.h */

enum { PP_SIMGRID_ABI = 1 };
struct pp_simgrid_module {
    int abi;             /* PP_SIMGRID_ABI */
    const char *version; /* PP_VERSION of its build */
    /* Runs a program; results are in the job's shared arrays. */
    enum pp_status (*run)(struct pp_simgrid_job *job, struct pp_error *err);
    /* Loads a platform file and answers requests on `channel` until it is closed. */
    enum pp_status (*serve_platform)(const struct pp_platform_source *source, int channel,
                                     struct pp_error *err);
};

/* Loads the module from the library path of the executable (its build folder, or LIBDIR/pipesim if
 * installed). PP_EFAIL if it cannot be loaded or belongs to another build. */
enum pp_status pp_simgrid_load(const struct pp_simgrid_module **module, struct pp_error *err);
