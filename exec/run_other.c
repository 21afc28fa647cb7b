/* The other schedule of --calibrate-on: its program, and the durations of its steps. */
#include "exec/run.h"

#include "exec/plan/plan.h"

static enum pp_status check_same_size(const struct pp_exec_run *run, struct pp_error *err)
{
    const struct pp_batch *a = &run->plan.batch, *b = &run->other.batch;

    if (a->mbs == b->mbs && a->granules == b->granules && a->splits == b->splits)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--calibrate-on %s: its ops are of %d samples and %d tokens, those of %s "
                        "of %d and %d; durations of one size do not predict another: give both "
                        "schedules the same --mbs, --splits and --concat",
                        run->other.subject.name, b->mbs / b->granules,
                        run->config.net.seq / b->splits, run->plan.subject.name,
                        a->mbs / a->granules, run->config.net.seq / a->splits);
}

enum pp_status pp_exec_other_open(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                  struct pp_subject subject, struct pp_exec_run *run,
                                  struct pp_error *err)
{
    PP_TRY(pp_exec_measured(wish, &run->config, &run->measured, err));
    if (!wish->calibrate_on)
        return PP_OK;
    subject.is_listed = true; /* options that it lacks are not meant for it */
    if (pp_exec_plan_make(arena, wish, &run->measured, subject, &run->other, err) != PP_OK)
        return pp_error_prefix(err, "--calibrate-on %s: ", wish->calibrate_on);
    return check_same_size(run, err);
}

enum pp_status pp_exec_other_measure(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                     struct pp_exec_run *run,
                                     const struct pp_calibration **calibration,
                                     struct pp_error *err)
{
    struct pp_training *other = PP_NEW(arena, struct pp_training); /* profiles keep it */
    struct pp_calibration *measured;

    run->measured.meeting = run->config.meeting; /* processes have been launched since */
    *other = pp_exec_training(wish, &run->measured, &run->other);
    other->machine.inject.kind = NULL;
    other->machine.on_stuck = run->training.machine.on_stuck;
    other->machine.stuck_closure = run->training.machine.stuck_closure;
    if (pp_exec_is_profiled(&run->measured, &run->config))
        other->profiled = &run->training;
    PP_TRY(pp_train_calibrate(arena, other, run->config.warmup, &measured, err));
    *calibration = measured;
    return PP_OK;
}
