/* The report as JSON, "pipesim.report/1". Without "meta" the output is bit-identical. */
#include "core/text/json_write.h"
#include "sim/config/auto_share.h"
#include "sim/config/buckets.h"
#include "sim/config/gathers.h"
#include "sim/config/inputs.h"
#include "sim/config/price.h"
#include "sim/config/scale.h"
#include "sim/config/tiers.h"
#include "sim/report/parts.h"
#include "sim/report/text.h"
#include "sim/report/tiers.h"
#include "sim/run/links.h"
#include "sim/seeds/seeds.h"

#include <jansson.h>
#include <math.h>

json_t *pp_report_layout_json(const struct pp_layout *l)
{
    return json_pack("{si si si si si si si si si sI}", "gpus", l->gpus, "tp", l->tp, "pp", l->pp,
                     "dp", l->dp, "cp", l->cp, "ep", l->ep, "vp", l->vp, "micro_batches",
                     l->micro_batches, "mbs", l->mbs, "gbs", (json_int_t)l->gbs);
}

static json_t *layout_json(const struct pp_config *c)
{
    const struct pp_layout *l = &c->layout;
    json_t *o = pp_report_layout_json(l);

    if (pp_layout_etp(l) != l->tp)
        pp_json_put_int(o, "etp", l->etp);
    json_object_set_new(o, "seq", c->is_unit ? json_null() : json_integer(l->seq));
    return o;
}

json_t *pp_report_parts_json(const double parts[PP_TIME_PARTS])
{
    json_t *o = json_object();

    for (int i = 0; i < PP_TIME_PARTS; i++)
        pp_json_put(o, pp_time_part_names[i], parts[i]);
    return o;
}

static json_t *memory_json(const struct pp_result *r, int rank)
{
    int64_t bytes[PP_MEMORY_PARTS];
    json_t *o = json_object();

    pp_memory_whole_parts(&r->memory[rank], bytes);
    for (int i = 0; i < PP_MEMORY_PARTS; i++)
        json_object_set_new(o, pp_memory_part_keys[i],
                            r->config.is_unit ? json_null() : json_integer(bytes[i]));
    return o;
}

