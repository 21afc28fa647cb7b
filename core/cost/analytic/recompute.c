/* Recomputation: its flops, and the levels worth a trial. */
#include "core/cost/analytic/parts.h"

#include <math.h>

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

/* ---- levels ---------------------------------------------------------------------------------- */

static const double LEAST_FRAC = 1e-6; /* of a block's bytes: less is rounding */
static const double CHEAP_FRAC = 0.1;  /* of the time of full: such modules come before others */

static struct pp_recompute_level level_of(const struct pp_cost_inputs *in,
                                          enum pp_recompute recompute, unsigned again)
{
    const struct pp_model *m = in->model;
    const double moe = pp_model_moe_blocks(m, 0, m->layers);
    const struct {
        enum pp_layer_kind kind;
        double count;
    } blocks[] = {{PP_LAYER_BLOCK, m->layers - moe}, {PP_LAYER_MOE, moe}};
    struct pp_recompute_level level = {.recompute = recompute, .again = again, .least_frac = 1};
    struct pp_cost_inputs other = *in, plain = *in;

    plain.recompute = PP_RECOMPUTE_NONE;
    other.recompute = recompute;
    other.again = again;
    for (size_t i = 0; i < PP_COUNT(blocks); i++) {
        if (blocks[i].count == 0)
            continue;
        level.added_s += blocks[i].count * pp_analytic_again_s(&other, blocks[i].kind);
        const double kept_bytes = pp_analytic_kept_bytes(&other, blocks[i].kind),
                     all_bytes = pp_analytic_kept_bytes(&plain, blocks[i].kind);
        level.kept_bytes += blocks[i].count * kept_bytes;
        level.least_frac = fmin(level.least_frac, kept_bytes / all_bytes);
    }
    return level;
}

/* Returns the modules that the framework can compute again and that the model has. */
static unsigned modules_of(const struct pp_cost_inputs *in)
{
    const struct pp_framework *f = pp_cost_framework(in);
    const bool has_experts = in->model->experts.count > 0;
    unsigned modules = f->modules;

    if (!in->cluster->device.is_attention_unfused)
        modules &= ~(unsigned)PP_AGAIN_CORE; /* a fused kernel keeps no scores */
    if (f->is_act_of_experts && !has_experts)
        modules &= ~(unsigned)PP_AGAIN_ACT;
    return modules;
}

/* Is true if level `b` frees something beyond level `a`. */
static bool frees(const struct pp_recompute_level *a, const struct pp_recompute_level *b)
{
    return b->kept_bytes < a->kept_bytes * (1 - LEAST_FRAC);
}

/* Drops the modules of a level that free nothing next to its others. */
static struct pp_recompute_level reduced(const struct pp_cost_inputs *in,
                                         struct pp_recompute_level level)
{
    for (unsigned module = 1; module < PP_AGAIN_ALL; module *= 2) {
        if (!(level.again & module) || level.again == module)
            continue;
        const struct pp_recompute_level less =
            level_of(in, PP_RECOMPUTE_SELECTIVE, level.again & ~module);
        if (!frees(&less, &level))
            level = less;
    }
    return level;
}

/* Finds the next level after `from`: one more module, the one that frees bytes at the least time.
 * Cheap ones come first: a large one may free more than is missing. False if none frees any. */
static bool add_module(const struct pp_cost_inputs *in, unsigned modules, double cheap_s,
                       const struct pp_recompute_level *from, struct pp_recompute_level *next)
{
    double least = INFINITY;
    bool is_cheap = false;

    for (unsigned module = 1; module < PP_AGAIN_ALL; module *= 2) {
        if (!(modules & module & ~from->again))
            continue;
        const struct pp_recompute_level level =
            level_of(in, PP_RECOMPUTE_SELECTIVE, from->again | module);
        const double added_s = level.added_s - from->added_s,
                     s_per_byte = added_s / (from->kept_bytes - level.kept_bytes);
        const bool is_better =
            (added_s <= cheap_s) == is_cheap ? s_per_byte < least : added_s <= cheap_s;
        if (!frees(from, &level) || !is_better)
            continue;
        least = s_per_byte;
        is_cheap = added_s <= cheap_s;
        *next = level;
    }
    return !isinf(least);
}

static int add_sets(const struct pp_cost_inputs *in, const struct pp_recompute_level *full,
                    struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS], int count)
{
    const unsigned modules = modules_of(in);
    struct pp_recompute_level next;

    while (count < PP_RECOMPUTE_LEVELS - 1 &&
           add_module(in, modules, CHEAP_FRAC * full->added_s, &levels[count - 1], &next)) {
        next = reduced(in, next);
        if (next.added_s >= full->added_s)
            break;
        levels[count++] = next;
    }
    return count;
}

int pp_recompute_levels(const struct pp_cost_inputs *in,
                        struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS])
{
    const struct pp_recompute_level full = level_of(in, PP_RECOMPUTE_FULL, 0);
    int count = 0;

    levels[count++] = level_of(in, PP_RECOMPUTE_NONE, 0);
    if (pp_cost_framework(in)->is_selective_per_op) {
        const struct pp_recompute_level some = level_of(in, PP_RECOMPUTE_SELECTIVE, 0);
        if (frees(&levels[0], &some) && some.added_s < full.added_s)
            levels[count++] = some;
    } else {
        count = add_sets(in, &full, levels, count);
    }
    if (frees(&levels[count - 1], &full))
        levels[count++] = full;
    for (int i = 0; i < count; i++) /* as the name alone says */
        if (levels[i].again == PP_AGAIN_CORE)
            levels[i].again = 0;
    return count;
}
