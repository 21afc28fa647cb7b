/* Writes the ranked choices as JSON and CSV. */
#include "core/text/csv.h"
#include "core/text/json_write.h"
#include "sim/plan/state.h"
#include "sim/report/text.h"

#include <jansson.h>
#include <string.h>

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

/* Puts the values of the free knobs of tiers: "act_bits": null. */
static void put_tiers(struct pp_arena *arena, const struct pp_state_plan *planner,
                      const struct pp_state_planned *point, json_t *o)
{
    for (int k = 0; k < PP_TIER_KNOBS; k++) {
        const char *text = pp_tier_text(arena, (enum pp_tier_knob)k, &point->config.state);
        if (planner->is_tier_free[k])
            pp_json_put_text(o, pp_tier_keys[k], strcmp(text, "none") != 0 ? text : NULL);
    }
}

static json_t *point_json(struct pp_arena *arena, const struct pp_state_plan *planner,
                          const struct pp_state_planned *point)
{
    const struct pp_config *c = &point->config;
    const int zero = pp_state_zero(&c->state);
    char again[PP_RECOMPUTE_TEXT_BYTES];
    json_t *o = json_pack("{so so ss ss}", "layout", pp_report_layout_json(&c->layout), "shard",
                          shard_json(arena, &c->state), "schedule", c->schedule_name, "recompute",
                          pp_state_plan_again(point, again));

    json_object_set_new(o, "zero", zero < 0 ? json_null() : json_integer(zero));
    put_tiers(arena, planner, point, o);
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

json_t *pp_state_plan_object(struct pp_arena *arena, const struct pp_state_plan *planner)
{
    const struct pp_config *c = &planner->base;
    const struct pp_layout *l = &c->layout;
    json_t *free_knobs = json_array(), *points = json_array();

    for (int i = 0; i < planner->knob_count; i++)
        json_array_append_new(free_knobs, json_string(planner->knobs[i]->name));
    for (int i = 0; i < planner->count; i++)
        json_array_append_new(points, point_json(arena, planner, &planner->points[i]));
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
                        planner->fitting ? point_json(arena, planner, &planner->points[0])
                                         : json_null());
    json_object_set_new(o, "safest",
                        planner->fitting ? point_json(arena, planner, safest_of(planner))
                                         : json_null());
    json_object_set_new(o, "points", points);
    return o;
}

void pp_state_plan_json(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    pp_json_print(pp_state_plan_object(arena, planner), out);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void pp_state_plan_csv(struct pp_arena *arena, const struct pp_state_plan *planner, FILE *out)
{
    fputs("rank,p,g,os,recompute,", out);
    for (int k = 0; k < PP_TIER_KNOBS; k++)
        if (planner->is_tier_free[k])
            fprintf(out, "%s,", pp_tier_keys[k]);
    fputs("iteration_s,mfu,exposed_comm_frac,state_bytes,peak_mem_bytes,fits,gathers_s,grads_s,"
          "sums_s,spread_s,reason\n",
          out);
    for (int i = 0; i < planner->count; i++) {
        const struct pp_state_planned *point = &planner->points[i];
        const struct pp_state_spec *state = &point->config.state;
        const struct pp_shard_times t = point->comm;
        char again[PP_RECOMPUTE_TEXT_BYTES];
        fprintf(out, "%d,%s,%s,%s,", i + 1, pp_state_plan_mesh(arena, state, PP_STATE_PARAMS),
                pp_state_plan_mesh(arena, state, PP_STATE_GRADS),
                pp_state_plan_mesh(arena, state, PP_STATE_OPTIMIZER));
        pp_csv_write_field(out, pp_state_plan_again(point, again));
        fputc(',', out);
        for (int k = 0; k < PP_TIER_KNOBS; k++)
            if (planner->is_tier_free[k]) {
                pp_csv_write_field(out, pp_tier_text(arena, (enum pp_tier_knob)k, state));
                fputc(',', out);
            }
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
