/* What a row says was measured. */
#include "sim/validate.h"

#include <math.h>
#include <string.h>

#define GIB (1024.0 * 1024.0 * 1024.0)

/* Seconds in which gbs * seq tokens pass at that many a second and device. */
static double step_of_tokens(const struct pp_measurement *row)
{
    return pp_measure_number(row, PP_COL_GBS) * pp_measure_number(row, PP_COL_SEQ) /
           (pp_measure_number(row, PP_COL_TOKENS_PER_S) * pp_measure_number(row, PP_COL_GPUS));
}

void pp_measure_metrics(struct pp_measurement *row)
{
    row->step_s = pp_measure_number(row, PP_COL_STEP_S);
    if (!isfinite(row->step_s))
        row->step_s = step_of_tokens(row);
    row->mem_bytes = pp_measure_number(row, PP_COL_MEM_GIB) * GIB;
}
