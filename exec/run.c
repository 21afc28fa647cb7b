#include "exec/run.h"

#include "core/file.h"
#include "core/progress.h"
#include "exec/report.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Durations belong to ops of one size. */
static enum pp_status check_same_size(const struct pp_exec_run *run, struct pp_error *err)
{
    const struct pp_batch *a = &run->plan.batch, *b = &run->other.batch;

    if (a->mbs == b->mbs && a->granules == b->granules && a->splits == b->splits)
        return PP_OK;
    return pp_error_set(
        err, PP_EINVAL,
        "--calibrate-on %s: its ops are of %d samples and %d tokens, those of %s of %d and %d; "
        "durations of one size say nothing of another: give both schedules the same --mbs, "
        "--splits and --concat",
        run->other.subject.name, b->mbs / b->granules, run->config.net.seq / b->splits,
        run->plan.subject.name, a->mbs / a->granules, run->config.net.seq / a->splits);
}

static enum pp_status open_plans(struct pp_arena *arena, const struct pp_request *request,
                                 struct pp_exec_run *run, struct pp_error *err)
{
    const char *name = pp_request_text(request, "schedule", NULL);
    const char *other = pp_request_text(request, "calibrate-on", NULL);
    struct pp_subject subjects[2] = {{.name = NULL}, {.name = NULL}};

    if (name && strchr(name, ','))
        return pp_error_set(err, PP_EINVAL,
                            "--schedule %s: pipeexec runs one schedule; pipesim compares several",
                            name);
    if (name)
        PP_TRY(pp_subject_open(arena, request, name, &subjects[0], err));
    if (other && pp_subject_open(arena, request, other, &subjects[1], err) != PP_OK)
        return pp_error_prefix(err, "--calibrate-on: ");
    PP_TRY(pp_subjects_check_dialect(request, subjects, 2, err));
    PP_TRY(pp_exec_plan_make(arena, request, &run->config, subjects[0], &run->plan, err));
    run->training = pp_exec_training(request, &run->config, &run->plan);
    if (!other)
        return PP_OK;
    subjects[1].is_listed = true; /* options that it does not have are not meant for it */
    if (pp_exec_plan_make(arena, request, &run->config, subjects[1], &run->other, err) != PP_OK)
        return pp_error_prefix(err, "--calibrate-on %s: ", other);
    return check_same_size(run, err);
}

/* ---- training -------------------------------------------------------------------------------- */

struct watch {
    struct pp_progress progress;
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

static enum pp_status train(struct pp_arena *arena, const struct pp_request *request,
                            struct pp_exec_run *run, struct pp_error *err)
{
    struct pp_calibration *calibration;
    struct watch watch = {.steps = run->config.steps, .is_quiet = pp_request_has(request, "quiet")};

    if (run->other.program) {
        const struct pp_training other = pp_exec_training(request, &run->config, &run->other);
        PP_TRY(pp_train_calibrate(arena, &other, run->config.warmup, &calibration, err));
        run->training.calibration = calibration;
    }
    run->training.on_step = on_step;
    run->training.closure = &watch;
    pp_progress_show(&watch.progress, "training", 0);
    const enum pp_status status = pp_train(arena, &run->training, &run->result, err);
    pp_progress_clear(&watch.progress);
    return status;
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* Known before hours of training, not behind them. */
static enum pp_status check_folder(const char *option, const char *path, struct pp_error *err)
{
    char *copy = strdup(path);
    const char *folder = dirname(copy);
    const bool is_writable = access(folder, W_OK) == 0;
    const int reason = errno;

    if (!is_writable)
        pp_error_set(err, PP_EFAIL, "--%s %s: cannot write to %s: %s", option, path, folder,
                     strerror(reason));
    free(copy);
    return is_writable ? PP_OK : PP_EFAIL;
}

static enum pp_status check_trace_name(const char *option, const char *path, struct pp_error *err)
{
    static const char *const SUFFIXES[] = {".csv", ".csv.gz", ".json", ".json.gz"};

