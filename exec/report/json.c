/* The report as JSON: "pipeexec.report/1". */
#include "exec/report/report.h"

#include "core/text/json_write.h"
#include "core/units.h"

#include <jansson.h>
#include <math.h>

static json_t *difference_json(const struct pp_difference *d)
{
    json_t *o = json_object();

    pp_json_put_bool(o, "bit_equal", d->differing == 0);
    pp_json_put(o, "max_abs_diff", d->max_abs);
    pp_json_put(o, "rel_l2", pp_difference_rel_l2(d));
    pp_json_put_int(o, "elements", d->elements);
    pp_json_put_int(o, "differing", d->differing);
    pp_json_put_text(o, "worst", d->worst);
    return o;
}

static json_t *layout_json(const struct pp_exec_run *run)
{
    const struct pp_program *p = run->plan.program;
    const struct pp_batch *b = &run->plan.batch;
    json_t *blocks = json_array();

    for (int s = 0; s < run->plan.chunks; s++)
        json_array_append_new(blocks, json_integer(run->plan.blocks_per_chunk[s]));
    json_t *o =
        json_pack("{si si si si si si si}", "np", p->ranks, "vp", run->plan.chunks / p->ranks, "dp",
                  b->replicas, "pipelines", p->pipelines, "micro_batches", b->micro_batches, "mbs",
                  b->mbs, "gbs", pp_batch_samples(b));
    pp_json_put_int(o, "tp", run->config.tp);
    json_object_set_new(o, "sequence_parallel", json_boolean(run->config.is_sequence_parallel));
    pp_json_put_int(o, "ep", run->config.ep);
    pp_json_put_int(o, "etp", run->config.etp);
    pp_json_put_int(o, "zero", run->plan.zero);
    if (run->plan.zero == 3)
        pp_json_put_text(o, "gather",
                         pp_gather_names[run->plan.layers ? PP_GATHER_LAYER : PP_GATHER_CHUNK]);
    if (run->plan.zero && run->plan.batch.sharers > 0)
        pp_json_put_int(o, "sharers", run->plan.batch.sharers);
    if (run->plan.zero == 3 && pp_state_is_spread(&p->state.spec))
        pp_json_put_int(o, "gatherers", pp_state_cut(&p->state.spec, PP_STATE_PARAMS));
    pp_json_put_int(o, "seq", run->config.net.seq);
    pp_json_put_int(o, "splits", b->splits);
    pp_json_put_int(o, "granules", b->granules);
    json_object_set_new(o, "layers_by_stage", blocks);
    return o;
}

static json_t *time_json(const struct pp_metrics *metrics)
{
    json_t *o = json_object();

    for (int i = 0; i < PP_TIME_PARTS; i++)
        pp_json_put(o, pp_time_part_names[i], metrics->time_frac[i]);
    return o;
}

static json_t *memory_json(const struct pp_rank_layout *l)
{
    json_t *o = json_object();

    pp_json_put_bytes(o, "params_bytes", (double)l->params_bytes);
    pp_json_put_bytes(o, "grads_bytes", (double)l->grads_bytes);
    pp_json_put_bytes(o, "optimizer_bytes", (double)l->optimizer_bytes);
    pp_json_put_bytes(o, "activations_bytes", (double)l->activations_bytes);
    pp_json_put_bytes(o, "buffers_bytes", (double)l->buffers_bytes);
    pp_json_put_bytes(o, "other_bytes", (double)l->other_bytes);
    return o;
}

static json_t *ranks_json(const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    json_t *list = json_array();

    for (int i = 0; i < run->plan.program->ranks; i++) {
        json_t *o = json_pack("{si}", "rank", i);
        pp_json_put(o, "busy_s", r->metrics.ranks[i].busy_s);
        pp_json_put(o, "idle_s", r->metrics.ranks[i].idle_s);
        pp_json_put(o, "span_s", r->metrics.ranks[i].span_s);
        pp_json_put_bytes(o, "peak_mem_bytes", r->touched_bytes[i]);
        pp_json_put_bytes(o, "predicted_peak_mem_bytes", (double)r->layout[i].peak_bytes);
        pp_json_put(o, "peak_activations", r->lifetimes[i].peak_activations);
        pp_exec_rank_tiers_json(run, i, o);
        json_array_append_new(list, o);
    }
    return list;
}

