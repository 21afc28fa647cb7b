/* sim/emit/megatron_state.c — Megatron-LM: recomputation, sharding, other memory. */
#include "sim/emit/megatron.h"

#include "core/cost/framework.h"

#include <math.h>
#include <stdio.h>

enum { LIST_BYTES = 256 };

/* ---- recomputation --------------------------------------------------------------------------- */

static struct pp_emit_value granularity(const struct pp_emit_job *job)
{
    static const char *const words[] = {[PP_RECOMPUTE_SELECTIVE] = "selective",
                                        [PP_RECOMPUTE_FULL] = "full",
                                        [PP_RECOMPUTE_STAGE] = "full"};
    const enum pp_recompute how = job->config->costs.recompute;

    return how == PP_RECOMPUTE_NONE ? PP_EMIT_NOTHING : PP_EMIT_TEXT(words[how]);
}

static struct pp_emit_value method(const struct pp_emit_job *job)
{
    const enum pp_recompute how = job->config->costs.recompute;

    return how == PP_RECOMPUTE_FULL    ? PP_EMIT_TEXT("uniform")
           : how == PP_RECOMPUTE_STAGE ? PP_EMIT_TEXT("block")
                                       : PP_EMIT_NOTHING;
}

/* Of each chunk alike, as many as the first needs. */
static struct pp_emit_value recompute_layers(const struct pp_emit_job *job)
{
    const enum pp_recompute how = job->config->costs.recompute;

    return how == PP_RECOMPUTE_FULL ? PP_EMIT_INT(1)
           : how == PP_RECOMPUTE_STAGE
               ? PP_EMIT_INT((int)ceil(job->config->costs.first_stage_ratio * job->blocks[0]))
               : PP_EMIT_NOTHING;
}

static struct pp_emit_value modules(const struct pp_emit_job *job)
{
    unsigned left = job->config->costs.again;
    char text[LIST_BYTES] = "";
    size_t used = 0;

    if (job->config->costs.recompute != PP_RECOMPUTE_SELECTIVE || !left)
        return PP_EMIT_NOTHING;
    for (const struct pp_again_name *n = pp_again_names; n->name; n++) {
        if (!(left & n->module))
            continue;
        const char *name = n->module == PP_AGAIN_ACT ? "moe_act" : n->name;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "", name);
        left &= ~(unsigned)n->module;
    }
    return PP_EMIT_LIST(pp_arena_printf(job->arena, "%s", text));
}

/* ---- state ----------------------------------------------------------------------------------- */

/* The distributed optimizer cuts optimizer state alone. Megatron-FSDP cuts what its strategy
 * says. Each instance holds it once; with `is_outer`, all instances together hold one
 * optimizer state. */
struct sharding {
    bool is_cut, is_fsdp, is_outer, is_exact;
    const char *strategy;
    int instances;
};
static struct sharding sharding_of(const struct pp_emit_job *job)
{
    const int all = pp_emit_replicas(job), p = pp_emit_cut(job, PP_STATE_PARAMS),
              g = pp_emit_cut(job, PP_STATE_GRADS), os = pp_emit_cut(job, PP_STATE_OPTIMIZER);
    const int inner = p > 1 ? p : g > 1 ? g : os;

    return (struct sharding){
        .is_cut = os > 1,
        .is_fsdp = g > 1,
        .is_outer = inner < os,
        .is_exact = (p == 1 || p == g) && (inner == os || (p > 1 && os == all)),
        .strategy = p > 1   ? "optim_grads_params"
                    : g > 1 ? "optim_grads"
                            : "optim",
        .instances = all / inner,
    };
}

static struct pp_emit_value distributed_optimizer(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(sharding_of(job).is_cut);
}

static struct pp_emit_value instances(const struct pp_emit_job *job)
{
    const struct sharding s = sharding_of(job);

    return s.is_cut && s.instances > 1 ? PP_EMIT_INT(s.instances) : PP_EMIT_NOTHING;
}

bool pp_emit_megatron_is_fsdp(const struct pp_emit_job *job)
{
    return sharding_of(job).is_fsdp;
}

static struct pp_emit_value fsdp(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(pp_emit_megatron_is_fsdp(job));
}

static struct pp_emit_value strategy(const struct pp_emit_job *job)
{
    return pp_emit_megatron_is_fsdp(job) ? PP_EMIT_TEXT(sharding_of(job).strategy)
                                         : PP_EMIT_NOTHING;
}

static struct pp_emit_value outer_strategy(const struct pp_emit_job *job)
{
    return pp_emit_megatron_is_fsdp(job) && sharding_of(job).is_outer ? PP_EMIT_TEXT("optim")
                                                                      : PP_EMIT_NOTHING;
}

