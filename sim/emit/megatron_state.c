/* sim/emit/megatron_state.c — Megatron-LM: recomputation, sharding, other memory. */
#include "sim/emit/settings.h"

#include <math.h>

/* ---- recomputation --------------------------------------------------------------------------- */

static const char *modules(const struct pp_emit_job *job)
{
    unsigned left = job->config->costs.again;
    const char *text = "";

    if (job->config->costs.recompute != PP_RECOMPUTE_SELECTIVE || !left)
        return NULL;
    for (const struct pp_again_name *n = pp_again_names; n->name; n++) {
        if (!(left & n->module))
            continue;
        const char *name = n->module == PP_AGAIN_ACT ? "moe_act" : n->name;
        text = pp_arena_printf(job->arena, "%s%s%s", text, *text ? " " : "", name);
        left &= ~(unsigned)n->module;
    }
    return text;
}

/* ---- state ----------------------------------------------------------------------------------- */

/* The distributed optimizer cuts optimizer state alone, Megatron-FSDP what its strategy names. Each
 * instance holds it once; with `is_outer`, all together hold one optimizer state. */
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

bool pp_emit_megatron_is_fsdp(const struct pp_emit_job *job)
{
    return sharding_of(job).is_fsdp;
}

static bool is_on_host(const struct pp_emit_job *job, enum pp_state_class class)
{
    return job->config->state.home[class] == PP_TIER_HOST;
}

/* ---- settings -------------------------------------------------------------------------------- */

/* --recompute stage-aware becomes equally many layers of each chunk, as many as the first needs. */
static void put_recompute(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_cost_inputs *c = &job->config->costs;
    const double first = c->first_stage_ratio * job->blocks[0],
                 moved_frac = pp_state_moved(&job->config->state, PP_STATE_ACTIVATIONS);
    const int all = job->config->model.layers, moved = (int)lround(moved_frac * all);

    pp_emit_section(e, "recomputation");
    if (c->recompute == PP_RECOMPUTE_SELECTIVE) {
        pp_emit_text(e, "recompute-granularity", "selective");
        pp_emit_list(e, "recompute-modules", modules(job));
    } else if (c->recompute != PP_RECOMPUTE_NONE) {
        const bool is_full = c->recompute == PP_RECOMPUTE_FULL;
        pp_emit_text(e, "recompute-granularity", "full");
        pp_emit_text(e, "recompute-method", is_full ? "uniform" : "block");
        pp_emit_int(e, "recompute-num-layers", is_full ? 1 : (int)ceil(first));
    }
    /* Megatron-LM refuses this with a pipeline. */
    if (is_on_host(job, PP_STATE_ACTIVATIONS) && job->layout.pp == 1 && moved > 0)
        pp_emit_int(e, "cpu-offloading-num-layers", moved < all ? moved : moved - 1);
}

static void put_state(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct sharding s = sharding_of(job);
    const struct pp_cost_inputs *c = &job->config->costs;
    const bool is_overlapped = pp_emit_replicas(job) > 1 && c->is_dp_overlapped,
               is_on_cpu = is_on_host(job, PP_STATE_OPTIMIZER);

    pp_emit_section(e, "state");
    pp_emit_flag(e, "use-distributed-optimizer", s.is_cut);
    if (s.is_cut && s.instances > 1)
        pp_emit_int(e, "num-distributed-optimizer-instances", s.instances);
    pp_emit_flag(e, "use-megatron-fsdp", s.is_fsdp);
    pp_emit_text(e, "data-parallel-sharding-strategy", s.is_fsdp ? s.strategy : NULL);
    pp_emit_text(e, "outer-dp-sharding-strategy", s.is_fsdp && s.is_outer ? "optim" : NULL);
    pp_emit_flag(e, "no-gradient-accumulation-fusion", s.is_fsdp);
    pp_emit_text(e, "ckpt-format", s.is_fsdp ? "fsdp_dtensor" : NULL);
    pp_emit_flag(e, "overlap-grad-reduce", is_overlapped);
    pp_emit_flag(e, "overlap-param-gather",
                 is_overlapped && s.is_cut && c->framework->has_params_ahead);
    pp_emit_flag(e, "optimizer-cpu-offload", is_on_cpu);
    pp_emit_flag(e, "use-precision-aware-optimizer", is_on_cpu);
}

static void put(const struct pp_emit_job *job, struct pp_emission *e)
{
    put_recompute(job, e);
    put_state(job, e);
}

/* ---- what it cannot do ----------------------------------------------------------------------- */

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
    if (pp_state_is_away(state, PP_STATE_ACTIVATIONS) && job->layout.pp > 1)
        return "activations do not leave the device with a pipeline (--offload a); nearest: "
               "--recompute full";
    return is_on_host(job, PP_STATE_OPTIMIZER) && !state->is_cpu_update
               ? "optimizer state on the host is updated there; nearest, and set here: "
                 "--cpu-optimizer"
               : NULL;
}

static void differs(const struct pp_emit_job *job, struct pp_emission *e)
{
    pp_emit_differs(e, say_recompute(job));
    pp_emit_differs(e, say_state(job));
    pp_emit_differs(e, say_offload(job));
    pp_emit_differs(e, pp_emit_say_bits(job));
    pp_emit_differs(e, pp_emit_say_again(job));
    pp_emit_differs(e, pp_emit_say_split(job));
    pp_emit_differs(e, pp_emit_say_tiers(job));
}

const struct pp_emit_part pp_emit_megatron_state = {put, differs, NULL};
