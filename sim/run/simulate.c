/* Simulates one configuration: prepares it, runs an engine, computes the figures. */
#include "sim/run/simulate.h"

#include "core/cluster/slow.h"
#include "core/cost/measured/file.h"
#include "core/units.h"
#include "schedules/build/cut.h"
#include "sim/config/steps.h"
#include "sim/run/again.h"
#include "sim/run/fold.h"
#include "sim/run/lengthen.h"
#include "sim/run/prepare.h"
#include "sim/run/quick.h"

#include <math.h>

/* Returns the model flops of a sample. An ignored head and dropped tokens cost no time, so their
 * flops must not raise the MFU. */
static double flops_per_sample(const struct pp_config *c)
{
    const struct pp_model *m = &c->model;
    const double seq = c->layout.seq, factor = c->costs.capacity_factor;
    const double all = pp_model_flops_per_sample(m, c->layout.seq, c->flops);
    const double ignored = c->costs.head == PP_HEAD_IGNORED
                               ? pp_model_layer_flops(m, PP_LAYER_HEAD, 1, seq, c->flops)
                               : 0;
    const double dropped = pp_model_moe_blocks(m, 0, m->layers) *
                               pp_model_dropped_flops(m, PP_LAYER_MOE, seq, factor) +
                           m->mtp * pp_model_dropped_flops(m, PP_LAYER_MTP, seq, factor);

    return all - 3 * (ignored + dropped);
}

/* Returns the mean peak of the devices, over the nominal one. Ranks that --slow speeds up have a
 * higher peak; slowed ones lose utilisation. */
static double raised_peak(const struct pp_result *result)
{
    const struct pp_engine_options *o = &result->config.engine_options;
    const int count = result->program->ranks * o->replicas;
    double sum = 0;

    for (int k = 0; k < count && o->perturbation.slow; k++)
        sum += fmax(1, o->perturbation.slow[k]);
    return o->perturbation.slow ? sum / count : 1;
}

/* Utilisation above 100 % is impossible, but for jitter; measured costs are the user's. */
static enum pp_status check_rates(const struct pp_result *result, struct pp_error *err)
{
    const struct pp_config *c = &result->config;

    if (result->hfu <= pp_config_hurry(c))
        return PP_OK;
    if (c->cost)
        return pp_error_set(err, PP_EINVAL,
                            "%s: with its times the devices compute at %.4g %% of their peak; are "
                            "they in seconds, and of this model?",
                            c->cost->path, 100 * result->hfu);
    return pp_error_set(err, PP_EFAIL,
                        "internal check failed: hardware flops utilisation of %.1f %% is above "
                        "100 %%",
                        100 * result->hfu);
}

/* Returns the flops of a generating run: those of its passes, each once. */
static double generation_flops(const struct pp_result *result)
{
    const struct pp_costs *costs = result->costs;
    const struct pp_layout *l = &result->config.layout;
    double flops = 0;

    for (int v = 0; v < costs->stages; v++)
        flops += costs->op[PP_F][v].flops;
    return flops * l->micro_batches * l->dp;
}

static double model_flops(const struct pp_result *result)
{
    const struct pp_config *c = &result->config;
    const double forward = result->program->mode == PP_MODE_INFER ? 1.0 / 3 : 1; /* B = 2 F */

    return c->generation.passes ? generation_flops(result)
                                : forward * (double)c->layout.gbs * flops_per_sample(c);
}

static enum pp_status rates(struct pp_result *result, struct pp_error *err)
{
    const struct pp_config *c = &result->config;
    const double iteration_s = result->metrics.iteration_s;
    const double samples = (double)c->layout.gbs;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const double *run_frac =
        c->lower.again.is_skipped ? pp_again_run_frac(arena, result->program) : NULL;

