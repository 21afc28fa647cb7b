#include "sim/simgrid_engine.h"

enum pp_status pp_simgrid_run(struct pp_simgrid_job *job, struct pp_error *err)
{
    (void)job;
    return pp_error_set(err, PP_EFAIL, "the simgrid engine is not written yet");
}
