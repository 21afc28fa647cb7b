/* pipesim plan of one layout: how to keep its state, and what it computes again. And the outputs
 * that all kinds of plans have. */
#include "core/text/output.h"
#include "core/units.h"
#include "sim/cli/wish.h"
#include "sim/command/plan_part.h"
#include "sim/page/page.h"
#include "sim/resolve/resolve.h"

#include <string.h>

/* ---- outputs --------------------------------------------------------------------------------- */

enum pp_status pp_plan_open_answer(struct pp_arena *arena, const struct pp_wish *wish,
                                   struct pp_plan_answer *answer, struct pp_error *err)
{
    answer->path = wish->output;
    PP_TRY(pp_stdout_owner(wish, &answer->owner, err));
    PP_TRY(pp_emit_open_plan(wish, &answer->tool, err));
    PP_TRY(pp_page_check(arena, wish, err));
    return answer->path ? pp_output_check(arena, answer->path, err) : PP_OK;
}

enum pp_status pp_plan_emit(struct pp_arena *arena, const struct pp_emit_tool *tool,
                            const struct pp_config *best, const char *remark, FILE *out,
                            struct pp_error *err)
{
    const struct pp_emit_run run = {.config = best, .fits = true, .remark = remark};

    return best ? pp_emit(arena, tool, &run, out, err)
                : pp_error_set(err, PP_EINVAL, "--emit: nothing fits, so there is no best");
}

enum pp_status pp_plan_write_rows(struct pp_arena *arena, const struct pp_search *search,
                                  const struct pp_state_plan *planner, const char *path,
                                  struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(arena, path, &output, err));
    if (search)
        pp_search_csv(arena, search, output.file);
    else
        pp_state_plan_csv(arena, planner, output.file);
    return pp_output_commit(&output, err);
}

/* ---- one layout ------------------------------------------------------------------------------ */

/* Values of options that are neither given nor free. One layout is data parallel only. If only
 * its state is free, the framework is the one that has all ways to shard it. */
#define SCHEDULE "--schedule", "1f1b"
#define DEFAULTS SCHEDULE, "--tp", "1", "--cp", "1"
#define SHARDING "--framework", "amsp"
static const struct pp_preset ONE_LAYOUT[2][2] = {
    /* [--dp is given][only ways to shard are free] */
    {{.name = "plan", .arguments = PP_NAMES(DEFAULTS, "--pp", "1")},
     {.name = "plan", .arguments = PP_NAMES(DEFAULTS, SHARDING, "--pp", "1")}},
    {{.name = "plan", .arguments = PP_NAMES(DEFAULTS)},
     {.name = "plan", .arguments = PP_NAMES(DEFAULTS, SHARDING)}},
};

static bool is_free(const struct pp_state_plan *planner, const char *knob)
{
    bool is_found = false;

    for (int i = 0; i < planner->knob_count; i++)
        is_found |= !strcmp(planner->knobs[i]->name, knob);
    return is_found;
}

/* Drops the resolver's choices of free knobs and of recomputation: each point has its own. */
static void open_state(const struct pp_state_plan *planner, struct pp_config *config)
{
    if (config->origin.chosen & PP_CHOSE_RECOMPUTE)
        config->costs.recompute = PP_RECOMPUTE_NONE, config->costs.again = 0;
    if (is_free(planner, "shard"))
        config->state = pp_state_with_zero(&config->state, 0);
}

enum pp_status pp_plan_open_one(struct pp_arena *arena, struct pp_wish *wish,
                                struct pp_state_plan *planner, struct pp_error *err)
{
    struct pp_subject *subjects;
    int count;

    *planner = (struct pp_state_plan){.wish = wish};
    PP_TRY(pp_state_plan_free(wish, planner, err));
    const bool is_sharding = is_free(planner, "shard") && !is_free(planner, "recompute");
    const struct pp_preset *preset = &ONE_LAYOUT[wish->given.dp.count > 0][is_sharding];
    if (!wish->request.preset_row)
        PP_TRY(pp_wish_defaults(arena, wish, preset, err));
    planner->is_framework_chosen = wish->given.framework.origin != PP_FROM_FLAG;
    planner->objective = (enum pp_objective)wish->objective;
    PP_TRY(pp_subjects_open(arena, wish, &subjects, &count, err));
    if (count > 1)
        return pp_error_set(err, PP_EINVAL, "--free shard takes one schedule, not a list");
    PP_TRY(pp_resolve(arena, wish, &subjects[0], &planner->base, NULL, err));
    open_state(planner, &planner->base);
    return PP_OK;
}

enum pp_status pp_plan_one(struct pp_arena *arena, struct pp_wish *wish, FILE *out,
                           struct pp_error *err)
{
    const int rows = wish->top;
    struct pp_state_plan planner;
    struct pp_plan_answer answer;

    PP_TRY(pp_plan_open_answer(arena, wish, &answer, err));
    PP_TRY(pp_plan_open_one(arena, wish, &planner, err));
    PP_TRY(pp_state_plan_run(arena, &planner, err));
    if (answer.path)
        PP_TRY(pp_plan_write_rows(arena, NULL, &planner, answer.path, err));
    if (answer.tool)
        PP_TRY(pp_plan_emit(arena, answer.tool, planner.fitting ? &planner.points[0].config : NULL,
                            NULL, out, err));
    else if (answer.owner == PP_STDOUT_JSON)
        pp_state_plan_json(arena, &planner, out);
    else if (answer.owner == PP_STDOUT_REPORT)
        pp_state_plan_print(arena, &planner, rows, out);
    const struct pp_page_plan plan = {.state = &planner, .rows = rows};
    PP_TRY(pp_page_write(arena, wish, pp_page_plan, &plan, err));
    if (planner.fitting == 0 && wish->require_fit)
        return pp_error_set(err, PP_EFIT, "none of the %d choices fits into %.1f GiB",
                            planner.count, pp_config_capacity_bytes(&planner.base) / PP_GIB);
    return PP_OK;
}
