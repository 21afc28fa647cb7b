/* The command of pipeexec: resolve, train, write traces, report. */
#include "exec/run.h"

#include "core/clock.h"
#include "core/printable.h"
#include "core/text/progress.h"
#include "exec/fit/fit.h"
#include "exec/plan/plan.h"
#include "exec/rendezvous/meeting.h"
#include "exec/report/report.h"
#include "exec/resolve/resume.h"
#include "exec/resolve/what_if.h"
#include "exec/tcp/launch.h"

#include <string.h>

/* ---- programs -------------------------------------------------------------------------------- */

static enum pp_status open_plans(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                 struct pp_exec_run *run, struct pp_error *err)
{
    struct pp_subject subjects[2] = {{.name = NULL}, {.name = NULL}};
    char *rest = wish->schedule ? pp_arena_strdup(arena, wish->schedule) : NULL;

    pp_subject_next(&rest);
    if (rest)
        return pp_error_set(err, PP_EINVAL,
                            "--schedule %s: pipeexec runs one schedule; pipesim compares several",
                            wish->schedule);
    if (wish->schedule)
        PP_TRY(pp_subject_open_typed(arena, &wish->request, wish->schedule, &subjects[0], err));
    if (wish->calibrate_on && pp_subject_open_typed(arena, &wish->request, wish->calibrate_on,
                                                    &subjects[1], err) != PP_OK)
        return pp_error_prefix(err, "--calibrate-on: ");
    PP_TRY(pp_subjects_check_dialect(&wish->request, subjects, 2, err));
    PP_TRY(pp_exec_plan_make(arena, wish, &run->config, subjects[0], &run->plan, err));
    run->what_if = pp_exec_what_if_text(arena, wish);
    run->training = pp_exec_training(wish, &run->config, &run->plan);
    if (pp_inject_check(&run->config.inject, run->plan.program, run->plan.batch.replicas,
                        run->config.tp, run->config.first_step, run->config.steps, err) != PP_OK)
        return pp_error_prefix(err, "--inject: ");
    return pp_exec_other_open(arena, wish, subjects[1], run, err);
}

/* ---- training -------------------------------------------------------------------------------- */

struct watch {
    struct pp_progress progress;
    pp_exec_stuck_fn on_stuck;
    int steps;
    bool is_quiet;
};

static void on_step(void *closure, int step, const struct pp_step_result *result)
{
    struct watch *watch = closure;
    char what[64];

    snprintf(what, sizeof(what), "step %d of %d, loss %.4f", step + 1, watch->steps, result->loss);
    if (!watch->is_quiet)
        pp_progress_show(&watch->progress, what, (double)(step + 1) / watch->steps);
}

/* Warns at once, because the run may end much later. */
static void on_unwritten(void *closure, const char *what, const struct pp_error *error)
{
    (void)closure;
    pp_tell("pipeexec: warning: no %s: %s", what, error->message);
}

static void on_stuck(void *closure, const struct pp_error *error)
{
    struct watch *watch = closure;

    pp_progress_clear(&watch->progress);
    watch->on_stuck(error);
}

static enum pp_status train(struct pp_arena *arena, const struct pp_exec_wish *wish,
                            struct pp_exec_run *run, pp_exec_stuck_fn stuck, struct pp_error *err)
{
    struct watch watch = {.on_stuck = stuck, .steps = run->config.steps, .is_quiet = wish->quiet};

    run->training.machine.on_stuck = on_stuck;
    run->training.machine.stuck_closure = &watch;

    if (run->other.program)
        PP_TRY(pp_exec_other_measure(arena, wish, run, &run->training.calibration, err));
    run->training.on_step = on_step;
    run->training.on_unwritten = on_unwritten;
    run->training.closure = &watch;
    pp_progress_show(&watch.progress, "training", 0);
    const enum pp_status status = pp_train(arena, &run->training, &run->result, err);
    pp_progress_clear(&watch.progress);
    run->training.machine.stuck_closure = run->training.closure = NULL;
    return status;
}