    result->model_flops_per_step = model_flops(result);
    result->hardware_flops_per_step =
        result->model_flops_per_step +
        samples * pp_recompute_flops_in_part(&result->cost_inputs, c->flops, run_frac);
    result->tokens_per_s =
        samples * (c->generation.passes ? c->generation.passes : c->layout.seq) / iteration_s;
    result->tokens_per_s_per_gpu = result->tokens_per_s / c->layout.gpus;
    result->model_flops_per_s_per_gpu = result->model_flops_per_step / iteration_s / c->layout.gpus;
    result->mfu = result->model_flops_per_s_per_gpu / c->cluster.device.peak_flops_per_s /
                  raised_peak(result);
    result->hfu = result->mfu * result->hardware_flops_per_step / result->model_flops_per_step;
    return check_rates(result, err);
}

/* Refuses slow ranks and jitter if the sum of the ops' times may overflow. */
static enum pp_status check_stretch(const struct pp_result *result, struct pp_error *err)
{
    const struct pp_engine_options *o = &result->config.engine_options;
    const struct pp_program *p = result->program;
    double slowest = 1, sum_s = 0;

    for (int k = 0; k < p->ranks * o->replicas && o->perturbation.slow; k++)
        slowest = fmin(slowest, o->perturbation.slow[k]);
    if (slowest == 1 && o->perturbation.jitter_frac == 0)
        return PP_OK;
    for (int i = 0; i < pp_program_size(p); i++) {
        const struct pp_op op = pp_program_op(p, i);
        if (pp_op_is_compute(op.kind))
            sum_s += pp_units_s(pp_costs_op(result->costs, &op, NULL).ps);
    }
    sum_s *= (1 + o->perturbation.jitter_frac) / slowest * (o->eval.steps > 1 ? o->eval.steps : 1);
    if (sum_s < pp_units_s(INT64_MAX / 2))
        return PP_OK;
    return pp_error_set(err, PP_EFAIL,
                        "with --slow and --jitter the ops take up to %.3g s in all; times above "
                        "%.3g s overflow",
                        sum_s, pp_units_s(INT64_MAX / 2));
}

static struct pp_engine_run engine_run(struct pp_arena *arena, const struct pp_result *result)
{
    const struct pp_config *c = &result->config;
    const struct pp_program *p = result->program;
    const int steps = c->engine_options.eval.steps;

    return (struct pp_engine_run){
        .program = p,
        .costs = result->costs,
        .times = result->times,
        .engine = c->engine->name,
        .step_of = pp_steps_in_list(c) ? pp_steps_of(arena, p, p->micro_batches / steps) : NULL,
        .steps_in_list = steps};
}

struct pp_trace *pp_simulated_events(struct pp_arena *arena, const struct pp_result *result)
{
    const struct pp_engine_run run = engine_run(arena, result);

    return pp_engine_events(arena, &run);
}

static enum pp_status find_figures(struct pp_arena *arena, struct pp_result *result,
                                   enum pp_depth depth, struct pp_error *err)
{
    const struct pp_engine_run done = engine_run(arena, result);

    if (depth < PP_FULL)
        return pp_engine_metrics(arena, &done, &result->metrics, err);
    result->trace = pp_engine_trace(arena, &done);
    return pp_metrics_compute(arena, result->trace, &result->metrics, err);
}

/* Runs the engine. `is_known` is false if the program is cut and its times tell nothing. */
static enum pp_status run_engine(struct pp_arena *arena, const struct pp_prepared *prepared,
                                 struct pp_result *result, enum pp_depth depth, bool *is_known,
                                 struct pp_error *err)
{
    const struct pp_config *c = &result->config;
    struct pp_engine_options *options = &result->config.engine_options;
    double *slow;

    if (c->costs.fabric && !c->cost) /* measured channels are not links of a cluster */
        options->network = pp_network_make(arena, c->costs.fabric, &c->cluster, &c->layout, c->map);
    options->replicas = result->replicas_simulated = pp_fold_replicas(
        arena, c, result->program, result->costs, options->network, &result->fold_note);
    const struct pp_slow_machine machine = {c->shape.ranks, c->layout.dp, options->replicas};
    PP_TRY(pp_slow_table(arena, c->slow, c->slow_count, &machine, &slow, err));
    options->perturbation.slow = slow;
    options->perturbation.compute_ps = result->compute_ps;
    PP_TRY(check_stretch(result, err));
    struct pp_engine_options run = *options;
    run.eval = pp_steps_plan(c);
    run.stats = &result->network_stats;
    run.prepared = pp_prepared_known_plan(prepared, result->program, &run.eval);
    const enum pp_times_wanted wanted = depth >= PP_TIMED ? PP_TIMES_POSTS : PP_TIMES_SPANS;
    PP_TRY(
        c->engine->run(arena, result->program, result->costs, &run, wanted, &result->times, err));
    PP_TRY(pp_prepare_check(c, err));
    *is_known = !result->program->cut || pp_lengthen(arena, &run.eval, result);
    return PP_OK;
}

