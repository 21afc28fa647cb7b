/* Recomputation: its flops, and a framework's selection. */
#include "core/cost/analytic/parts.h"

#include <math.h>

bool pp_analytic_is_per_op(const struct pp_cost_inputs *in)
{
    return in->again == 0 && pp_cost_framework(in)->is_selective_per_op;
}

unsigned pp_analytic_again(const struct pp_cost_inputs *in)
{
    return in->again ? in->again : PP_AGAIN_CORE;
}

static double recompute_frac(const struct pp_cost_inputs *in, int stage)
{
    return pp_recompute_frac(in->recompute, in->first_stage_ratio, in->stages, stage);
}

double *pp_recompute_fracs(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    return pp_recompute_shares(arena, in->recompute, in->first_stage_ratio, in->stages);
}

/* Returns flops that a recomputation omits, one sample: matrices, which all rules count alike. */
static double spared_flops(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_layer_work work = pp_analytic_work(in, 0);

    return (pp_analytic_layer(in, kind, work, PP_PASS_F).flops -
            pp_analytic_whole_again(in, kind, work).flops) *
           in->splits / in->layout.mbs;
}

/* Returns the flops that one block repeats, one sample. PyTorch selects matrices only, too. */
static double again_flops(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                          enum pp_flops_rule rule)
{
    const struct pp_model *m = in->model;
    const double seq = in->layout.seq;

    if (in->recompute != PP_RECOMPUTE_SELECTIVE)
        return pp_model_layer_flops(m, kind, 1, seq, rule) -
               pp_model_dropped_flops(m, kind, seq, in->capacity_factor) - spared_flops(in, kind);
    const struct pp_layer_work work = pp_analytic_work(in, 0);
    const double samples = (double)in->layout.mbs / in->splits;
    if (pp_analytic_is_per_op(in))
        return pp_analytic_selected(in, kind, work).flops / samples;
    const unsigned again = pp_analytic_again(in), others = again & ~(unsigned)PP_AGAIN_CORE;
    return (again & PP_AGAIN_CORE
                ? 4 * seq * pp_model_keys_met(m, seq, rule) * pp_model_attention_width(m)
                : 0) +
           pp_analytic_modules(in, kind, work, others).flops / samples;
}

double pp_recompute_flops_per_sample(const struct pp_cost_inputs *in, enum pp_flops_rule rule)
{
    return pp_recompute_flops_in_part(in, rule, NULL);
}

double pp_recompute_flops_in_part(const struct pp_cost_inputs *in, enum pp_flops_rule rule,
                                  const double *run_frac)
{
    static const enum pp_layer_kind kinds[] = {PP_LAYER_BLOCK, PP_LAYER_MOE};
    double again[2] = {0, 0}; /* repeated blocks of each kind */
    double flops = 0;

    for (int s = 0; s < in->stages; s++) {
        const struct pp_stage_layers layers = pp_analytic_stage_layers(in, s);
        for (int k = 0; k < 2; k++)
            again[k] +=
                recompute_frac(in, s) * (run_frac ? run_frac[s] : 1) * layers.count[kinds[k]];
    }
    for (int k = 0; k < 2; k++)
        if (again[k] > 0)
            flops += again[k] * again_flops(in, kinds[k], rule);
    return flops;
}