    for (size_t i = 0; path && i < sizeof(SUFFIXES) / sizeof(*SUFFIXES); i++)
        if (pp_has_suffix(path, SUFFIXES[i]))
            return check_folder(option, path, err);
    if (!path)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--%s %s: the name must end in .csv, .csv.gz, .json or .json.gz", option,
                        path);
}

/* A new folder that only the user can read; nothing is ever overwritten there. */
static enum pp_status make_folder(struct pp_arena *arena, char **folder, struct pp_error *err)
{
    const char *place = getenv("TMPDIR");

    *folder = pp_arena_printf(arena, "%s/pipeexec-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(*folder))
        return pp_error_set(err, PP_EFAIL, "no folder for traces: %s: %s; give --trace FILE",
                            *folder, strerror(errno));
    return PP_OK;
}

/* Whoever reads the report gets both traces, to compare them; scripts that want --json ask. */
static enum pp_status choose_traces(struct pp_arena *arena, const struct pp_request *request,
                                    struct pp_exec_run *run, struct pp_error *err)
{
    char *folder;

    run->trace = pp_request_text(request, "trace", NULL);
    run->predicted_trace = pp_request_text(request, "predicted-trace", NULL);
    if (run->trace || run->predicted_trace || pp_request_has(request, "json") ||
        pp_request_has(request, "quiet"))
        return PP_OK;
    if (make_folder(arena, &folder, err) != PP_OK) /* nobody asked: go without */
        return PP_OK;
    run->trace = pp_arena_printf(arena, "%s/measured.csv", folder);
    if (run->result.prediction.trace)
        run->predicted_trace = pp_arena_printf(arena, "%s/predicted.csv", folder);
    return PP_OK;
}

static enum pp_status write_traces(const struct pp_exec_run *run, struct pp_error *err)
{
    if (run->trace)
        PP_TRY(pp_trace_write(run->result.trace, run->trace, err));
    if (run->predicted_trace)
        PP_TRY(pp_trace_write(run->result.prediction.trace, run->predicted_trace, err));
    return PP_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum pp_status judge(const struct pp_exec_run *run, struct pp_error *err)
{
    const struct pp_difference *d = &run->result.gradients;

    if (pp_exec_check_holds(run))
        return PP_OK;
    return pp_error_set(
        err, PP_ETOLERANCE,
        "gradients are not those of training on one rank: rel L2 %.1e, at most %.1e "
        "(%s of layer %d), where additions in another order explain %.1e",
        pp_difference_rel_l2(d), d->max_abs, d->worst ? d->worst : "-", d->worst_layer,
        pp_exec_check_bound(run));
}

enum pp_status pp_exec_command_run(struct pp_arena *arena, const struct pp_request *request,
                                   FILE *out, struct pp_error *err)
{
    const double started_s = now_s();
    struct pp_exec_run *run = PP_NEW(arena, struct pp_exec_run);

    PP_TRY(check_trace_name("trace", pp_request_text(request, "trace", NULL), err));
    PP_TRY(check_trace_name("predicted-trace", pp_request_text(request, "predicted-trace", NULL),
                            err));
    PP_TRY(pp_exec_resolve(arena, request, &run->config, err));
    PP_TRY(open_plans(arena, request, run, err));
    PP_TRY(train(arena, request, run, err));
    PP_TRY(choose_traces(arena, request, run, err));
    PP_TRY(write_traces(run, err));
    run->wall_s = now_s() - started_s;
    const enum pp_status verdict = judge(run, err);
    if (pp_request_has(request, "json") && verdict == PP_OK)
        pp_exec_report_json(run, out);
    else if (!pp_request_has(request, "json") && !pp_request_has(request, "quiet"))
        pp_exec_report_print(
            run, pp_terminal_detect(pp_request_text(request, "color", "auto"), out), out);
    return verdict;
}
