/* A training run. Its first step warms up caches, the next ones calibrate, the rest is judged. A
 * run of two steps has no warm-up, and a run of one is calibrated and judged on the same step. */
#include "exec/train/parts.h"

#include "core/clock.h"
#include "core/quantile.h"
#include "schedules/order/formula.h"

#include <math.h>
#include <string.h>

struct ranges {           /* steps counted from the first that is run here */
    int calibrate, judge; /* first step of each; calibration ends before `judge` */
};

static struct ranges ranges_of(int steps, int warmup)
{
    if (steps < 3)
        return (struct ranges){0, steps - 1};
    return (struct ranges){1, 1 + warmup < steps - 1 ? 1 + warmup : steps - 1};
}

struct run {
    struct pp_arena *arena;
    const struct pp_training *training;
    struct pp_training_result *result;
    struct pp_machine *machine;
    struct pp_reference *reference; /* NULL: nothing is checked */
    struct pp_keeper keeper;
    struct pp_calibration *calibration;
    struct ranges ranges;
    struct pp_costs costs; /* wires of the machine, durations as measured */
    double reference_loss;
    double ended_s; /* by pp_clock_s(): the last step */
};

/* ---- check ----------------------------------------------------------------------------------- */

static enum pp_status compare(const struct run *run, enum pp_vector what,
                              struct pp_difference *difference, struct pp_error *err)
{
    const struct pp_machine_options *m = &run->training->machine;
    const int stages = m->program->stages, places = m->program->pipelines * stages,
              tp = m->tp > 1 ? m->tp : 1, ep = m->ep;

    for (int k = 0; k < m->batch->replicas * tp * places; k++) {
        const int place = k % places, t = k / places % tp, stage = place % stages,
                  replica = k / places / tp, part = ep > 1 ? replica % ep : t;
        struct pp_state state;

        PP_TRY(pp_machine_state_of(run->machine, replica, t, place / stages, stage, &state, err));
        pp_reference_compare(run->reference, m->stages[part * stages + stage], &state, what,
                             difference);
    }
    return PP_OK;
}

static bool is_checked(const struct run *run, int step)
{
    return run->reference &&
           (step == run->training->first_step || run->training->check == PP_CHECK_ALL);
}

static void on_gradients(void *closure, const struct pp_machine *machine, int step)
{
    struct run *run = closure;
    struct pp_error none; /* gradients are here already */

    (void)machine;
    (void)step;
    (void)compare(run, PP_VECTOR_GRADIENTS, &run->result->gradients, &none);
}

static enum pp_status begin_check(struct run *run, struct pp_error *err)
{
    const struct pp_training *t = run->training;

    if (t->check == PP_CHECK_NONE)
        return PP_OK;
    run->result->is_checked = run->result->is_loss_equal = true;
    const struct pp_place place = {
        .backend = t->machine.backend,
        .mode = t->machine.mode,
        .tp = t->machine.tp,
        .is_sequence_parallel = t->machine.stages[0]->shape.is_sequence_parallel,
        .parts = t->machine.program->ranks * t->machine.batch->replicas,
        .left_free = pp_machine_way(run->machine).left_free,
        .place = t->machine.meeting.local_index,
        .timeout_s = t->machine.timeout_s,
        .on_stuck = t->machine.on_stuck,
        .stuck_closure = t->machine.stuck_closure,
    };
    return pp_reference_create(run->arena, &t->net, t->machine.kernels, &place, t->machine.batch,
                               t->machine.recipe, &run->reference, err);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int count_of(const struct pp_training *training)
{
    return training->steps - training->first_step;
}

static void note_step(struct run *run, int k, const struct pp_step_result *result)
{
    struct pp_training_result *r = run->result;

    r->losses[k] = result->loss;
    r->grad_norms[k] = result->grad_norm;
    r->step_s[k] = result->step_s;
    r->elapsed_s[k] = pp_clock_s() - run->ended_s;
    run->ended_s += r->elapsed_s[k];
    r->steps_done = k + 1;
    for (size_t i = 0; i < pp_net_expert_tokens(&run->training->net); i++)
        r->expert_tokens[i] += result->expert_tokens[i];
    if (k < run->ranges.judge)
        return;
    r->wall_s += result->wall_s;
    r->cpu_s += result->cpu_s;
    r->outside_s += result->outside_s;
    r->instructions += result->instructions;
    r->issue_s += result->issue_s;
    r->issued += result->issued;
}

static bool has_pairs(const struct pp_program *p)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if (pp_op_is_compute(p->kind[i]) && p->aux[i] == PP_FUSED_FIRST)
            return true;
    return false;
}

