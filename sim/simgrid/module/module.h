/* sim/simgrid/module/module.h — the shared module with SimGrid: what it offers, and how to load it.
 *
 * The module is pipesim-simgrid.so: sim/simgrid/module/module.c, simgrid_engine.c, simgrid_probe.c
 * and SimGrid itself. There is one SimGrid engine per process, and bad input ends the process: so
 * only functions given to pp_child_run() call an entry, each child one, once. Jobs are plain data
 * of the parent, of which the child has a copy; results go through memory that the parent mapped as
 * shared, or through the channel. */
#ifndef PP_SIM_SIMGRID_MODULE_MODULE_H
#define PP_SIM_SIMGRID_MODULE_MODULE_H

#include "core/error.h"

struct pp_simgrid_job;     /* sim/simgrid/module/solver.h */
struct pp_platform_source; /* sim/simgrid/module/probe.h */

enum { PP_SIMGRID_ABI = 1 };
struct pp_simgrid_module {
    int abi;             /* PP_SIMGRID_ABI */
    const char *version; /* PP_VERSION of its build */
    /* Run a program; results in the job's shared arrays. */
    enum pp_status (*run)(struct pp_simgrid_job *job, struct pp_error *err);
    /* Load a platform file and answer questions on `channel` until it is closed. */
    enum pp_status (*serve_platform)(const struct pp_platform_source *source, int channel,
                                     struct pp_error *err);
};

/* Load the module, looked for in the library path of the executable (its build folder, or
 * LIBDIR/pipesim when installed). PP_EFAIL when it cannot be loaded or belongs to another build. */
enum pp_status pp_simgrid_load(const struct pp_simgrid_module **module, struct pp_error *err);

#endif