/* Runs a cut program with more and more periods until its times tell enough, or it is whole. */
static enum pp_status run_cut(struct pp_arena *arena, struct pp_prepared *prepared,
                              struct pp_result *result, enum pp_depth depth, struct pp_error *err)
{
    const struct pp_config config = result->config;
    struct pp_program *cut = result->program;
    int periods = pp_may_lengthen(&config, cut) ? 0 : cut->cut->periods;

    for (bool is_known = false; !is_known;) {
        result->config = config;
        result->program = periods > 0 ? pp_cut_unfold(arena, cut, periods) : cut;
        if (!result->program) {
            PP_TRY(pp_prepare(arena, PP_MADE_BARE, prepared, result, err));
            cut = result->program;
        }
        PP_TRY(run_engine(arena, prepared, result, depth, &is_known, err));
        periods = is_known ? periods : pp_lengthen_more(cut, periods);
    }
    PP_TRY(find_figures(arena, result, depth, err));
    result->program = cut; /* the memory names its instructions */
    return PP_OK;
}

static enum pp_status full_time(struct pp_arena *arena, struct pp_prepared *prepared,
                                struct pp_result *result, enum pp_depth depth, struct pp_error *err)
{
    bool is_known;

    if (result->program->cut)
        return run_cut(arena, prepared, result, depth, err);
    PP_TRY(run_engine(arena, prepared, result, depth, &is_known, err));
    return find_figures(arena, result, depth, err);
}

/* Returns how complete a program has to be. If times suffice, it needs no trace. Then it is proved
 * last, or not at all: tests prove all built-in schedules. */
static enum pp_made made_for(const struct pp_config *config, enum pp_depth depth)
{
    const bool is_given = config->file_program || config->order.rule != PP_ORDER_STRICT;

    const bool is_whole = depth >= PP_METRICS && (depth >= PP_WHOLE || is_given);

    /* every token is timed, so that none is left out */
    return is_whole ? PP_MADE_WHOLE : config->generation.passes ? PP_MADE_BARE : PP_MADE_CUT;
}

static enum pp_status simulate(struct pp_arena *arena, const struct pp_config *config,
                               enum pp_depth depth, struct pp_prepared *prepared,
                               struct pp_result *result, struct pp_error *err)
{
    const enum pp_made made = made_for(config, depth);

    *result = (struct pp_result){.config = *config};
    PP_TRY(pp_prepare(arena, made, prepared, result, err));
    if (depth == PP_MEMORY)
        return PP_OK;
    if (depth == PP_QUICK)
        PP_TRY(pp_quick_time(arena, prepared, result, err));
    else
        PP_TRY(full_time(arena, prepared, result, depth, err));
    if (depth == PP_PROVED && made < PP_MADE_WHOLE)
        PP_TRY(pp_prepare_proof(arena, result, err));
    return config->is_unit ? PP_OK : rates(result, err);
}

enum pp_status pp_simulate(struct pp_arena *arena, const struct pp_config *config,
                           enum pp_depth depth, struct pp_prepared *prepared,
                           struct pp_result *result, struct pp_error *err)
{
    struct pp_prepared own = {0};
    struct pp_error unproven;

    prepared = prepared ? prepared : &own;
    if (depth != PP_METRICS && depth != PP_PROVED)
        return simulate(arena, config, depth, prepared, result, err);
    if (simulate(arena, config, depth, prepared, result, &unproven) == PP_OK)
        return PP_OK;
    /* A run of the whole program reports the error. */
    return simulate(arena, config, depth == PP_METRICS ? PP_FULL : PP_WHOLE, prepared, result, err);
}
