/* Slowdown by slow devices and wires: steps compared with their evaluation without these. */
#include "exec/train/parts.h"

#include "core/quantile.h"
#include "core/units.h"

#include <math.h>

/* Returns the compute costs of `measured`, with messages and sums of plain wires. */
static struct pp_costs without(const struct pp_training *t, const struct pp_costs *measured)
{
    static const int COMPUTE[] = {PP_F, PP_B, PP_I, PP_W, PP_R, PP_U};
    struct pp_costs plain = *t->plain_costs;

    for (size_t k = 0; k < PP_COUNT(COMPUTE); k++)
        plain.op[COMPUTE[k]] = measured->op[COMPUTE[k]];
    plain.overlap = measured->overlap;
    plain.overlap_all = measured->overlap_all;
    return plain;
}

/* Evaluates a step of these durations, [instruction * replicas + replica], on plain wires. */
static enum pp_status plain_step_s(struct pp_arena *scratch, const struct pp_training *t,
                                   const int64_t *compute_ps, double *step_s, struct pp_error *err)
{
    const struct pp_machine_options *m = &t->machine;
    const struct pp_perturbation given = {.compute_ps = compute_ps};
    struct pp_eval *eval;

    PP_TRY(pp_eval_create(scratch, m->program, t->plain_costs, &(struct pp_eval_options){0}, &eval,
                          err));
    *step_s = pp_units_s(
        pp_eval_run(scratch, eval, m->batch->replicas, &given, PP_TIMES_MAKESPAN)->makespan_ps);
    return PP_OK;
}

static enum pp_status measured_slowdown(struct pp_arena *scratch, const struct pp_training *t,
                                        const struct pp_machine *machine,
                                        const struct pp_training_result *r, double *slowdown,
                                        struct pp_error *err)
{
    const int kept = pp_machine_kept(machine);
    double *times = PP_ARRAY(scratch, double, kept);

    for (int k = 0; k < kept; k++) {
        double plain_s;
        PP_TRY(
            plain_step_s(scratch, t, pp_machine_step_times(machine, k).nominal_ps, &plain_s, err));
        times[k] = r->step_s[r->steps_done - kept + k] / plain_s;
    }
    *slowdown = pp_median(times, kept);
    return PP_OK;
}

enum pp_status pp_train_slowdown(const struct pp_training *training,
                                 const struct pp_machine *machine, const struct pp_costs *costs,
                                 struct pp_training_result *result, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_machine_options *m = &training->machine;
    struct pp_prediction plain;

    result->slowdown = result->predicted_slowdown = (double)NAN;
    if (!training->plain_costs)
        return PP_OK;
    PP_TRY(measured_slowdown(scratch, training, machine, result, &result->slowdown, err));
    const struct pp_costs plain_costs = without(training, costs);
    PP_TRY(pp_predict(scratch, m->program, &plain_costs,
                      (struct pp_replicas){.count = m->batch->replicas}, &plain, err));
    result->predicted_slowdown = result->prediction.step_s / plain.step_s;
    return PP_OK;
}
