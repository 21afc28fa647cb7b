/* Prints the ranked choices as text, JSON and CSV. */
#include "core/text/csv.h"
#include "core/text/json_write.h"
#include "core/text/terminal.h"
#include "core/units.h"
#include "sim/cli/cli.h"
#include "sim/config/inputs.h"
#include "sim/plan/search.h"
#include "sim/plan/state.h"
#include "sim/report/text.h"

#include <jansson.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 13, AGAIN_AT = 27, AGAIN_WIDTH = 10 };

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
        "framework~%s%s; state can be sharded over %d devices in a node x %d nodes",
        c->schedule_name, l->tp, pp_text_star(c, PP_CHOSE_TP), l->cp, pp_text_star(c, PP_CHOSE_CP),
        l->pp, pp_text_star(c, PP_CHOSE_PP), l->dp, pp_text_star(c, PP_CHOSE_DP), l->mbs,
        pp_text_star(c, PP_CHOSE_MBS), l->micro_batches, pp_text_star(c, PP_CHOSE_MICRO_BATCHES),
        l->seq, pp_text_star(c, PP_CHOSE_SEQ), c->costs.framework->name,
        planner->is_framework_chosen ? "*" : "", c->state.replicas.in_node,
        c->state.replicas.nodes);
    pp_text_paragraph(out, WIDTH, INDENT, "layout", text);
    pp_report_what_if(c, WIDTH, INDENT, out);
}

static void print_head(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    const struct pp_config *c = &planner->base;
    const struct pp_layout *l = &c->layout;
    char params[PP_UNITS_TEXT_BYTES], gpus[PP_UNITS_TEXT_BYTES];
    const char *text =
        pp_arena_printf(arena, "%s (%s) on %s GPU%s of %s: %d choice%s, free:", c->model.name,
                        pp_units_print(pp_model_params(&c->model), PP_UNIT_COUNT, params),
                        pp_units_print_count(l->gpus, gpus), l->gpus == 1 ? "" : "s",
                        c->cluster.name, planner->count, planner->count == 1 ? "" : "s");

    for (int i = 0; i < planner->knob_count; i++)
        text = pp_arena_printf(arena, "%s%s %s", text, i ? "," : "", planner->knobs[i]->name);
    pp_text_wrap(out, WIDTH, fprintf(out, "pipesim %s  ", PP_VERSION), 2, text);
    print_layout(arena, planner, out);
}

static const char *again_of(const struct pp_state_planned *point,
                            char text[PP_RECOMPUTE_TEXT_BYTES])
{
    pp_recompute_print(point->config.costs.recompute, point->config.costs.again, text);
    return pp_recompute_add_words(point->config.lower.again, text);
}

/* Prints a row; figures after a long level have their own line. */
static void print_row(struct pp_arena *arena, const struct pp_state_plan *planner, int at,
                      FILE *out)
{
    const struct pp_state_planned *point = &planner->points[at];
    const struct pp_state_spec *state = &point->config.state;
    const bool is_step = planner->objective == PP_OBJECTIVE_STEP;
    char step[PP_TEXT_BYTES], comm[PP_UNITS_TEXT_BYTES], again[PP_RECOMPUTE_TEXT_BYTES];
    const bool is_long = strlen(again_of(point, again)) >= AGAIN_WIDTH;

    if (is_step)
        snprintf(comm, sizeof(comm), "%.1f %%", 100 * point->outcome.exposed_frac);
    else
        pp_units_print(pp_shard_times_s(point->comm), PP_UNIT_SECONDS, comm);
    fprintf(out, "  %2d  %-7s%-7s%-7s%-*s", at + 1,
            pp_state_plan_mesh(arena, state, PP_STATE_PARAMS),
            pp_state_plan_mesh(arena, state, PP_STATE_GRADS),
            pp_state_plan_mesh(arena, state, PP_STATE_OPTIMIZER), AGAIN_WIDTH, again);
    if (is_long)
        fprintf(out, "\n%*s", AGAIN_AT + AGAIN_WIDTH, "");
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
                "%d do not fit in %.1f~GiB: the smallest of them, %s recompute~%s, needs %.1f~GiB",
                planner->too_large, pp_config_capacity_bytes(&planner->base) / PP_GIB,
                pp_state_print(&large->config.state, state), again_of(large, again),
                large->outcome.peak_bytes / PP_GIB));
    if (planner->refused)
        pp_text_paragraph(out, WIDTH, INDENT, "refused",
                          pp_arena_printf(arena, "%d, the first because: %s", planner->refused,
                                          refused->outcome.reason));
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
    pp_command_set(arena, command, "recompute", again_of(best, again), &ignored);
    pp_text_command(out, WIDTH, INDENT, "choose", command);
}

