/* sim/simgrid/module/solver.h — SimGrid as a solver for transfers; inside the module. */
#pragma once

#include "sim/engine/express.h"

/* Factor of all bytes and bytes per second in SimGrid, whose sizes are whole numbers. */
enum { PP_SIMGRID_SCALE = 1024 };

struct pp_simgrid_job {
    /* A platform with host "h<k>" for k < hosts: transfers of wire w run from h<source[w]> to
     * h<dest[w]>. Hosts stand for no device: each wire has its own pair. */
    const char *platform; /* path */
    int hosts;
    const int32_t *source, *dest; /* [wire]; -1 if no transfer needs the solver */
    /* Called in an actor of SimGrid with the solver. */
    void (*act)(void *context, const struct pp_solver *solver);
    void *context;
};

enum pp_status pp_simgrid_run(struct pp_simgrid_job *job, struct pp_error *err);