static json_t *ranks_json(const struct pp_result *r)
{
    json_t *list = json_array();

    for (int i = 0; i < r->program->ranks; i++) {
        const struct pp_rank_times *t = &r->metrics.ranks[i];
        json_t *o = json_pack("{si}", "rank", i);
        pp_json_put(o, "busy_s", t->busy_s);
        pp_json_put(o, "idle_s", t->idle_s);
        pp_json_put(o, "span_s", t->span_s);
        pp_json_put_bytes(o, "peak_mem_bytes",
                          r->config.is_unit ? (double)NAN : r->memory[i].peak_bytes);
        pp_json_put(o, "peak_activations", r->memory[i].peak_activations);
        if (pp_gathers_are_used(r))
            pp_json_put_int(o, "gather_visits", pp_gathers_visits(r, i));
        json_object_set_new(o, "memory", r->config.is_unit ? json_null() : memory_json(r, i));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *links_json(const struct pp_result *r)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_link_loads loads = pp_links_of(arena, r);
    json_t *list = json_array();

    for (int i = 0; i < loads.count && i < PP_LINK_CLASSES_SHOWN; i++) {
        const struct pp_link_class *class = &loads.classes[i];
        json_t *o = json_pack("{ss si}", "name", class->name, "count", class->count);
        pp_json_put(o, "utilisation_frac", class->max_frac);
        pp_json_put(o, "mean_frac", class->mean_frac);
        pp_json_put_bytes(o, "bytes", class->bytes);
        pp_json_put_text(o, "busiest", class->hottest);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *network_json(const struct pp_result *r)
{
    const struct pp_network_stats *stats = &r->network_stats;

    if (!r->config.engine_options.network && !r->config.cost)
        return json_null();
    return json_pack("{ss? sb si so}", "fabric",
                     r->config.cost ? NULL : pp_fabric_names[r->config.cluster.fabric.kind],
                     "contended", stats->shared > 0, "replicas_simulated", r->replicas_simulated,
                     "links", links_json(r));
}

/* Puts the layers of each stage, and their recomputed share. */
static void put_stages(json_t *o, const struct pp_result *r)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const double *fracs = pp_recompute_fracs(arena, &r->cost_inputs);
    json_t *layers = json_array(), *recompute = json_array();

    for (int s = 0; s < r->cost_inputs.stages; s++) {
        json_array_append_new(layers, json_integer(r->config.blocks_per_stage[s]));
        json_array_append_new(recompute, json_real(fracs[s]));
    }
    json_object_set_new(o, "stages",
                        json_pack("{so so}", "layers", layers, "recompute_frac", recompute));
}

/* Homes of weights and cache; what training alone has is null. */
static json_t *served_json(const struct pp_result *r)
{
    json_t *o = json_pack("{sn sn sn sn}", "zero", "shard", "recompute", "grad_sync");

    pp_moved_json(&r->config.state, o);
    return o;
}

static json_t *state_json(const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    const double capped_bytes = pp_buckets_capped_bytes(r);
    char shard[PP_STATE_TEXT_BYTES], again[PP_TEXT_BYTES];
    const int zero = pp_state_zero(&c->state);
    json_t *o = json_pack("{so ss}", "zero", zero < 0 ? json_null() : json_integer(zero), "shard",
                          pp_state_print(&c->state, shard));

    if (pp_config_copies(c) > 1)
        pp_json_put(o, "elements_per_param", pp_gathers_elements(r));
    pp_json_put_text(o, "recompute", pp_text_recompute(c, ",", again));
    pp_json_put_text(o, "grad_sync", pp_grad_sync_names[c->lower.grad_sync]);
    if (c->buckets.count > 1)
        pp_json_put_int(o, "buckets", c->buckets.count);
    if (c->buckets.bytes > 0)
        pp_json_put(o, "bucket_bytes", c->buckets.bytes);
    if (capped_bytes > 0) { /* a program cannot have more */
        pp_json_put_int(o, "buckets", PP_MAX_BUCKETS);
        pp_json_put(o, "capped_bucket_bytes", capped_bytes);
    }
    if (c->engine_options.sync_share > 0)
        pp_json_put(o, "sync_share", c->engine_options.sync_share);
    pp_moved_json(&c->state, o);
    return o;
}

static json_t *order_json(const struct pp_config *c)
{
    const struct pp_order_choice order = c->order;
    const bool is_usual = order.rule == PP_ORDER_ARRIVAL && order.limit == 0;

    return json_pack("{ss si}", "rule", pp_order_rule_names[order.rule],
                     order.is_multiple ? "times_strict" : "limit",
                     is_usual ? c->shape.ranks : order.limit);
}

/* Puts the settings that the layout lacks. */
static void put_setting(json_t *o, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    const struct pp_eval_options *plan = &c->engine_options.eval;
    char again[PP_TEXT_BYTES];

    /* Figures of several steps are those of a steady one. */
    json_object_set_new(o, "steps",
                        json_pack("{si sb}", "count", plan->steps > 1 ? plan->steps : 1, "barrier",
                                  plan->steps <= 1 || !plan->is_barrier_free));
    if (c->order.rule != PP_ORDER_STRICT)
        json_object_set_new(o, "order", order_json(c));
    if (c->is_unit && c->costs.recompute != PP_RECOMPUTE_NONE)
        json_object_set_new(o, "state",
                            json_pack("{ss}", "recompute", pp_text_recompute(c, ",", again)));
    if (c->is_unit)
        return;
    pp_json_put_text(o, "model", c->model.name);
    pp_json_put_text(o, "cluster", c->cluster.name);
    if (!pp_map_is_default(c->map)) {
        char map[PP_MAP_TEXT_BYTES];
        pp_json_put_text(o, "map", pp_map_print(c->map, map));
    }
    if (c->costs.head != PP_HEAD_LAST)
        pp_json_put_text(o, "head", pp_head_names[c->costs.head]);
    json_object_set_new(o, "state", r->inference ? served_json(r) : state_json(r));
    put_stages(o, r);
}

/* Value of an option as typed: true for a flag, a list for a repeatable option. */
static json_t *input_json(const struct pp_input *input)
{
    const struct pp_option_value *value = input->value;

    if (input->option->type == PP_OPTION_FLAG)
        return json_true();
    if (!input->option->is_repeatable)
        return pp_json_text(value->text);
    json_t *list = json_array();
    for (int i = 0; i < value->count; i++)
        json_array_append_new(list, pp_json_text(value->all[i]));
    return list;
}

/* Puts the given options, in the order of --help, and notes on those without effect. */
static void put_inputs(json_t *o, const struct pp_config *c)
{
    json_t *inputs = json_object();

    for (int i = 0; i < c->origin.input_count; i++)
        json_object_set_new(inputs, c->origin.inputs[i].option->name,
                            input_json(&c->origin.inputs[i]));
    json_object_set_new(o, "inputs", inputs);
    if (c->origin.note_count == 0)
        return;
    json_t *notes = json_array();
    for (int i = 0; i < c->origin.note_count; i++)
        json_array_append_new(notes, pp_json_text(c->origin.notes[i]));
    json_object_set_new(o, "notes", notes);
}

static void put_model_fields(json_t *o, const struct pp_result *r)
{
    const bool is_unit = r->config.is_unit, has_device = pp_config_has_device(&r->config);

    pp_json_put(o, "mfu", has_device ? r->mfu : (double)NAN);
    pp_json_put(o, "hfu", has_device && !r->inference ? r->hfu : (double)NAN);
    pp_json_put(o, "model_flops_per_s_per_gpu",
                is_unit ? (double)NAN : r->model_flops_per_s_per_gpu);
    pp_json_put(o, "tokens_per_s", is_unit ? (double)NAN : r->tokens_per_s);
    pp_json_put(o, "tokens_per_s_per_gpu", is_unit ? (double)NAN : r->tokens_per_s_per_gpu);
    pp_json_put_bytes(o, "peak_mem_bytes",
                      is_unit ? (double)NAN : r->memory[r->peak_rank].peak_bytes);
    pp_json_put_bytes(o, "device_mem_bytes",
                      has_device ? pp_config_capacity_bytes(&r->config) : (double)NAN);
    json_object_set_new(o, "fits", has_device ? json_boolean(r->fits) : json_null());
    json_object_set_new(o, "tight", has_device ? json_boolean(r->is_tight) : json_null());
}

static void put_price(json_t *o, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;

    if (c->origin.price.per_gpu_hour <= 0)
        return;
    pp_json_put(o, "price_per_gpu_hour", c->origin.price.per_gpu_hour);
    pp_json_put(o, "cost_per_step", pp_price_step(c, c->layout.gpus, r->metrics.iteration_s));
    pp_json_put(o, "cost_per_trillion_tokens", pp_price_tokens(c, r->tokens_per_s_per_gpu));
}

/* Puts the figures of unit mode that tables show, which compare numbers of chunks. */
static void put_rank_scale(json_t *o, const struct pp_result *r)
{
    const bool has_messages = r->config.unit.c > 0;

    pp_json_put(o, "iteration_rank_s",
                has_messages ? (double)NAN
                             : r->metrics.iteration_s / pp_scale_divisor(r, PP_SCALE_RANK));
    pp_json_put(o, "peak_micro_batches", pp_scale_micro_batches(r));
}

static json_t *report_json(const struct pp_result *r)
{
    json_t *o = json_pack("{ss so ss}", "schema", "pipesim.report/1", "schedule",
                          pp_json_text(r->config.schedule_name), "engine", r->config.engine->name);

    const bool generates = r->inference != NULL;

    pp_json_put_text(o, "mode", r->program->mode == PP_MODE_INFER ? "infer" : "train");
    json_object_set_new(o, "layout", layout_json(&r->config));
    put_setting(o, r);
    pp_json_put(o, "iteration_s", r->metrics.iteration_s);
    if (r->config.is_unit)
        put_rank_scale(o, r);
    pp_seeds_json(r, o);
    pp_json_put(o, "bubble_frac", r->metrics.bubble_frac);
    pp_json_put(o, "span_bubble_frac", r->metrics.span_bubble_frac);
    put_model_fields(o, r);
    put_price(o, r);
    json_object_set_new(o, "inference", generates ? pp_generation_json(r) : json_null());
    json_object_set_new(o, "error", pp_error_json(&r->config));
    json_object_set_new(o, "published_mfu",
                        generates ? json_null() : pp_published_mfu_json(&r->config, r->mfu));
    if (r->oom)
        pp_oom_json(r->oom, o);
    pp_json_put(o, "exposed_comm_frac", r->metrics.exposed_comm_frac);
    json_object_set_new(o, "time_frac", pp_report_parts_json(r->metrics.time_frac));
    json_object_set_new(o, "memory", memory_json(r, r->peak_rank));
    if (pp_tiers_are_used(r) || pp_auto_share_last(&r->config.wanted) > 0 ||
        r->config.state.cached > 1)
        json_object_set_new(o, "tiers", pp_tiers_json(r));
    json_object_set_new(o, "ranks", ranks_json(r));
    json_object_set_new(o, "network", network_json(r));
    json_object_set_new(o, "costs",
                        json_pack("{ss sb so}", "origin", r->costs->origin, "calibrated",
                                  r->costs->is_calibrated, "source",
                                  pp_json_text(r->costs->source)));
    put_inputs(o, &r->config);
    json_object_set_new(o, "meta", pp_json_meta(r->wall_s));
    return o;
}

/* A refused schedule in a comparison: its name and the reason. */
static json_t *refused_json(const struct pp_result *r)
{
    return json_pack("{ss so so}", "schema", "pipesim.report/1", "schedule",
                     pp_json_text(r->config.schedule_name), "refused", pp_json_text(r->refusal));
}

void pp_report_json(const struct pp_result *result, FILE *out)
{
    pp_json_print(report_json(result), out);
}

void pp_report_json_table(const struct pp_result *results, int count, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result **rows = pp_report_rank(arena, results, count);
    json_t *runs = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(runs, rows[i]->status == PP_OK ? report_json(rows[i])
                                                             : refused_json(rows[i]));
    pp_json_print(json_pack("{ss so}", "schema", "pipesim.comparison/1", "runs", runs), out);
}