/* The prediction of the run itself takes whole ops. Only ops of fused pairs are told apart by
 * probes, in the first of several steps. */
static bool has_probes(const struct run *run, int k)
{
    return k == run->ranges.calibrate && k + 1 < run->ranges.judge &&
           has_pairs(run->training->machine.program);
}

static enum pp_status one_step(struct run *run, int k, struct pp_error *err)
{
    const struct pp_training *t = run->training;
    const int step = t->first_step + k;
    const bool calibrates = k >= run->ranges.calibrate && k < run->ranges.judge;
    struct pp_training_result *r = run->result;
    struct pp_step_result result;

    if (is_checked(run, step))
        PP_TRY(pp_reference_step(run->reference, &t->text, step, &run->reference_loss, err));
    pp_machine_probes(run->machine, has_probes(run, k));
    pp_machine_on_gradients(run->machine, is_checked(run, step) ? on_gradients : NULL, run);
    PP_TRY(pp_machine_step(run->machine, &t->text, step, &result, err));
    if (calibrates || count_of(t) == 1)
        pp_calibration_take(run->calibration, run->machine, &t->machine);
    if (is_checked(run, step))
        r->is_loss_equal &= result.loss == run->reference_loss;
    if (run->reference && t->check == PP_CHECK_ALL)
        PP_TRY(pp_reference_update(run->reference, step, err));
    note_step(run, k, &result);
    if (t->on_step)
        t->on_step(t->closure, step, &result);
    PP_TRY(pp_train_validate(t, run->machine, run->reference, k, r, err));
    if (!isnan(r->valid_losses[k])) /* its time belongs to no step */
        run->ended_s = pp_clock_s();
    pp_train_log(t, k, r);
    pp_train_save(run->arena, &run->keeper, run->machine, step + 1, r);
    return PP_OK;
}

/* ---- prediction and measurement -------------------------------------------------------------- */

/* Workers slow each other down on the wall clock, as threads or as processes that share GPUs. */
static bool is_contended(const struct run *run)
{
    const struct pp_machine_options *m = &run->training->machine;
    const int gpus = run->result->way.gpus;

    return pp_machine_is_contended(m) ||
           (m->clock == PP_CLOCK_WALL && gpus > 0 && gpus < m->program->ranks * m->batch->replicas);
}

static enum pp_status predict(struct run *run, struct pp_error *err)
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
static enum pp_status replay(struct run *run, struct pp_error *err)
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

static enum pp_status read_memory(struct run *run, struct pp_error *err)
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

static double median_of(const struct run *run, const double *seconds)
{
    const int first = run->result->first_judged, count = count_of(run->training) - first;
    double *sorted = PP_ARRAY(run->arena, double, count);

    memcpy(sorted, seconds + first, sizeof(double) * (size_t)count);
    return pp_median(sorted, count);
}

static enum pp_status judge(struct run *run, struct pp_error *err)
{
    const struct pp_training *t = run->training;
    struct pp_training_result *r = run->result;

    r->step_median_s = median_of(run, r->step_s);
    r->elapsed_median_s = median_of(run, r->elapsed_s);
    PP_TRY(predict(run, err));
    PP_TRY(pp_train_slowdown(t, run->machine, &run->costs, r, err));
    PP_TRY(replay(run, err));
    PP_TRY(pp_machine_clock(run->machine, &r->clock, err));
    r->trace =
        pp_exec_trace(run->arena, t->machine.program, &run->costs, pp_machine_times(run->machine),
                      pp_machine_exchanged(run->machine), t->machine.backend->name);
    r->trace->clock_error_s = r->clock.error_s;
    PP_TRY(pp_train_metrics(run->arena, t, run->machine, &run->costs, r, err));
    if (run->reference && t->check == PP_CHECK_ALL)
        PP_TRY(compare(run, PP_VECTOR_WEIGHTS, &r->weights, err));
    return read_memory(run, err);
}