static enum pp_status check_inputs(const struct pp_exec_wish *wish,
                                   const struct pp_transport *transport, struct pp_error *err)
{
    const struct pp_given *const inputs[] = {&wish->given.schedule, &wish->given.calibrate_on,
                                             &wish->given.data, &wish->given.valid_data};

    for (size_t i = 0; i < PP_COUNT(inputs); i++)
        if (inputs[i]->count && strcmp(inputs[i]->text, "-") == 0)
            return pp_error_set(err, PP_EINVAL,
                                "%s: with --transport %s every process reads it, which standard "
                                "input allows once; give a file",
                                inputs[i]->typed, transport->name);
    return PP_OK;
}

/* Starts a process for each rank, if the transport needs them and no launcher has done so. */
static enum pp_status launch(struct pp_arena *arena, const struct pp_exec_wish *wish,
                             struct pp_exec_run *run, struct pp_tcp_launched **others,
                             struct pp_error *err)
{
    const int count = run->plan.program->ranks * run->plan.batch.replicas * run->config.tp;

    *others = NULL;
    PP_TRY(pp_rendezvous_open(arena, &run->config.meeting, err));
    run->training.machine.meeting = run->config.meeting;
    if (!run->config.transport->is_apart || run->config.meeting.count > 1)
        return PP_OK;
    if (count == 1)
        return pp_error_set(
            err, PP_EINVAL,
            "--transport %s: one rank has no peer to send to; use --transport local",
            run->config.transport->name);
    PP_TRY(check_inputs(wish, run->config.transport, err));
    PP_TRY(pp_tcp_launch(arena, count, &run->config.meeting, others, err));
    run->training.machine.meeting = run->config.meeting;
    return PP_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum pp_status judge(const struct pp_exec_run *run, struct pp_error *err)
{
    const struct pp_difference *d = &run->result.gradients;

    if (pp_exec_check_holds(run))
        return PP_OK;
    pp_error_set(err, PP_ETOLERANCE,
                 "gradients are not those of training on one rank: rel L2 %.1e, at most %.1e "
                 "(%s of layer %d), where additions in another order explain %.1e",
                 pp_difference_rel_l2(d), d->max_abs, d->worst ? d->worst : "-", d->worst_layer,
                 pp_exec_check_bound(run));
    return err->status;
}

/* Gives the folder of --save its name. Weights that did not pass their check have another one, so
 * that they are not taken by mistake. */
static enum pp_status publish(struct pp_exec_run *run, enum pp_status verdict, struct pp_error *err)
{
    const struct pp_hub_export *export = run->training.export;
    struct pp_error *unwritten = &run->result.export_error;

    if (!export)
        return verdict;
    const struct pp_hub_folder *folder = export->folder;
    if (unwritten->status == PP_OK)
        pp_hub_folder_publish(folder, verdict == PP_OK ? folder->path : folder->differs, unwritten);
    if (verdict == PP_OK)
        return PP_OK;
    return unwritten->status == PP_OK
               ? pp_error_append(err, "; so --save has written %s, not %s", folder->differs,
                                 folder->path)
               : pp_error_append(err, "; --save has written nothing: %s", unwritten->message);
}

/* Warns where the report does not say it. */
static void warn_slow(const struct pp_exec_run *run, FILE *out)
{
    char text[PP_EXEC_TEXT_BYTES];

    pp_exec_fallbacks_text(run, text);
    if (run->result.fallbacks.own == 0)
        return;
    fflush(out);
    pp_tell("pipeexec: warning: %s", text);
}

static enum pp_status report(struct pp_arena *arena, const struct pp_exec_wish *wish,
                             const struct pp_exec_run *run, enum pp_status verdict, FILE *out,
                             struct pp_error *err)
{
    const struct pp_terminal terminal = pp_terminal_detect(wish->given.color.text, out);

