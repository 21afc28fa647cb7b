/* pipesim export: one step of a run, in the formats of other simulators. */
#include "sim/baseline.h"
#include "sim/commands.h"
#include "sim/export.h"
#include "sim/resolve.h"

#include "core/output.h"

#include <string.h>

/* A step by itself. */
static enum pp_status run(struct pp_arena *arena, const struct pp_request *request,
                          const struct pp_subject *subject, struct pp_result *result,
                          struct pp_error *err)
{
    struct pp_config config;

    PP_TRY(pp_resolve(arena, request, subject, &config, err));
    config.engine_options.plan.steps = 1;
    config.engine_options.plan.is_barrier_free = false;
    if (subject->schedule && subject->schedule->is_continuous)
        fprintf(stderr,
                "pipesim: warning: %s updates without a flush; exported is one step with one\n",
                subject->name);
    return pp_simulate(arena, &config, PP_FULL, result, err);
}

static enum pp_status write_goal(struct pp_arena *arena, const struct pp_export *export,
                                 const char *path, FILE *out, struct pp_error *err)
{
    struct pp_output output;

    if (!strcmp(path, "-")) {
        pp_export_goal(export, out);
        return PP_OK;
    }
    PP_TRY(pp_output_open(arena, path, &output, err));
    pp_export_goal(export, output.file);
    return pp_output_commit(&output, err);
}

enum pp_status pp_command_export(struct pp_arena *arena, const struct pp_parsed *parsed, FILE *out,
                                 struct pp_error *err)
{
    struct pp_request request;
    struct pp_subject *subjects;
    struct pp_result result;
    struct pp_export export;
    int count;

    PP_TRY(pp_baseline_apply(arena, &parsed, err));
    PP_TRY(pp_request_open(arena, &pp_sim_cli, pp_presets, parsed, &request, err));
    const struct pp_option_value *wires = pp_request_get(&request, "wires", NULL);
    if (!pp_request_has(&request, "to"))
        return pp_error_set(err, PP_EINVAL, "--to FORMAT is needed: goal");
    PP_TRY(pp_subjects_open(arena, &request, &subjects, &count, err));
    if (count != 1)
        return pp_error_set(err, PP_EINVAL,
                            "pipesim export writes one schedule, --schedule lists %d", count);
    PP_TRY(run(arena, &request, &subjects[0], &result, err));
    PP_TRY(pp_export_open(arena, &result,
                          wires ? (enum pp_export_wires)wires->integer : PP_WIRES_NETWORK, &export,
                          err));
    return write_goal(arena, &export, pp_request_text(&request, "output", "-"), out, err);
}