static const char *const DEVICE_MODES[] = {"serial", "streams", "partition"};
static void put_setting(json_t *o, const struct pp_exec_run *run)
{
    const struct pp_exec_config *c = &run->config;
    char recompute[PP_EXEC_RECOMPUTE_BYTES];

    pp_json_put_text(o, "model", c->net.name);
    pp_json_put_text(o, "family", c->model.family);
    json_object_set_new(o, "numerics", pp_exec_numerics_json(run));
    pp_json_put_text(o, "weights", c->weights ? c->weights : "drawn");
    pp_json_put_text(o, "data", c->text.name);
    pp_json_put_int(
        o, "epoch_samples",
        c->text.order.kind == PP_ORDER_DRAWN ? 0 : pp_order_samples(c->text.count, c->text.seq));
    pp_json_put_text(o, "precision", c->precision);
    pp_json_put_text(o, "kernels", c->kernels->about());
    pp_json_put_text(o, "attention", c->kernels->attention ? c->kernels->attention() : "own");
    pp_json_put_text(o, "device", c->backend->about ? c->backend->about() : NULL);
    const int gpus = !c->cuda ? 0 : c->transport->remote ? run->result.way.gpus : 1;
    json_object_set_new(o, "gpus", gpus > 0 ? json_integer(gpus) : json_null());
    pp_json_put_text(o, "device_mode", c->cuda ? DEVICE_MODES[c->mode] : NULL);
    pp_json_put_text(o, "clock", c->clock == PP_CLOCK_VIRTUAL ? "virtual" : "wall");
    pp_json_put_bool(o, "exact_grad", c->recipe.is_exact);
    pp_json_put_int(o, "steps", c->steps);
    pp_json_put_int(o, "first_step", c->first_step);
    pp_json_put_int(o, "warmup", c->warmup);
    pp_json_put_text(o, "recompute", pp_exec_recompute_value(run, recompute));
    json_object_set_new(o, "layout", layout_json(run));
}

/* Adds measured wire and pauses; null on the virtual clock. Bandwidth is null if time does not
 * depend on size. */
static void put_wall(json_t *o, const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const bool is_wall = run->config.clock == PP_CLOCK_WALL, has_wire = r->is_wire_measured;

    pp_json_put(o, "message_latency_s", has_wire ? r->wire.alpha_s : (double)NAN);
    pp_json_put(o, "message_bytes_per_s", has_wire ? 1 / r->wire.s_per_byte : (double)NAN);
    pp_json_put(o, "gap_s", is_wall ? pp_units_s(r->pauses.ps[1]) : (double)NAN);
    pp_json_put(o, "start_gap_s", is_wall ? pp_units_s(r->pauses.ps[PP_GAP_STEP]) : (double)NAN);
    pp_json_put(o, "barrier_gap_s", is_wall ? pp_units_s(r->pauses.ps[PP_GAP_BAR]) : (double)NAN);
}

static void put_prediction(json_t *o, const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const bool is_virtual = run->config.clock == PP_CLOCK_VIRTUAL;
    const struct pp_exec_spread spread = pp_exec_spread(run);

    pp_json_put(o, "step_s", r->step_median_s);
    pp_json_put(o, "step_low_s", spread.low_s);
    pp_json_put(o, "step_high_s", spread.high_s);
    pp_json_put(o, "predicted_step_s", r->prediction.step_s);
    pp_json_put(o, "predicted_step_low_s", r->predicted_band.low_s);
    pp_json_put(o, "predicted_step_mid_s", r->predicted_band.mid_s);
    pp_json_put(o, "predicted_step_high_s", r->predicted_band.high_s);
    pp_json_put(o, "structural_error_s", is_virtual ? r->structural_error_s : (double)NAN);
    pp_json_put(o, "unattributed_s", is_virtual ? (double)NAN : r->unattributed_s);
    put_wall(o, run);
    pp_json_put(o, "model_error_frac", r->model_error_frac);
    pp_json_put(o, "null_step_s", r->null_step_s);
    pp_json_put(o, "null_error_frac", r->null_error_frac);
    pp_json_put(o, "bubble_frac", r->metrics.bubble_frac);
    pp_json_put(o, "span_bubble_frac", r->metrics.span_bubble_frac);
    pp_json_put(o, "predicted_bubble_frac", r->prediction.metrics.bubble_frac);
    pp_json_put_text(o, "calibrated_on",
                     run->other.program ? run->other.subject.name : run->plan.subject.name);
    json_object_set_new(o, "steps_s", pp_json_reals(r->step_s, r->steps_done));
    json_object_set_new(o, "time_frac", time_json(&r->metrics));
}

static void put_speed(json_t *o, const struct pp_exec_run *run)
{
    const struct pp_exec_speed speed = pp_exec_speed(run);

    pp_json_put(o, "tokens_per_s", speed.tokens_per_s);
    pp_json_put(o, "model_flops_per_s", speed.model_flops_per_s);
    pp_json_put(o, "mfu", speed.mfu);
}

static void put_check(json_t *o, const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;

    json_object_set_new(o, "losses", pp_json_reals(r->losses, r->steps_done));
    json_object_set_new(o, "valid_losses",
                        run->training.valid ? pp_json_reals(r->valid_losses, r->steps_done)
                                            : json_null());
    json_object_set_new(o, "grad_norms", pp_json_reals(r->grad_norms, r->steps_done));
    json_t *check = r->is_checked ? difference_json(&r->gradients) : json_null();
    if (r->is_checked) {
        pp_json_put(check, "bound_rel_l2", pp_exec_check_bound(run));
        pp_json_put_bool(check, "loss_equal", r->is_loss_equal);
    }
    json_object_set_new(o, "grad_check", check);
    json_object_set_new(o, "weight_check",
                        r->is_checked && r->weights.elements > 0 ? difference_json(&r->weights)
                                                                 : json_null());
    json_object_set_new(o, "act_bits", pp_exec_bits_json(run));
}

