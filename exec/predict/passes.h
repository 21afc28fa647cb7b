/* exec/predict/passes.h — the first half of a generating program's passes predicts the second. On
 * each stage of the model, the time of a pass is linear in the tokens that it meets. */
#pragma once

#include "exec/predict/predict.h"

struct pp_passes_prediction {
    int passes, fitted;    /* passes 1 .. fitted are measured, the later ones predicted */
    struct pp_costs costs; /* of all passes: pass 0 as measured, later ones by the fit */
    /* By pass: when its tokens of all groups are there, from the begin of the run. Predicted times
     * come from an evaluation of the whole program with `costs`. */
    double *measured_s, *predicted_s;              /* [passes] */
    double first_token_s, predicted_first_token_s; /* median over groups: pass 0 is there */
    double token_s, predicted_token_s;             /* mean time of a pass after `fitted` */
    double error_frac;                             /* predicted_token_s / token_s - 1 */
};
/* Predicts from step k of a machine: `times` are its stamps. `costs` has wires and the times of
 * exchanges. PP_EINVAL: fewer than 4 passes. Errors: pp_eval_create(). */
enum pp_status pp_predict_passes(struct pp_arena *arena, const struct pp_program *program,
                                 const struct pp_costs *costs, const struct pp_step_times *times,
                                 struct pp_replicas replicas,
                                 struct pp_passes_prediction *prediction, struct pp_error *err);
