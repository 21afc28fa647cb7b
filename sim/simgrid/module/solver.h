/* sim/simgrid/module/solver.h — SimGrid as a solver for transfers that share links, inside the
 * module. */
#pragma once

#include "sim/engine/express.h"

/* SimGrid's sizes are whole numbers: bytes, and bytes per second, are given to it times this. */
enum { PP_SIMGRID_SCALE = 1024 };

struct pp_simgrid_job {
    /* A platform with host "h<k>" for k < hosts: transfers of wire w run from h<source[w]> to
     * h<dest[w]>. Endpoints stand for no device: each wire has a pair of its own. */
    const char *platform; /* path */
    int hosts;
    const int32_t *source, *dest; /* [wire]; -1 where no transfer ever needs the solver */
    /* What to do with it, in an actor of SimGrid. */
    void (*act)(void *context, const struct pp_solver *solver);
    void *context;
};

enum pp_status pp_simgrid_run(struct pp_simgrid_job *job, struct pp_error *err);