static json_t *graphs_json(const struct pp_graph_stats *stats)
{
    if (stats->count + stats->left_out == 0 && !stats->why_not)
        return json_null();
    return json_pack("{si si ss? sI sI ss?}", "count", stats->count, "left_out", stats->left_out,
                     "why_left", stats->why_left, "kernels", (json_int_t)stats->kernels, "launches",
                     (json_int_t)stats->launches, "why_not", stats->why_not);
}

static json_t *fallbacks_json(const struct pp_exec_run *run)
{
    const struct pp_fallbacks *f = &run->result.fallbacks;

    if (!run->config.backend->fallbacks)
        return json_null();
    json_t *o = json_pack("{sI sI sI sI}", "multiplications", (json_int_t)f->gemms, "own",
                          (json_int_t)f->own, "completed", (json_int_t)f->finished, "refused_forms",
                          (json_int_t)f->refused);
    pp_json_put_text(o, "first_refused", f->first[0] ? f->first : NULL);
    pp_json_put_text(o, "other_attention", f->attention[0] ? f->attention : NULL);
    return o;
}

static json_t *machinery_json(const struct pp_training_result *r)
{
    json_t *o = json_object();

    pp_json_put(o, "wall_s", r->wall_s);
    pp_json_put(o, "elapsed_step_s", r->elapsed_median_s);
    pp_json_put(o, "cpu_s", r->cpu_s);
    pp_json_put(o, "outside_s", r->outside_s);
    pp_json_put_int(o, "instructions", r->instructions);
    pp_json_put(o, "issue_s", r->issued > 0 ? r->issue_s : (double)NAN);
    pp_json_put_int(o, "issued", r->issued);
    json_object_set_new(o, "graphs", graphs_json(&r->graphs));
    return o;
}

static json_t *jump_json(const struct pp_machine_clock *clock)
{
    if (clock->jump_s == 0)
        return json_null();
    return json_pack("{sf si si si}", "by_s", clock->jump_s, "rank", clock->jump_rank, "replica",
                     clock->jump_replica, "after_step", clock->jump_step);
}

void pp_exec_report_json(const struct pp_exec_run *run, FILE *out)
{
    const struct pp_training_result *r = &run->result;
    const bool is_saved = run->training.export && r->export_error.status == PP_OK;
    json_t *o = json_pack("{ss ss ss ss}", "schema", "pipeexec.report/1", "schedule",
                          run->plan.subject.name, "backend", run->config.backend->name, "transport",
                          run->config.transport->name);

    put_setting(o, run);
    put_check(o, run);
    put_prediction(o, run);
    put_speed(o, run);
    pp_json_put_bytes(o, "peak_mem_bytes", r->peak_mem_bytes);
    pp_json_put_bytes(o, "predicted_peak_mem_bytes", r->predicted_peak_mem_bytes);
    pp_json_put_int(o, "peak_rank", r->peak_rank);
    json_object_set_new(o, "memory", memory_json(&r->layout[r->peak_rank]));
    json_object_set_new(o, "tiers", pp_exec_tiers_json(run));
    json_object_set_new(o, "ranks", ranks_json(run));
    pp_json_put(o, "clock_error_s", r->clock.error_s);
    json_object_set_new(o, "clock_jump", jump_json(&r->clock));
    json_object_set_new(o, "machinery", machinery_json(r));
    json_object_set_new(o, "experts", pp_exec_experts_json(run));
    json_object_set_new(o, "fallbacks", fallbacks_json(run));
    pp_json_put_text(o, "what_if", run->what_if);
    pp_json_put(o, "slowdown", r->slowdown);
    pp_json_put(o, "predicted_slowdown", r->predicted_slowdown);
    pp_json_put(o, "slowdown_error_frac", r->predicted_slowdown / r->slowdown - 1);
    pp_json_put_text(o, "resumed_from", run->config.resumed ? run->config.resumed->path : NULL);
    pp_json_put_text(o, "checkpoint", r->checkpoint);
    pp_json_put_int(o, "checkpoint_copy_bytes", (int64_t)r->checkpoint_copy_bytes);
    pp_json_put_text(o, "saved", is_saved ? run->training.export->folder->path : NULL);
    pp_json_put_text(o, "trace", run->trace);
    pp_json_put_text(o, "predicted_trace", run->predicted_trace);
    pp_json_put_bool(o, "shared_device", r->is_contended);
    pp_json_put_bool(o, "weight_grad_stream", run->plan.program->weight_stream != NULL);
    json_object_set_new(o, "meta", pp_json_meta(run->wall_s));
    pp_json_print(o, out);
}
