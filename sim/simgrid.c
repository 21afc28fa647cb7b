#include "sim/simgrid.h"

bool pp_simgrid_is_built(void)
{
    return true;
}
