/* pipesim export: one step of a run, in formats of other engines. */
#include "sim/export/export.h"
#include "sim/check/baseline.h"
#include "sim/command/commands.h"
#include "sim/resolve/resolve.h"

#include "core/printable.h"
#include "core/text/output.h"

#include <string.h>

struct job {
    const struct pp_wish *wish;
    const struct format *format;
    const struct pp_result *result;
};
struct format {
    const char *name;
    enum pp_status (*write)(struct pp_arena *arena, const struct job *job, FILE *out,
                            struct pp_error *err);
    bool has_wires; /* --wires chooses how messages get their durations */
    bool is_folder;
    enum pp_pytorch_list list;
};

/* Simulates one step with a barrier. */
static enum pp_status run(struct pp_arena *arena, const struct pp_wish *wish,
                          const struct pp_subject *subject, struct pp_result *result,
                          struct pp_error *err)
{
    struct pp_prepared prepared = {0};
    struct pp_config config;

    PP_TRY(pp_resolve(arena, wish, subject, &config, &prepared, err));
    config.engine_options.eval.steps = 1;
    config.engine_options.eval.is_barrier_free = false;
    if (subject->schedule && subject->schedule->is_continuous)
        pp_tell("pipesim: warning: %s updates without a flush; exported is one step with one",
                subject->name);
    return pp_simulate(arena, &config, PP_FULL, &prepared, result, err);
}

/* ---- formats --------------------------------------------------------------------------------- */

static enum pp_status goal(struct pp_arena *arena, const struct job *job, FILE *out,
                           struct pp_error *err)
{
    struct pp_export export;

    PP_TRY(
        pp_export_open(arena, job->result, (enum pp_export_wires)job->wish->wires, &export, err));
    pp_export_goal(&export, out);
    return PP_OK;
}

static enum pp_status pytorch(struct pp_arena *arena, const struct job *job, FILE *out,
                              struct pp_error *err)
{
    const char *warning;

    PP_TRY(pp_export_pytorch(arena, job->result->program, job->format->list, out, &warning, err));
    if (warning)
        pp_tell("pipesim: warning: %s", warning);
    return PP_OK;
}

/* Writes a folder, and nothing to `out`. */
static enum pp_status chakra(struct pp_arena *arena, const struct job *job, FILE *out,
                             struct pp_error *err)
{
    struct pp_export export;

    (void)out;
    PP_TRY(pp_export_open(arena, job->result, PP_WIRES_COLLECTIVES, &export, err));
    return pp_export_chakra(&export, job->wish->output, err);
}

/* Formats in the order of the choices of --to. */
static const struct format FORMATS[] = {
    {"goal", goal, .has_wires = true},
    {"chakra", chakra, .is_folder = true},
    {"pytorch", pytorch, .list = PP_PYTORCH_COMPUTE},
    {"pytorch-comms", pytorch, .list = PP_PYTORCH_COMMS},
    {"pytorch-waits", pytorch, .list = PP_PYTORCH_WAITS},
};

static enum pp_status write_file(struct pp_arena *arena, const struct job *job, FILE *out,
                                 struct pp_error *err)
{
    const struct format *format = job->format;
    const char *path = job->wish->output;
    struct pp_output output;

    if (format->is_folder || !path || !strcmp(path, "-"))
        return format->write(arena, job, out, err);
    PP_TRY(pp_output_open(arena, path, &output, err));
    const enum pp_status status = format->write(arena, job, output.file, err);
    if (status == PP_OK)
        return pp_output_commit(&output, err);
    pp_output_discard(&output);
    return status;
}

static enum pp_status find_format(const struct pp_wish *wish, const struct format **format,
                                  struct pp_error *err)
{
    if (!wish->given.to.count)
        return pp_error_set(err, PP_EINVAL,
                            "--to FORMAT is needed: goal, chakra, pytorch, "
                            "pytorch-comms or pytorch-waits");
    *format = &FORMATS[wish->to];
    if (!(*format)->has_wires && wish->given.wires.count)
        return pp_error_set(
            err, PP_EINVAL,
            "--wires has no effect with --to %s, which has no durations of messages",
            (*format)->name);
    if ((*format)->is_folder && (!wish->output || !strcmp(wish->output, "-")))
        return pp_error_set(err, PP_EINVAL, "--to %s writes a folder: -o FOLDER is needed",
                            (*format)->name);
    return PP_OK;
}

enum pp_status pp_command_export(struct pp_arena *arena, const struct pp_wish *typed, FILE *out,
                                 struct pp_error *err)
{
    const struct format *format = NULL;
    const struct pp_parsed *flags = typed->request.flags;
    struct pp_wish wish;
    struct pp_subject *subjects;
    struct pp_result result;
    int count;

    PP_TRY(pp_baseline_apply(arena, &flags, err));
    PP_TRY(pp_wish_open(arena, flags, &wish, err));
    PP_TRY(find_format(&wish, &format, err));
    PP_TRY(pp_subjects_open(arena, &wish, &subjects, &count, err));
    if (count != 1)
        return pp_error_set(err, PP_EINVAL,
                            "pipesim export writes one schedule, --schedule lists %d", count);
    PP_TRY(run(arena, &wish, &subjects[0], &result, err));
    const struct job job = {&wish, format, &result};
    return write_file(arena, &job, out, err);
}
