/* How much the judged steps differ from each other. */
#include "exec/report/report.h"

#include "core/quantile.h"

#include <stdlib.h>
#include <string.h>

struct pp_exec_spread pp_exec_spread(const struct pp_exec_run *run)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_training_result *r = &run->result;
    const int steps = r->steps_done - r->first_judged;
    double *sorted = PP_ARRAY(arena, double, steps);
    struct pp_exec_spread spread = {.steps = steps};

    memcpy(sorted, r->step_s + r->first_judged, sizeof(*sorted) * (size_t)steps);
    spread.low_s = pp_quantile(sorted, steps, 0.1);
    spread.high_s = pp_quantile(sorted, steps, 0.9);
    spread.width_frac = (spread.high_s - spread.low_s) / pp_median(sorted, steps);
    return spread;
}