static enum pp_status train(struct run *run, struct pp_error *err)
{
    PP_TRY(begin_check(run, err));
    run->keeper.reference = run->reference;
    PP_TRY(pp_train_look(&run->keeper, run->machine, err));
    PP_TRY(pp_train_resume(&run->keeper, run->machine, err));
    memcpy(run->result->blind, run->keeper.blind, sizeof(run->keeper.blind));
    if (run->training->log && pp_log_begin(run->training->log, err) != PP_OK)
        return pp_error_prefix(err, "--log: ");
    run->ended_s = pp_clock_s();
    for (int k = 0; k < count_of(run->training); k++)
        PP_TRY(one_step(run, k, err));
    pp_train_export(&run->keeper, run->machine, run->result);
    pp_machine_graphs(run->arena, run->machine, &run->result->graphs);
    pp_machine_fallbacks(run->machine, &run->result->fallbacks);
    return judge(run, err);
}

/* Returns the number of steps to keep: all judged ones, or the last of them. */
static int kept_of(const struct pp_training *training, int judge)
{
    const int judged = count_of(training) - judge, most = training->machine.kept_steps;

    return judged > most && most > 0 ? most : judged;
}

static struct pp_stage_share share_of(const struct pp_machine_options *options)
{
    return (struct pp_stage_share){options->tp, 0, options->stages[0]->shape.is_sequence_parallel};
}

enum pp_status pp_train(struct pp_arena *arena, const struct pp_training *training,
                        struct pp_training_result *result, struct pp_error *err)
{
    const int steps = count_of(training);
    struct run run = {.arena = arena,
                      .training = training,
                      .result = result,
                      .keeper = {.training = training},
                      .calibration = pp_calibration_create(arena, training->machine.batch),
                      .ranges = ranges_of(steps, training->warmup)};

    *result = (struct pp_training_result){
        .losses = PP_ARRAY(arena, double, steps),
        .grad_norms = PP_ARRAY(arena, double, steps),
        .valid_losses = PP_ARRAY(arena, double, steps),
        .step_s = PP_ARRAY(arena, double, steps),
        .elapsed_s = PP_ARRAY(arena, double, steps),
        .expert_tokens = PP_ARRAY(arena, double, pp_net_expert_tokens(&training->net) + 1)};
    struct pp_machine_options options = training->machine;
    options.kept_steps = kept_of(training, run.ranges.judge);
    options.answer = pp_train_answer;
    options.answer_closure = &run.keeper;
    options.is_resumed = training->resumed;
    options.reads_states = training->check != PP_CHECK_NONE;
    if (training->check != PP_CHECK_NONE && options.meeting.index == 0) /* which has it */
        pp_reference_bytes(&training->net, options.kernels, options.batch, share_of(&options),
                           options.recipe->is_exact, &options.reserved_bytes,
                           &options.reserved_staging_bytes);
    result->first_judged = steps - options.kept_steps;
    PP_TRY(pp_machine_create(arena, &options, &run.machine, err));
    result->way = pp_machine_way(run.machine);
    result->is_member = pp_machine_is_member(run.machine);
    const enum pp_status status =
        result->is_member ? pp_machine_serve(run.machine, err) : train(&run, err);
    pp_train_leave(arena, &run.keeper, result);
    pp_machine_destroy(run.machine);
    return status;
}

enum pp_status pp_train_calibrate(struct pp_arena *arena, const struct pp_training *training,
                                  int steps, struct pp_calibration **calibration,
                                  struct pp_error *err)
{
    struct pp_step_result result;
    struct pp_machine *machine;
    enum pp_status status = PP_OK;

    *calibration = pp_calibration_create(arena, training->machine.batch);
    PP_TRY(pp_machine_create(arena, &training->machine, &machine, err));
    if (pp_machine_is_member(machine)) {
        status = pp_machine_serve(machine, err);
        steps = -1;
    }
    if (steps == 1)
        steps = 2; /* with probes and without */
    for (int step = 0; step <= steps && status == PP_OK; step++) {
        pp_machine_probes(machine, step % 2 == 1);
        status = pp_machine_step(machine, &training->text, step, &result, err);
        if (status == PP_OK && step > 0)
            pp_calibration_take(*calibration, machine, &training->machine);
    }
    pp_machine_destroy(machine);
    return status;
}
