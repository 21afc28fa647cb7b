#include "sim/simgrid.h"

#include "sim/engine.h"

bool pp_simgrid_is_built(void)
{
    return false;
}

const struct pp_engine *const pp_engines[] = {&pp_engine_dag, NULL};
