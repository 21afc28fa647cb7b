/* pipesim plan: the best of what is left free, for a model on a cluster. */
#include "core/output.h"
#include "sim/commands.h"
#include "sim/plan.h"
#include "sim/report_text.h"
#include "sim/resolve.h"

#include <string.h>

/* What is neither given nor free: data parallel only, in the software that has all these ways to
 * cut state. */
#define DEFAULTS "--schedule", "1f1b", "--tp", "1", "--cp", "1", "--framework", "amsp"
static const struct pp_preset WITH_DP = {
    .name = "plan",
    .arguments = (const char *const[]){DEFAULTS, NULL},
};
static const struct pp_preset FLAT = {
    .name = "plan",
    .arguments = (const char *const[]){DEFAULTS, "--pp", "1", NULL},
};

static enum pp_status open_request(struct pp_arena *arena, const struct pp_parsed *parsed,
                                   struct pp_request *request, struct pp_error *err)
{
    PP_TRY(pp_request_open(arena, &pp_sim_cli, pp_presets, parsed, request, err));
    if (pp_request_has(request, "unit"))
        return pp_error_set(err, PP_EINVAL,
                            "--unit has no memory and no network: a plan needs a model and a "
                            "cluster");
    if (request->preset_row)
        return PP_OK;
    if (!pp_request_has(request, "gpus") && !pp_request_has(request, "dp"))
        return pp_error_set(err, PP_EINVAL, "--gpus N is needed: how many devices to plan for");
    return pp_request_defaults(arena, request, pp_request_has(request, "dp") ? &WITH_DP : &FLAT,
                               err);
}

/* What the resolver chose where a knob is free, or so that the run fits, is dropped: every point
 * says what it has. */
static void open_state(const struct pp_planner *planner, struct pp_config *config)
{
    config->prepared = NULL;
    if (config->chosen & PP_CHOSE_RECOMPUTE)
        config->recompute = PP_RECOMPUTE_NONE;
    for (int i = 0; i < planner->knob_count; i++)
        if (!strcmp(planner->knobs[i]->name, "shard"))
            config->state = pp_state_with_zero(&config->state, 0);
}

static enum pp_status write_points(struct pp_arena *arena, const struct pp_planner *planner,
                                   const char *path, struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(arena, path, &output, err));
    pp_planner_csv(planner, output.file);
    return pp_output_commit(&output, err);
}

enum pp_status pp_command_plan(struct pp_arena *arena, const struct pp_parsed *parsed, FILE *out,
                               struct pp_error *err)
{
    struct pp_planner planner = {0};
    struct pp_request request;
    struct pp_subject *subjects;
    int count;

    PP_TRY(open_request(arena, parsed, &request, err));
    PP_TRY(pp_planner_free(&request, &planner, err));
    enum pp_origin origin;
    pp_request_get(&request, "framework", &origin);
    planner.is_framework_chosen = origin != PP_FROM_FLAG;
    planner.objective = (enum pp_objective)pp_request_int(&request, "objective", 0);
    const char *path = pp_options_get(&pp_sim_cli, parsed, "output")->text;
    if (path)
        PP_TRY(pp_output_check(arena, path, err));
    PP_TRY(pp_subjects_open(arena, &request, &subjects, &count, err));
    if (count > 1)
        return pp_error_set(err, PP_EINVAL, "plan takes one schedule, not a list");
    PP_TRY(pp_resolve(arena, &request, &subjects[0], &planner.base, err));
    open_state(&planner, &planner.base);
    PP_TRY(pp_planner_run(arena, &planner, err));
    if (path)
        PP_TRY(write_points(arena, &planner, path, err));
    if (pp_request_has(&request, "json"))
        pp_planner_json(&planner, out);
    else if (!path || strcmp(path, "-") != 0)
        pp_planner_print(&planner, pp_request_int(&request, "top", 10), out);
    if (planner.fitting == 0 && pp_request_has(&request, "require-fit"))
        return pp_error_set(err, PP_EFIT, "none of the %d choices fits into %.1f GB", planner.count,
                            planner.base.cluster.device.memory_bytes / 1e9);
    return PP_OK;
}