/* Prints what follows the rows. */
static void print_facts(struct pp_arena *arena, const struct pp_state_plan *planner, int shown,
                        FILE *out)
{
    print_tight(arena, planner, shown, out);
    print_rest(arena, planner, out);
    print_best(arena, planner, out);
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

void pp_state_plan_print(struct pp_arena *arena, const struct pp_state_plan *planner, int rows,
                         FILE *out)
{
    const int shown = rows < planner->fitting ? rows : planner->fitting;

    print_head(arena, planner, out);
    if (planner->fitting == 0)
        fputs("\n  nothing fits\n", out);
    else
        fprintf(out, "\n   #  %-7s%-7s%-7s%-10s%9s %9s%8s%8s%8s\n", "p", "g", "os", "recompute",
                "step", planner->objective == PP_OBJECTIVE_STEP ? "exposed" : "comm", "MFU",
                "state", "GiB");
    for (int i = 0; i < shown; i++)
        print_row(arena, planner, i, out);
    fputc('\n', out);
    if (shown < planner->fitting)
        fprintf(out, "  %d more fit; --top N shows them, -o FILE.csv has all\n",
                planner->fitting - shown);
    print_facts(arena, planner, shown, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *shard_json(struct pp_arena *arena, const struct pp_state_spec *state)
{
    json_t *o = json_object();

    for (int c = 0; c < PP_STATE_SHARDED; c++)
        pp_json_put_text(o, pp_state_class_names[c], pp_state_plan_mesh(arena, state, c));
    return o;
}

static json_t *comm_json(struct pp_shard_times t)
{
    json_t *o = json_object();

    pp_json_put(o, "gathers_s", t.gathers_s);
    pp_json_put(o, "grads_s", t.grads_s);
    pp_json_put(o, "sums_s", t.sums_s);
    pp_json_put(o, "spread_s", t.spread_s);
    return o;
}

static json_t *point_json(struct pp_arena *arena, const struct pp_state_planned *point)
{
    const struct pp_config *c = &point->config;
    const int zero = pp_state_zero(&c->state);
    char again[PP_RECOMPUTE_TEXT_BYTES];
    json_t *o = json_pack("{so so ss ss}", "layout", pp_report_layout_json(&c->layout), "shard",
                          shard_json(arena, &c->state), "schedule", c->schedule_name, "recompute",
                          again_of(point, again));

    json_object_set_new(o, "zero", zero < 0 ? json_null() : json_integer(zero));
    if (point->outcome.is_refused) {
        pp_json_put_text(o, "refused", point->outcome.reason);
        return o;
    }
    pp_json_put_bool(o, "fits", point->outcome.fits);
    pp_json_put_bool(o, "tight", point->outcome.is_tight);
    pp_json_put_bool(o, "strained", point->outcome.is_strained);
    pp_json_put(o, "iteration_s", point->outcome.step_s);
    pp_json_put(o, "mfu", point->outcome.mfu);
    pp_json_put(o, "exposed_comm_frac", point->outcome.exposed_frac);
    pp_json_put_bytes(o, "state_bytes", point->outcome.state_bytes);
    pp_json_put_bytes(o, "peak_mem_bytes", point->outcome.peak_bytes);
    json_object_set_new(o, "closed_form", comm_json(point->comm));
    return o;
}

/* Returns the tie with most memory left. */
static const struct pp_state_planned *safest_of(const struct pp_state_plan *planner)
{
    const struct pp_state_planned *safest = &planner->points[0];

    for (int i = 0; i < planner->ties; i++)
        if (planner->points[i].outcome.peak_bytes < safest->outcome.peak_bytes)
            safest = &planner->points[i];
    return safest;
}

void pp_state_plan_json(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    const struct pp_config *c = &planner->base;
    const struct pp_layout *l = &c->layout;
    json_t *free_knobs = json_array(), *points = json_array();

    for (int i = 0; i < planner->knob_count; i++)
        json_array_append_new(free_knobs, json_string(planner->knobs[i]->name));
    for (int i = 0; i < planner->count; i++)
        json_array_append_new(points, point_json(arena, &planner->points[i]));
    json_t *o = json_pack("{ss ss ss ss so ss}", "schema", "pipesim.plan/1", "model", c->model.name,
                          "cluster", c->cluster.name, "schedule", c->schedule_name, "free",
                          free_knobs, "objective", pp_objective_names[planner->objective]);
    json_t *layout = pp_report_layout_json(l);
    pp_json_put_int(layout, "seq", l->seq);
    json_object_set_new(o, "layout", layout);
    json_object_set_new(o, "count",
                        json_pack("{si si si si}", "all", planner->count, "fit", planner->fitting,
                                  "too_large", planner->too_large, "refused", planner->refused));
    json_object_set_new(o, "best",
                        planner->fitting ? point_json(arena, &planner->points[0]) : json_null());
    json_object_set_new(o, "safest",
                        planner->fitting ? point_json(arena, safest_of(planner)) : json_null());
    json_object_set_new(o, "points", points);
    pp_json_print(o, out);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void pp_state_plan_csv(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    fputs("rank,p,g,os,recompute,iteration_s,mfu,exposed_comm_frac,state_bytes,peak_mem_bytes,fits,"
          "gathers_s,grads_s,sums_s,spread_s,reason\n",
          out);
    for (int i = 0; i < planner->count; i++) {
        const struct pp_state_planned *point = &planner->points[i];
        const struct pp_state_spec *state = &point->config.state;
        const struct pp_shard_times t = point->comm;
        char again[PP_RECOMPUTE_TEXT_BYTES];
        fprintf(out, "%d,%s,%s,%s,", i + 1, pp_state_plan_mesh(arena, state, PP_STATE_PARAMS),
                pp_state_plan_mesh(arena, state, PP_STATE_GRADS),
                pp_state_plan_mesh(arena, state, PP_STATE_OPTIMIZER));
        pp_csv_write_field(out, again_of(point, again));
        fputc(',', out);
        if (!point->outcome.is_refused)
            fprintf(out, "%.17g,%.17g,%.17g,%.17g,%.17g,%d,%.17g,%.17g,%.17g,%.17g,",
                    point->outcome.step_s, point->outcome.mfu, point->outcome.exposed_frac,
                    point->outcome.state_bytes, point->outcome.peak_bytes, point->outcome.fits,
                    t.gathers_s, t.grads_s, t.sums_s, t.spread_s);
        else
            fputs(",,,,,,,,,,", out);
        pp_csv_write_field(out, point->outcome.reason);
        fputc('\n', out);
    }
}