static struct pp_emit_value checkpoint_format(const struct pp_emit_job *job)
{
    return pp_emit_megatron_is_fsdp(job) ? PP_EMIT_TEXT("fsdp_dtensor") : PP_EMIT_NOTHING;
}

static struct pp_emit_value grad_overlap(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(pp_emit_replicas(job) > 1 && job->config->costs.is_dp_overlapped);
}

static struct pp_emit_value param_overlap(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(grad_overlap(job).integer && sharding_of(job).is_cut &&
                        job->config->costs.framework->has_params_ahead);
}

static bool is_on_host(const struct pp_emit_job *job, enum pp_state_class class)
{
    return job->config->state.home[class] == PP_TIER_HOST;
}

static struct pp_emit_value cpu_optimizer(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(is_on_host(job, PP_STATE_OPTIMIZER));
}

/* Megatron-LM refuses it with a pipeline. */
static struct pp_emit_value cpu_layers(const struct pp_emit_job *job)
{
    const double frac = pp_state_moved(&job->config->state, PP_STATE_ACTIVATIONS);
    const int layers = (int)lround(frac * job->config->model.layers);

    if (!is_on_host(job, PP_STATE_ACTIVATIONS) || job->layout.pp > 1 || layers == 0)
        return PP_EMIT_NOTHING;
    return PP_EMIT_INT(layers < job->config->model.layers ? layers : layers - 1);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char *say_recompute(const struct pp_emit_job *job)
{
    const struct pp_config *c = job->config;

    if (c->costs.recompute == PP_RECOMPUTE_STAGE)
        return "later stages do not recompute less (--recompute stage-aware); nearest, and set "
               "here: every stage as many layers as the first";
    return c->costs.again & PP_AGAIN_ACT && c->costs.recompute == PP_RECOMPUTE_SELECTIVE
               ? "activation functions are recomputed of experts alone (moe_act); nearest for "
                 "dense MLPs: mlp"
               : NULL;
}

static const char *say_state(const struct pp_emit_job *job)
{
    char text[PP_STATE_TEXT_BYTES];

    if (sharding_of(job).is_exact)
        return NULL;
    return pp_arena_printf(job->arena,
                           "state is not cut as --shard %s; nearest, and set here: what the "
                           "strategy names over one group of devices",
                           pp_state_print(&job->config->state, text));
}

static const char *say_offload(const struct pp_emit_job *job)
{
    const struct pp_state_spec *state = &job->config->state;
    const char *lack = pp_emit_say_home(job);

    if (lack)
        return lack;
    if (state->home[PP_STATE_ACTIVATIONS] != PP_TIER_DEVICE && job->layout.pp > 1)
        return "activations do not leave the device with a pipeline (--offload a); nearest: "
               "--recompute full";
    return is_on_host(job, PP_STATE_OPTIMIZER) && !state->is_cpu_update
               ? "optimizer state on the host is updated there; nearest, and set here: "
                 "--cpu-optimizer"
               : NULL;
}

#define RECOMPUTE "recomputation"
#define STATE     "state"

/* clang-format off */
static const struct pp_emit_row rows[] = {
    {RECOMPUTE, "recompute-granularity", .value = granularity},
    {RECOMPUTE, "recompute-modules", .value = modules},
    {RECOMPUTE, "recompute-method", .value = method},
    {RECOMPUTE, "recompute-num-layers", .value = recompute_layers},
    {RECOMPUTE, "cpu-offloading-num-layers", .value = cpu_layers},

    {STATE, "use-distributed-optimizer", .value = distributed_optimizer},
    {STATE, "num-distributed-optimizer-instances", .value = instances},
    {STATE, "use-megatron-fsdp", .value = fsdp},
    {STATE, "data-parallel-sharding-strategy", .value = strategy},
    {STATE, "outer-dp-sharding-strategy", .value = outer_strategy},
    {STATE, "no-gradient-accumulation-fusion", .value = fsdp},
    {STATE, "ckpt-format", .value = checkpoint_format},
    {STATE, "overlap-grad-reduce", .value = grad_overlap},
    {STATE, "overlap-param-gather", .value = param_overlap},
    {STATE, "optimizer-cpu-offload", .value = cpu_optimizer},
    {STATE, "use-precision-aware-optimizer", .value = cpu_optimizer},
};
/* clang-format on */

static const struct pp_emit_gap gaps[] = {
    {PP_EMIT_DIFFERS, say_recompute},
    {PP_EMIT_DIFFERS, say_state},
    {PP_EMIT_DIFFERS, say_offload},
    {PP_EMIT_DIFFERS, pp_emit_say_bits},
};

const struct pp_emit_table pp_emit_megatron_state = PP_EMIT_TABLE(rows, gaps);
