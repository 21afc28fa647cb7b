/* Prints the ranked choices as text. */
#include "core/cost/residence.h"
#include "core/text/terminal.h"
#include "core/units.h"
#include "sim/cli/cli.h"
#include "sim/config/inputs.h"
#include "sim/plan/search.h"
#include "sim/plan/state.h"
#include "sim/report/text.h"

#include <string.h>

enum { WIDTH = 80, INDENT = 13, MESH_WIDTH = 7, AGAIN_WIDTH = 10 };
/* Columns of knobs of tiers: "p,g=host,os=host:55%". */
static const int tier_widths[PP_TIER_KNOBS] = {21, 9, 8, 6};

const char *pp_state_plan_mesh(struct pp_arena *arena, const struct pp_state_spec *state, int class)
{
    return pp_arena_printf(arena, "%dx%d", state->shard[class].in_node, state->shard[class].nodes);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_layout(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    const struct pp_config *c = &planner->base;
    const struct pp_layout *l = &c->layout;
    const char *text = pp_arena_printf(
        arena,
        "%s, TP~%d%s x CP~%d%s x PP~%d%s x DP~%d%s, MBS~%d%s, %d%s~micro-batches, seq~%d%s; "
        "framework~%s%s; state can be sharded over %d device%s in a node x %d node%s",
        c->schedule_name, l->tp, pp_text_star(c, PP_CHOSE_TP), l->cp, pp_text_star(c, PP_CHOSE_CP),
        l->pp, pp_text_star(c, PP_CHOSE_PP), l->dp, pp_text_star(c, PP_CHOSE_DP), l->mbs,
        pp_text_star(c, PP_CHOSE_MBS), l->micro_batches, pp_text_star(c, PP_CHOSE_MICRO_BATCHES),
        l->seq, pp_text_star(c, PP_CHOSE_SEQ), c->costs.framework->name,
        planner->is_framework_chosen ? "*" : "", c->state.replicas.in_node,
        c->state.replicas.in_node == 1 ? "" : "s", c->state.replicas.nodes,
        c->state.replicas.nodes == 1 ? "" : "s");
    pp_text_paragraph(out, WIDTH, INDENT, "layout", text);
    pp_report_what_if(c, WIDTH, INDENT, out);
}

static void print_head(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    const struct pp_config *c = &planner->base;
    const struct pp_layout *l = &c->layout;
    char params[PP_UNITS_TEXT_BYTES], gpus[PP_UNITS_TEXT_BYTES];
    const char *text =
        pp_arena_printf(arena, "%s (%s) on %s GPU%s of %s: %d choice%s, %s", c->model.name,
                        pp_units_print(pp_model_params(&c->model), PP_UNIT_COUNT, params),
                        pp_units_print_count(l->gpus, gpus), l->gpus == 1 ? "" : "s",
                        c->cluster.name, planner->count, planner->count == 1 ? "" : "s",
                        planner->knob_count ? "free:" : "nothing free");

    for (int i = 0; i < planner->knob_count; i++)
        text = pp_arena_printf(arena, "%s%s %s", text, i ? "," : "", planner->knobs[i]->name);
    pp_text_wrap(out, WIDTH, fprintf(out, "pipesim %s  ", PP_VERSION), 2, text);
    print_layout(arena, planner, out);
}

const char *pp_state_plan_again(const struct pp_state_planned *point,
                                char text[PP_RECOMPUTE_TEXT_BYTES])
{
    pp_recompute_print(point->config.costs.recompute, point->config.costs.again, text);
    return pp_recompute_add_words(point->config.lower.again, text);
}

static bool is_free(const struct pp_state_plan *planner, const char *knob)
{
    bool is_found = false;

    for (int i = 0; i < planner->knob_count; i++)
        is_found |= !strcmp(planner->knobs[i]->name, knob);
    return is_found;
}

/* Is false if another knob is free, and not this one. */
static bool has_meshes(const struct pp_state_plan *planner)
{
    return !pp_state_plan_has_tiers(planner) || is_free(planner, "shard");
}

/* Prints the values of a choice, of its columns' names if `point` is NULL, up to its recomputation.
 * Returns the width. */
static int print_values(struct pp_arena *arena, const struct pp_state_plan *planner,
                        const struct pp_state_planned *point, FILE *out)
{
    const struct pp_state_spec *state = point ? &point->config.state : NULL;
    int width = 0;

    for (int c = 0; c < PP_STATE_SHARDED && has_meshes(planner); c++)
        width += fprintf(out, "%-*s", MESH_WIDTH,
                         state ? pp_state_plan_mesh(arena, state, c) : pp_state_class_names[c]);
    for (int k = 0; k < PP_TIER_KNOBS; k++)
        if (planner->is_tier_free[k])
            width += fprintf(out, "%-*s", tier_widths[k],
                             state ? pp_tier_text(arena, (enum pp_tier_knob)k, state)
                                   : pp_tier_knob_names[k]);
    return width;
}

/* Prints a row; figures after a long level have their own line. */
static void print_row(struct pp_arena *arena, const struct pp_state_plan *planner, int at,
                      FILE *out)
{
    const struct pp_state_planned *point = &planner->points[at];
    const bool is_step = planner->objective == PP_OBJECTIVE_STEP;
    char step[PP_TEXT_BYTES], comm[PP_UNITS_TEXT_BYTES], again[PP_RECOMPUTE_TEXT_BYTES];
    const bool is_long = strlen(pp_state_plan_again(point, again)) >= AGAIN_WIDTH;

    if (is_step)
        snprintf(comm, sizeof(comm), "%.1f %%", 100 * point->outcome.exposed_frac);
    else
        pp_units_print(pp_shard_times_s(point->comm), PP_UNIT_SECONDS, comm);
    const int begin = fprintf(out, "  %2d  ", at + 1);
    const int width = begin + print_values(arena, planner, point, out);
    fprintf(out, "%-*s", AGAIN_WIDTH, again);
    if (is_long)
        fprintf(out, "\n%*s", width + AGAIN_WIDTH, "");
    fprintf(out, "%9s%c%9s%6.1f %%%8.1f%8.1f%s\n",
            pp_text_time(&point->config, point->outcome.step_s, step), point->is_tie ? '=' : ' ',
            comm, 100 * point->outcome.mfu, point->outcome.state_bytes / PP_GIB,
            point->outcome.peak_bytes / PP_GIB, pp_search_has_room(&point->outcome) ? "" : "!");
}

/* Explains the mark of choices without room, if one is shown. */
static void print_tight(struct pp_arena *arena, const struct pp_state_plan *planner, int shown,
                        FILE *out)
{
    int marked = 0;

    for (int i = 0; i < shown; i++)
        marked += !pp_search_has_room(&planner->points[i].outcome);
    if (marked)
        pp_text_paragraph(
            out, WIDTH, INDENT, "! tight",
            pp_arena_printf(arena, "less than %.3g~%% of the memory stays free (--memory-margin)",
                            100 * planner->base.memory_margin_frac));
}

/* Returns the values of the knobs of tiers, each with a blank after it. */
static const char *tiers_of(struct pp_arena *arena, const struct pp_state_plan *planner,
                            const struct pp_state_planned *point)
{
    const char *text = "";

    for (int k = 0; k < PP_TIER_KNOBS; k++)
        if (planner->is_tier_free[k])
            text = pp_arena_printf(arena, "%s%s~%s ", text, pp_tier_knob_names[k],
                                   pp_tier_text(arena, (enum pp_tier_knob)k, &point->config.state));
    return text;
}

/* Prints the choices that were not ranked, and why. */
static void print_rest(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    const struct pp_state_planned *large = &planner->points[planner->fitting],
                                  *refused = large + planner->too_large;
    char again[PP_RECOMPUTE_TEXT_BYTES], state[PP_STATE_TEXT_BYTES];

    if (planner->too_large)
        pp_text_paragraph(
            out, WIDTH, INDENT, "too large",
            pp_arena_printf(
                arena,
                "%d do%s not fit in %.1f~GiB%s: the smallest of them, %s %srecompute~%s, needs "
                "%.1f~GiB%s",
                planner->too_large, planner->too_large == 1 ? "es" : "",
                pp_config_capacity_bytes(&planner->base) / PP_GIB,
                pp_state_plan_has_tiers(planner) ? " or on other tiers" : "",
                pp_state_print(&large->config.state, state), tiers_of(arena, planner, large),
                pp_state_plan_again(large, again), large->outcome.peak_bytes / PP_GIB,
                large->full == PP_TIER_DEVICE ? ""
                                              : pp_arena_printf(arena, " and has no room %s",
                                                                pp_tier_rows[large->full].title)));
    if (planner->refused)
        pp_text_paragraph(out, WIDTH, INDENT, "refused",
                          pp_arena_printf(arena, "%d, the first because: %s", planner->refused,
                                          refused->outcome.reason));
}

/* Names what was not free, if nothing fits and it can free memory. */
static void print_not_tried(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    const struct pp_state_spec *state = &planner->points[0].config.state;
    const int replicas = pp_mesh_size(state->replicas);
    const char *text = "";

    if (planner->fitting > 0 || planner->too_large == 0)
        return;
    if (!is_free(planner, "shard") && pp_mesh_size(state->shard[PP_STATE_PARAMS]) < replicas)
        text =
            pp_arena_printf(arena,
                            "parameters, gradients and optimizer state cut over all %d replicas: "
                            "--zero~3, or shard in --free",
                            replicas);
    if (!planner->is_tier_free[PP_TIER_OFFLOAD] && !pp_state_is_offloaded(state))
        text = pp_arena_printf(arena, "%s%sstate on the host or on drives: offload in --free", text,
                               *text ? "; " : "");
    if (*text)
        pp_text_paragraph(out, WIDTH, INDENT, "not tried", text);
}

/* Prints the command of the best choice: options given or taken for granted, and free knobs. */
static void print_best(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    const struct pp_state_planned *best = &planner->points[0];
    char again[PP_RECOMPUTE_TEXT_BYTES], state[PP_STATE_TEXT_BYTES];
    struct pp_error ignored;

    if (planner->fitting == 0)
        return;
    struct pp_parsed *command =
        pp_inputs_command(arena, &planner->base, PP_SIM_OF_PLANNER | PP_SIM_BY_SHARDING);
    if (pp_mesh_size(best->config.state.replicas) > 1)
        pp_command_set(arena, command, "shard", pp_state_print(&best->config.state, state),
                       &ignored);
    pp_command_set(arena, command, "recompute", pp_state_plan_again(best, again), &ignored);
    pp_tier_command(arena, &best->config.state, planner->is_tier_free, command);
    pp_text_command(out, WIDTH, INDENT, "choose", command);
}

/* Prints the gain of room for values and for optimizer state, where both are free. */
static void print_room(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    if (planner->fitting == 0 || !planner->is_tier_free[PP_TIER_OFFLOAD] ||
        !planner->is_tier_free[PP_TIER_CACHE])
        return;
    const struct pp_config *config = &planner->points[0].config;
    const struct pp_cost_inputs in = pp_config_costs(config, pp_config_ranks(arena, config));
    const int64_t per_node = config->cluster.gpus_per_node, gpus = config->layout.gpus;
    pp_text_paragraph(out, WIDTH, INDENT, "room",
                      pp_residence_text(arena, &in, (int)(gpus < per_node ? gpus : per_node)));
}

/* Prints what follows the rows. */
static void print_facts(struct pp_arena *arena, const struct pp_state_plan *planner, int shown,
                        FILE *out)
{
    print_tight(arena, planner, shown, out);
    print_rest(arena, planner, out);
    print_not_tried(arena, planner, out);
    print_best(arena, planner, out);
    print_room(arena, planner, out);
    if (planner->ties > 1)
        pp_text_paragraph(
            out, WIDTH, INDENT, "= ties",
            pp_arena_printf(
                arena,
                "%d steps are within %g~%% of the fastest, too close for the costs to rank. Ties "
                "are ranked by room for the margin and the allocator's cache, then gradients "
                "sharded like parameters, least communication, least state",
                planner->ties, 100 * PP_PLANNER_TIE_FRAC));
}

void pp_state_plan_print_facts(struct pp_arena *arena, const struct pp_state_plan *planner,
                               int rows, FILE *out)
{
    print_layout(arena, planner, out);
    print_facts(arena, planner, rows < planner->fitting ? rows : planner->fitting, out);
}

static void print_columns(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    fputs("\n   #  ", out);
    print_values(arena, planner, NULL, out);
    fprintf(out, "%-*s%9s %9s%8s%8s%8s\n", AGAIN_WIDTH, "recompute", "step",
            planner->objective == PP_OBJECTIVE_STEP ? "exposed" : "comm", "MFU", "state", "GiB");
}

void pp_state_plan_print(struct pp_arena *arena, const struct pp_state_plan *planner, int rows,
                         FILE *out)
{
    const int shown = rows < planner->fitting ? rows : planner->fitting;

    print_head(arena, planner, out);
    if (planner->fitting == 0)
        fputs("\n  nothing fits\n", out);
    else
        print_columns(arena, planner, out);
    for (int i = 0; i < shown; i++)
        print_row(arena, planner, i, out);
    fputc('\n', out);
    if (shown < planner->fitting)
        fprintf(out, "  %d more fit; --top N shows them, -o FILE.csv has all\n",
                planner->fitting - shown);
    print_facts(arena, planner, shown, out);
}
