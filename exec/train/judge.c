/* Prediction and measurement of a training run, after its last step. */
#include "exec/train/parts.h"

#include "core/quantile.h"
#include "schedules/order/formula.h"

#include <math.h>
#include <string.h>

/* Workers slow each other down on the wall clock, as threads or as processes that share GPUs. */
static bool is_contended(const struct pp_train_run *run)
{
    const struct pp_machine_options *m = &run->training->machine;
    const int gpus = run->result->way.gpus;

    return pp_machine_is_contended(m) ||
           (m->clock == PP_CLOCK_WALL && gpus > 0 && gpus < m->program->ranks * m->batch->replicas);
}

static enum pp_status predict(struct pp_train_run *run, struct pp_error *err)
{
    const struct pp_training *t = run->training;
    const struct pp_machine_options *m = &t->machine;
    const struct pp_stage *const *stages = t->calibration ? m->stages : NULL;
    const struct pp_calibration *c = t->calibration ? t->calibration : run->calibration;
    const struct pp_replicas replicas = {m->batch->replicas, m->slow, pp_calibration_pauses(c)};
    struct pp_training_result *r = run->result;
    struct pp_costs *costs = &run->costs;

    r->pauses = replicas.pauses;
    r->is_wire_measured = pp_calibration_wire(c, &r->wire);
    *costs = *m->costs;
    PP_TRY(pp_calibration_costs(c, m->program, stages, costs, err));
    PP_TRY(pp_predict(run->arena, m->program, costs, replicas, &r->prediction, err));
    PP_TRY(
        pp_predict_band(c, m->program, stages, costs, replicas, m->seed, &r->predicted_band, err));
    r->null_step_s = pp_formula_step_s(m->program, t->schedule, costs);
    r->is_contended = is_contended(run);
    r->model_error_frac =
        r->is_contended ? (double)NAN : r->prediction.step_s / r->step_median_s - 1;
    r->null_error_frac = r->is_contended ? (double)NAN : r->null_step_s / r->step_median_s - 1;
    return PP_OK;
}

/* Replays the kept steps. One preemption exceeds the unexplained time of a step, so its median over
 * the judged ones is taken, as of step times. */
static enum pp_status replay(struct pp_train_run *run, struct pp_error *err)
{
    const struct pp_training *t = run->training;
    struct pp_training_result *r = run->result;
    const struct pp_times *times = pp_machine_times(run->machine);
    const int steps = times->steps, first = r->steps_done - steps;
    int judged = 0;
    double *left_s = PP_ARRAY(run->arena, double, steps);

    for (int k = 0; k < steps; k++) {
        struct pp_replay replay;
        PP_TRY(pp_replay(run->arena, t->machine.program, &run->costs, times, k,
                         pp_machine_step_times(run->machine, k).duration_ps, &replay, err));
        if (t->machine.clock == PP_CLOCK_VIRTUAL)
            r->structural_error_s =
                fmax(r->structural_error_s, fmax(fabs(replay.step_error_s), replay.event_error_s));
        else if (first + k >= run->ranges.judge)
            left_s[judged++] = fmax(0, r->step_s[first + k] - replay.step_s);
    }
    r->unattributed_s = judged > 0 ? pp_median(left_s, judged) : 0;
    return PP_OK;
}

static enum pp_status read_memory(struct pp_train_run *run, struct pp_error *err)
{
    const struct pp_machine_options *m = &run->training->machine;
    struct pp_training_result *r = run->result;

    if (m->is_poisoned) /* else the states are not read */
        PP_TRY(pp_machine_fetch_touched(run->machine, err));
    r->layout = pp_machine_layout(run->machine);
    r->lifetimes = pp_memory_peaks(run->arena, m->program, m->costs);
    for (int rank = 0; rank < m->program->ranks; rank++)
        if (r->layout[rank].peak_bytes > r->layout[r->peak_rank].peak_bytes)
            r->peak_rank = rank;
    r->predicted_peak_mem_bytes = (double)r->layout[r->peak_rank].peak_bytes;
    r->touched_bytes = PP_ARRAY(run->arena, double, m->program->ranks);
    for (int rank = 0; rank < m->program->ranks; rank++)
        r->touched_bytes[rank] =
            m->is_poisoned ? (double)pp_machine_touched(run->machine, rank, 0) : (double)NAN;
    r->peak_mem_bytes = r->touched_bytes[r->peak_rank];
    return PP_OK;
}

static double median_of(const struct pp_train_run *run, const double *seconds)
{
    const int first = run->result->first_judged, count = pp_train_steps(run->training) - first;
    double *sorted = PP_ARRAY(run->arena, double, count);

    memcpy(sorted, seconds + first, sizeof(double) * (size_t)count);
    return pp_median(sorted, count);
}

enum pp_status pp_train_judge(struct pp_train_run *run, struct pp_error *err)
{
    const struct pp_training *t = run->training;
    struct pp_training_result *r = run->result;

    r->step_median_s = median_of(run, r->step_s);
    r->elapsed_median_s = median_of(run, r->elapsed_s);
    PP_TRY(predict(run, err));
    PP_TRY(pp_train_slowdown(t, run->machine, &run->costs, r, err));
    PP_TRY(replay(run, err));
    PP_TRY(pp_machine_clock(run->machine, &r->clock, err));
    r->trace = pp_exec_trace(run->arena, t->machine.program, &run->costs,
                             pp_machine_times(run->machine), t->machine.backend->name);
    r->trace->clock_error_s = r->clock.error_s;
    PP_TRY(pp_train_metrics(run->arena, t, run->machine, &run->costs, r, err));
    if (run->reference && t->check == PP_CHECK_ALL)
        PP_TRY(pp_train_compare(run, run->reference, PP_VECTOR_WEIGHTS, &r->weights, err));
    PP_TRY(read_memory(run, err));
    return pp_train_read_tiers(run, err);
}