    if (wish->quiet || wish->gantt || wish->json)
        warn_slow(run, out);
    if (wish->quiet)
        return PP_OK;
    if (wish->gantt)
        return pp_exec_gantt_print(arena, run, terminal, out, err);
    if (!wish->json)
        pp_exec_report_print(run, terminal, out);
    else if (verdict == PP_OK)
        pp_exec_report_json(run, out);
    return PP_OK;
}

/* Says that ranks share a GPU while the run can still be typed otherwise. */
static void note_shared(const struct pp_exec_run *run)
{
    char text[PP_EXEC_TEXT_BYTES] = "";

    if (!run->config.transport->is_apart)
        pp_exec_device_note(run, text, sizeof(text));
    for (char *c = text; *c; c++)
        *c = *c == '~' ? ' ' : *c;
    if (text[0])
        pp_tell("pipeexec: note: %s", text);
}

/* The first error is that of the run; a later one is a warning. */
static enum pp_status join(enum pp_status status, const struct pp_error *later, const char *what,
                           FILE *out, struct pp_error *err)
{
    if (status == PP_OK && later->status != PP_OK)
        *err = *later;
    if (status == PP_OK || later->status == PP_OK)
        return status == PP_OK ? later->status : status;
    fflush(out);
    pp_tell("pipeexec: warning: no %s: %s", what, later->message);
    return status;
}

/* The error of a file that could not be written during the training, if all else is well. */
static enum pp_status unwritten_of(const struct pp_exec_run *run, enum pp_status status,
                                   struct pp_error *err)
{
    const struct pp_training_result *r = &run->result;
    const struct pp_error *const errors[] = {&r->checkpoint_error, &r->export_error, &r->log_error};

    for (size_t i = 0; i < PP_COUNT(errors) && status == PP_OK; i++)
        if (errors[i]->status != PP_OK) {
            *err = *errors[i];
            status = err->status;
            if (errors[i] == &r->log_error)
                pp_error_prefix(err, "%d of %d rows of the log are missing: ", r->missing_rows,
                                run->config.steps - run->config.first_step);
        }
    return status;
}

/* Resolves and checks everything before training. `with`: see pp_exec_resume_open(). */
static enum pp_status prepare(struct pp_arena *arena, const struct pp_exec_wish *with,
                              const struct pp_checkpoint *resumed, struct pp_exec_run *run,
                              struct pp_error *err)
{
    PP_TRY(pp_exec_resolve(arena, with, resumed, &run->config, err));
    PP_TRY(pp_exec_resume_check(with, &run->config, err));
    PP_TRY(open_plans(arena, with, run, err));
    PP_TRY(pp_exec_fit(arena, with, run, err));
    PP_TRY(pp_exec_valid(arena, with, run, err));
    PP_TRY(pp_exec_checkpoints_open(arena, with, run, err));
    PP_TRY(pp_exec_save_open(arena, with, run, err));
    return pp_exec_log_open(arena, with, run, err);
}

enum pp_status pp_exec_command_run(struct pp_arena *arena, const struct pp_exec_wish *typed,
                                   FILE *out, pp_exec_stuck_fn stuck, struct pp_error *err)
{
    const double started_s = pp_clock_s();
    struct pp_exec_run *run = PP_NEW(arena, struct pp_exec_run);
    struct pp_exec_wish *wish = PP_NEW(arena, struct pp_exec_wish);
    const struct pp_checkpoint *resumed;
    struct pp_tcp_launched *others;
    struct pp_plot_target target;
    struct pp_error unwritten = {0}, undrawn = {0};

    PP_TRY(pp_exec_traces_check(arena, typed, err));
    PP_TRY(pp_exec_plot_open(arena, typed, out, &target, err));
    PP_TRY(pp_exec_resume_open(arena, typed, wish, &resumed, err));
    PP_TRY(prepare(arena, wish, resumed, run, err));
    if (run->config.doubt[0])
        pp_tell("pipeexec: warning: %s", run->config.doubt);
    if (!wish->quiet)
        note_shared(run);
    PP_TRY(launch(arena, wish, run, &others, err));
    const enum pp_status trained = train(arena, wish, run, stuck, err);
    pp_launched_end(others, trained == PP_OK ? NULL : err);
    PP_TRY(trained);
    if (run->result.is_member)
        return PP_OK;
    run->config.transport = run->result.way.transport;
    /* a full disk does not undo the training: the report is printed all the same */
    pp_exec_traces_write(arena, wish, run, &unwritten);
    run->wall_s = pp_clock_s() - started_s;
    enum pp_status status = publish(run, judge(run, err), err);
    if (report(arena, wish, run, status, out, &undrawn) == PP_OK)
        pp_exec_plot_draw(arena, run, (enum pp_exec_plot_kind)wish->plot_kind, &target, &undrawn);
    status = unwritten_of(run, status, err);
    status = join(status, &unwritten, "traces", out, err);
    return join(status, &undrawn, "picture", out, err);
}
