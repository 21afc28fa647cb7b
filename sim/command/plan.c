/* pipesim plan: the best choice of the free knobs, for a model on a cluster. Knobs are those of
 * layouts (sim/plan/search.h) or the ways to shard the state of one layout (sim/plan/state.h). */
#include "core/text/output.h"
#include "core/units.h"
#include "sim/command/commands.h"
#include "sim/command/plan_part.h"
#include "sim/page/page.h"
#include "sim/resolve/mode.h"
#include "sim/resolve/resolve.h"
#include "sim/serving/serving.h"

#include <string.h>

/* Values of options that are neither given nor free. */
static const struct pp_preset LAYOUTS = {
    .name = "plan",
    .arguments = PP_NAMES("--schedule", "1f1b"),
};

static enum pp_status open_wish(const struct pp_wish *wish, struct pp_error *err)
{
    if (wish->objective > PP_OBJECTIVE_COMM)
        return pp_error_set(err, PP_EINVAL, "%s serves; give --mode infer, or --objective step",
                            wish->given.objective.typed);
    if (wish->given.unit.count)
        return pp_error_set(err, PP_EINVAL,
                            "--unit has no memory and no network: a plan needs a model and a "
                            "cluster");
    if (!wish->request.preset_row && !wish->given.gpus.count && !wish->given.nodes.count &&
        !wish->given.dp.count)
        return pp_error_set(err, PP_EINVAL,
                            "--gpus N (or --nodes N) is needed: how many devices to plan for");
    return PP_OK;
}

/* Is true if only the sharding of state and recomputation are free. */
static bool is_one_layout(const struct pp_wish *wish)
{
    const char *text = wish->free;

    return text ? pp_state_plan_has(text) : wish->objective == PP_OBJECTIVE_COMM;
}

/* ---- layouts --------------------------------------------------------------------------------- */

/* Finds the first row, or a twin of one, that the framework runs unchanged. If it runs none,
 * `config` is that of the first row, and `*at` is 0. */
static enum pp_status first_that_runs(struct pp_arena *arena, const struct pp_emit_tool *tool,
                                      const struct pp_search *search, struct pp_config *config,
                                      int *at, struct pp_error *err)
{
    for (*at = 0; *at < search->count; ++*at) {
        const struct pp_search_row *row = &search->rows[*at];
        for (int k = -1; k < row->twin_count; k++) {
            PP_TRY(pp_search_config(arena, &search->space, k < 0 ? row->point : row->twins[k].point,
                                    config, err));
            if (pp_emit_runs(arena, tool, config))
                return PP_OK;
        }
    }
    *at = 0;
    return pp_search_config(arena, &search->space, search->rows[0].point, config, err);
}

/* Writes the best layout that the framework runs unchanged. If it runs none of the simulated ones,
 * writes the best of all, with the layout that runs in its place. */
static enum pp_status emit_layout(struct pp_arena *arena, const struct pp_emit_tool *tool,
                                  const struct pp_search *search, FILE *out, struct pp_error *err)
{
    struct pp_config first, config;
    int i;

    if (search->count == 0)
        return pp_plan_emit(arena, tool, NULL, NULL, out, err);
    PP_TRY(pp_search_config(arena, &search->space, search->rows[0].point, &first, err));
    PP_TRY(first_that_runs(arena, tool, search, &config, &i, err));
    if (i == 0)
        return pp_plan_emit(arena, tool, &config, NULL, out, err);
    const struct pp_layout *l = &first.layout;
    const char *remark = pp_arena_printf(
        arena,
        "This is choice %d of the plan, the first that runs there as it is; it takes %.1f %% more "
        "time than choice 1: %s, TP %d x CP %d x PP %d x DP %d.",
        i + 1,
        100 * (search->rows[i].outcome.s_per_sample / search->rows[0].outcome.s_per_sample - 1),
        first.schedule_name, l->tp, l->cp, l->pp, l->dp);
    return pp_plan_emit(arena, tool, &config, remark, out, err);
}

static enum pp_status plan_layouts(struct pp_arena *arena, struct pp_wish *wish, FILE *out,
                                   struct pp_error *err)
{
    struct pp_search *search = PP_NEW(arena, struct pp_search);
    const int rows = wish->top;
    struct pp_plan_answer answer;

