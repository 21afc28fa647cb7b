/* sim/import/step_compare.h — the predicted step compared with those of a training run's log,
 * where no events were recorded. */
#ifndef PP_SIM_IMPORT_STEP_COMPARE_H
#define PP_SIM_IMPORT_STEP_COMPARE_H

#include "core/arena.h"
#include "core/error.h"
#include "core/text/terminal.h"
#include "sim/import/step_log.h"

#include <stdio.h>

struct pp_step_comparison {
    const char *predicted;                                 /* name of the file */
    double predicted_s;                                    /* of a trace its median step */
    double predicted_flops_per_s_per_gpu, predicted_batch; /* NAN: a trace does not say */
    const struct pp_step_log *log;
    double error_frac;     /* predicted / measured - 1 */
    double tolerance_frac; /* NAN: none */
};

/* `path`: a trace, or what pipesim --json has printed of one schedule. PP_EINVAL with the file for
 * what is neither. */
enum pp_status pp_step_compare(struct pp_arena *arena, const char *path,
                               const struct pp_step_log *log, struct pp_step_comparison *c,
                               struct pp_error *err);
void pp_step_comparison_print(const struct pp_step_comparison *c, FILE *out);
/* One JSON object "pipesim.steps/1". */
void pp_step_comparison_json(const struct pp_step_comparison *c, FILE *out);

#endif
