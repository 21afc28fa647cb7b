/* A training run. Its first step warms up caches, the next ones calibrate, the rest is judged. A
 * run of two steps has no warm-up, and a run of one is calibrated and judged on the same step. */
#include "exec/train/parts.h"

#include "core/clock.h"
#include "exec/predict/profile.h"

#include <math.h>
#include <string.h>

static struct pp_train_ranges ranges_of(int steps, int warmup)
{
    if (steps < 3)
        return (struct pp_train_ranges){0, steps - 1};
    return (struct pp_train_ranges){1, 1 + warmup < steps - 1 ? 1 + warmup : steps - 1};
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void note_step(struct pp_train_run *run, int k, const struct pp_step_result *result)
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
static bool has_probes(const struct pp_train_run *run, int k)
{
    return k == run->ranges.calibrate && k + 1 < run->ranges.judge &&
           has_pairs(run->training->machine.program);
}

static enum pp_status one_step(struct pp_train_run *run, int k, struct pp_error *err)
{
    const struct pp_training *t = run->training;
    const int step = t->first_step + k;
    const bool calibrates = k >= run->ranges.calibrate && k < run->ranges.judge;
    struct pp_training_result *r = run->result;
    struct pp_step_result result;

    if (pp_train_is_checked(run, step))
        PP_TRY(pp_train_reference_step(run, step, err));
    pp_machine_probes(run->machine, has_probes(run, k));
    pp_machine_on_gradients(run->machine,
                            pp_train_is_checked(run, step) ? pp_train_on_gradients : NULL, run);
    PP_TRY(pp_machine_step(run->machine, &t->text, step, &result, err));
    if (calibrates || pp_train_steps(t) == 1)
        pp_calibration_take(run->calibration, run->machine, &t->machine);
    if (pp_train_is_checked(run, step))
        r->is_loss_equal &= result.loss == run->reference_loss;
    if (run->reference && t->check == PP_CHECK_ALL)
        PP_TRY(pp_train_reference_update(run, step, err));
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

static enum pp_status train(struct pp_train_run *run, struct pp_error *err)
{
    PP_TRY(pp_train_begin_check(run, err));
    run->keeper.reference = run->reference;
    PP_TRY(pp_train_look(&run->keeper, run->machine, err));
    PP_TRY(pp_train_resume(&run->keeper, run->machine, err));
    if (run->plain && run->training->resumed)
        PP_TRY(pp_reference_take_state(run->plain, run->reference, err));
    memcpy(run->result->blind, run->keeper.blind, sizeof(run->keeper.blind));
    if (run->training->log && pp_log_begin(run->training->log, err) != PP_OK)
        return pp_error_prefix(err, "--log: ");
    run->ended_s = pp_clock_s();
    for (int k = 0; k < pp_train_steps(run->training); k++)
        PP_TRY(one_step(run, k, err));
    pp_train_export(&run->keeper, run->machine, run->result);
    pp_machine_graphs(run->arena, run->machine, &run->result->graphs);
    pp_machine_fallbacks(run->machine, &run->result->fallbacks);
    return pp_train_judge(run, err);
}

/* Returns the number of steps to keep: all judged ones, or the last of them. */
static int kept_of(const struct pp_training *training, int judge)
{
    const int judged = pp_train_steps(training) - judge, most = training->machine.kept_steps;

    return judged > most && most > 0 ? most : judged;
}

enum pp_status pp_train(struct pp_arena *arena, const struct pp_training *training,
                        struct pp_training_result *result, struct pp_error *err)
{
    const int steps = pp_train_steps(training);
    struct pp_train_run run = {.arena = arena,
                               .training = training,
                               .result = result,
                               .keeper = {.training = training},
                               .calibration = pp_calibration_create(arena, training->machine.batch),
                               .ranges = ranges_of(steps, training->warmup)};

    *result = (struct pp_training_result){
        .losses = PP_ARRAY(arena, double, steps),
        .grad_norms = PP_ARRAY(arena, double, steps),
        .plain_losses = PP_ARRAY(arena, double, steps),
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
        pp_train_reserve(training, &options);
    result->first_judged = steps - options.kept_steps;
    PP_TRY(pp_machine_create(arena, &options, &run.machine, err));
    result->way = pp_machine_way(run.machine);
    result->is_member = pp_machine_is_member(run.machine);
    const enum pp_status status =
        result->is_member ? pp_machine_serve(run.machine, err) : train(&run, err);
    pp_train_leave(arena, &run.keeper, run.machine, result);
    pp_machine_destroy(run.machine);
    return status;
}

/* Two profiles for a training with other groups; `of` NULL: none. */
struct profiles {
    const struct pp_training *of[2];
    struct pp_profile *profile[2];
};

static enum pp_status open_profiles(struct pp_arena *arena, const struct pp_training *training,
                                    struct profiles *profiles, struct pp_error *err)
{
    *profiles = (struct profiles){.of = {training, training->profiled}};
    for (int k = 0; k < 2 && training->profiled; k++)
        PP_TRY(pp_profile_create(arena, &profiles->of[k]->machine, &profiles->profile[k], err));
    return PP_OK;
}

/* Both run in turn, so that they meet the same disturbances. */
static enum pp_status run_profiles(struct profiles *profiles, const struct pp_machine *machine,
                                   int step, struct pp_error *err)
{
    enum { GRANULES = 4 };
    const struct pp_profiled from = {machine, &profiles->of[0]->machine};

    for (int k = 0; k < 2 * GRANULES && profiles->of[1]; k++)
        PP_TRY(pp_profile_run(profiles->profile[k % 2], from, &profiles->of[k % 2]->text, step,
                              k / 2, err));
    return PP_OK;
}

enum pp_status pp_train_calibrate(struct pp_arena *arena, const struct pp_training *training,
                                  int steps, struct pp_calibration **calibration,
                                  struct pp_error *err)
{
    struct pp_step_result result;
    struct pp_machine *machine;
    struct profiles profiles;
    enum pp_status status = PP_OK;

    *calibration = pp_calibration_create(arena, training->machine.batch);
    PP_TRY(open_profiles(arena, training, &profiles, err));
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
        if (status == PP_OK && step > 0)
            status = run_profiles(&profiles, machine, step, err);
    }
    pp_machine_destroy(machine);
    if (profiles.of[1])
        *calibration =
            pp_calibration_of_layout(arena, *calibration, profiles.profile[0], profiles.profile[1]);
    return status;
}