    PP_TRY(pp_plan_open_answer(arena, wish, &answer, err));
    *search = (struct pp_search){.is_exhaustive = wish->exhaustive,
                                 .jobs = wish->jobs,
                                 .top = rows,
                                 .margin_frac = PP_PLANNER_TIE_FRAC};
    if (wish->objective == PP_OBJECTIVE_COMM)
        return pp_error_set(err, PP_EINVAL,
                            "--objective comm compares ways to cut the state of one layout: "
                            "--free shard");
    if (wish->cost)
        PP_TRY(pp_resolve_cost(arena, wish, &search->space.fixed, err));
    else if (!wish->request.preset_row)
        PP_TRY(pp_wish_defaults(arena, wish, &LAYOUTS, err));
    PP_TRY(pp_search_free(wish, &search->space, err));
    search->space.tool = answer.tool ? pp_emit_software(answer.tool) : NULL;
    PP_TRY(pp_search_open(arena, wish, &search->space, err));
    PP_TRY(pp_search_run(arena, search, err));
    if (answer.path)
        PP_TRY(pp_plan_write_rows(arena, search, NULL, answer.path, err));
    if (answer.tool)
        PP_TRY(emit_layout(arena, answer.tool, search, out, err));
    else if (answer.owner == PP_STDOUT_JSON)
        pp_search_json(arena, search, out);
    else if (answer.owner == PP_STDOUT_REPORT)
        pp_search_print(arena, search, rows, out);
    const struct pp_page_plan plan = {.layouts = search, .rows = rows};
    PP_TRY(pp_page_write(arena, wish, pp_page_plan, &plan, err));
    if (search->loss_count)
        return pp_error_set(
            err, PP_EFAIL, "%d layout%s tried in vain, so another may be the best: %s",
            search->loss_count, search->loss_count == 1 ? " was" : "s were", search->losses[0].why);
    if (search->count == 0 && wish->require_fit)
        return pp_error_set(err, PP_EFIT, "no layout fits into %.1f GiB",
                            pp_config_capacity_bytes(&search->space.fixed) / PP_GIB);
    return PP_OK;
}

/* ---- generation ------------------------------------------------------------------------------ */

/* Refuses options that a plan to serve does not have. */
static enum pp_status check_serving(const struct pp_wish *wish, struct pp_error *err)
{
    const struct pp_given *const others[] = {&wish->given.free, &wish->given.largest,
                                             &wish->given.exhaustive, &wish->given.unit};

    for (size_t i = 0; i < PP_COUNT(others); i++)
        if (others[i]->count)
            return pp_error_set(err, PP_EINVAL,
                                "%s has no effect with --mode infer: tp, pp, dp and batch are free "
                                "where they are not given",
                                others[i]->typed);
    return PP_OK;
}

static enum pp_status write_points(struct pp_arena *arena, const struct pp_serving *serving,
                                   const char *path, struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(arena, path, &output, err));
    pp_serving_csv(serving, output.file);
    return pp_output_commit(&output, err);
}

static enum pp_status plan_serving(struct pp_arena *arena, struct pp_wish *wish, FILE *out,
                                   struct pp_error *err)
{
    struct pp_serving serving;
    struct pp_plan_answer answer;
    const struct pp_page_serving page = {.serving = &serving, .rows = wish->top};

    PP_TRY(check_serving(wish, err));
    PP_TRY(pp_resolve_mode(wish, err));
    PP_TRY(pp_plan_open_answer(arena, wish, &answer, err));
    PP_TRY(pp_serving_run(arena, wish, &serving, err));
    if (answer.path)
        PP_TRY(write_points(arena, &serving, answer.path, err));
    if (answer.owner == PP_STDOUT_JSON)
        pp_serving_json(&serving, out);
    else if (answer.owner == PP_STDOUT_REPORT)
        pp_serving_print(arena, &serving, wish->top, out);
    PP_TRY(pp_page_write(arena, wish, pp_page_serving, &page, err));
    return pp_serving_check(&serving, wish->require_fit, err);
}

enum pp_status pp_command_plan(struct pp_arena *arena, const struct pp_wish *typed, FILE *out,
                               struct pp_error *err)
{
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);

    PP_TRY(pp_wish_open(arena, typed->request.flags, wish, err));
    if (pp_wish_generates(wish))
        return plan_serving(arena, wish, out, err);
    PP_TRY(pp_resolve_mode(wish, err));
    PP_TRY(open_wish(wish, err));
    if (wish->largest)
        return pp_plan_largest(arena, wish, out, err);
    return is_one_layout(wish) ? pp_plan_one(arena, wish, out, err)
                               : plan_layouts(arena, wish, out, err);
}
