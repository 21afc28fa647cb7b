/* torchtitan: a job configuration in TOML.
 *
 * Source: pytorch/torchtitan. torchtitan/config/job_config.py (the last of 2025); since 2026
 * config/parallelism.py and configs.py hold the same names as Python classes.
 * torchtitan/distributed/pipeline_parallel.py: stages of a rank, blocks of a stage, files of
 * schedules. torchtitan/models/llama3/infra/parallelize.py refuses DDP. pytorch/pytorch,
 * torch/distributed/pipelining/schedules.py, get_schedule_class. */
#include "sim/emit/settings.h"

#include <string.h>

/* ---- schedule -------------------------------------------------------------------------------- */

/* Placements of stages, which PyTorch derives from the name of a schedule's class. */
enum style { LOOP, VEE, OTHER };
static enum style style_of(const struct pp_config *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const int ranks = c->shape.ranks, chunks = c->shape.chunks;
    const enum pp_placement_kind kind = c->schedule ? c->schedule->placement : PP_PLACE_FILE;

    if (kind == PP_PLACE_VEE || (kind == PP_PLACE_WAVE && chunks == 2))
        return VEE;
    if (kind != PP_PLACE_FILE)
        return kind == PP_PLACE_LOOP ? LOOP : OTHER;
    const uint16_t *rank_of = pp_config_ranks(arena, c);
    bool is_loop = true, is_vee = chunks == 2;
    for (int s = 0; s < ranks * chunks; s++) {
        is_loop &= rank_of[s] == s % ranks;
        is_vee &= rank_of[s] == (s < ranks ? s : 2 * ranks - 1 - s);
    }
    return is_loop ? LOOP : is_vee ? VEE : OTHER;
}

/* PyTorch's files have no splits and no parts of micro-batches, and one pipeline with a flush. */
static bool reads(const struct pp_config *c)
{
    const bool is_train = !c->file_program || c->file_program->mode == PP_MODE_TRAIN;

    return c->layout.pp > 1 && is_train && style_of(c) != OTHER &&
           (c->schedule
                ? pp_schedule_is_list(c->schedule, &c->shape)
                : c->shape.pipelines == 1 && c->shape.splits == 1 && c->shape.granules == 1);
}

/* NULL without a pipeline. */
static const char *schedule(const struct pp_emit_job *job)
{
    return !pp_emit_has_pipeline(job)     ? NULL
           : job->call                    ? job->call->name
           : style_of(job->config) == VEE ? "ZBVZeroBubble"
           : job->shape.chunks == 1       ? "PipelineScheduleSingle"
                                          : "PipelineScheduleMulti";
}

/* ---- state ----------------------------------------------------------------------------------- */

/* FSDP cuts parameters, gradients and optimizer state alike, over cp times `shard` devices; HSDP
 * has several such groups. Parameters that stay gathered after forward ("never") are gathered and
 * freed once a step with a pipeline, which also sums gradients once: ZeRO 1. Without a pipeline
 * each micro-batch scatters its gradients: ZeRO 2. DDP runs with no other parallelism. */
struct sharding {
    int replicate, shard;
    const char *reshard; /* NULL: nothing is cut */
    bool is_exact;
};
static struct sharding sharding_of(const struct pp_emit_job *job)
{
    const struct pp_layout *l = &job->layout;
    const int p = pp_emit_cut(job, PP_STATE_PARAMS), g = pp_emit_cut(job, PP_STATE_GRADS),
              os = pp_emit_cut(job, PP_STATE_OPTIMIZER);
    const int cut = p > 1 ? p : g > 1 ? g : os;

    if (cut == 1 && (pp_emit_replicas(job) == 1 || l->gpus == l->dp))
        return (struct sharding){.replicate = l->dp, .shard = 1, .is_exact = true};
    const int shard = cut > 1 && cut % l->cp == 0 ? cut / l->cp : l->dp;
    return (struct sharding){.replicate = l->dp / shard,
                             .shard = shard,
                             .reshard = p > 1 ? "always" : "never",
                             .is_exact = (p > 1 ? p == os : (g > 1) == (l->pp == 1) && os == cut) &&
                                         shard * l->cp == cut};
}

static bool is_offloaded(const struct pp_emit_job *job)
{
    return job->config->state.home[PP_STATE_OPTIMIZER] == PP_TIER_HOST;
}

/* ---- settings -------------------------------------------------------------------------------- */

static const struct flavor {
    const char *model, *name, *flavor;
} flavors[] = {
    {"deepseek-v2", "deepseek_v3", "236B"},
    {"deepseek-v2-lite", "deepseek_v3", "16B"},
    {"deepseek-v3", "deepseek_v3", "671B"},
    {"gpt-oss-120b", "gpt_oss", "120b"},
    {"gpt-oss-20b", "gpt_oss", "20b"},
    {"llama3-405b", "llama3", "405B"},
    {"llama3-70b", "llama3", "70B"},
    {"llama3-8b", "llama3", "8B"},
    {"llama4-maverick", "llama4", "17bx128e"},
    {"llama4-scout", "llama4", "17bx16e"},
    {"qwen3-0.6b", "qwen3", "0.6B"},
    {"qwen3-1.7b", "qwen3", "1.7B"},
    {"qwen3-14b", "qwen3", "14B"},
    {"qwen3-30b-a3b", "qwen3", "30B-A3B"},
    {"qwen3-32b", "qwen3", "32B"},
    {"qwen3-4b", "qwen3", "4B"},
    {"qwen3-8b", "qwen3", "8B"},
};
static const struct flavor *flavor_of(const struct pp_emit_job *job)
{
    for (size_t i = 0; i < PP_COUNT(flavors); i++)
        if (!strcmp(flavors[i].model, job->config->model.name))
            return &flavors[i];
    return NULL;
}

static void put_training(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_layout *l = &job->layout;
    const enum pp_precision p = pp_emit_precision(job);
    const bool is_single = p == PP_PRECISION_FP32 || p == PP_PRECISION_TF32;
    const int parts =
        pp_emit_has_pipeline(job) ? l->micro_batches : 1; /* else gradients are accumulated */

    pp_emit_section(e, "training");
    pp_emit_int(e, "local_batch_size", (int64_t)l->mbs * parts);
    pp_emit_int(e, "global_batch_size", l->gbs);
    pp_emit_int(e, "seq_len", l->seq);
    pp_emit_text(e, "mixed_precision_param", is_single ? "float32" : "bfloat16");
    pp_emit_flag(e, "enable_cpu_offload", is_offloaded(job));
}

static void put_parallelism(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_layout *l = &job->layout;
    const struct sharding s = sharding_of(job);

    pp_emit_section(e, "parallelism");
    pp_emit_degree(e, "data_parallel_replicate_degree", s.replicate);
    pp_emit_int(e, "data_parallel_shard_degree", s.shard);
    pp_emit_text(e, "fsdp_reshard_after_forward", s.reshard);
    pp_emit_int(e, "tensor_parallel_degree", l->tp);
    pp_emit_flag(e, "enable_async_tensor_parallel", job->config->costs.tp_overlap_frac > 0);
    pp_emit_int(e, "context_parallel_degree", l->cp);
    if (l->ep > 1) {
        pp_emit_int(e, "expert_parallel_degree", l->ep);
        pp_emit_int(e, "expert_tensor_parallel_degree", pp_layout_etp(l));
    }
    pp_emit_int(e, "pipeline_parallel_degree", l->pp);
    pp_emit_text(e, "pipeline_parallel_schedule", schedule(job));
    pp_emit_text(e, "pipeline_parallel_schedule_csv", job->list_path);
    if (pp_emit_has_pipeline(job))
        pp_emit_int(e, "pipeline_parallel_microbatch_size", l->mbs);
    pp_emit_torchtitan_split(job, e);
}

static void put(const struct pp_emit_job *job, struct pp_emission *e)
{
    static const char *const modes[] = {[PP_RECOMPUTE_NONE] = "none",
                                        [PP_RECOMPUTE_SELECTIVE] = "selective",
                                        [PP_RECOMPUTE_FULL] = "full",
                                        [PP_RECOMPUTE_STAGE] = "full"};
    const enum pp_recompute how = job->config->costs.recompute;
    const struct flavor *f = flavor_of(job);

    pp_emit_section(e, "model");
    pp_emit_text(e, "name", f ? f->name : NULL);
    pp_emit_text(e, "flavor", f ? f->flavor : NULL);
    put_training(job, e);
    put_parallelism(job, e);
    pp_emit_section(e, "activation_checkpoint");
    pp_emit_text(e, "mode", modes[how]);
    pp_emit_text(e, "selective_ac_option", how == PP_RECOMPUTE_SELECTIVE ? "op" : NULL);
}

/* ---- what it cannot do ----------------------------------------------------------------------- */

static const char *say_etp(const struct pp_emit_job *job)
{
    const int degree = pp_layout_etp(&job->layout);

    if (job->layout.ep == 1 || degree == 1 || degree == job->layout.tp)
        return NULL;
    return pp_arena_printf(job->arena,
                           "--etp %d: torchtitan cuts an expert over 1 or all %d tensor-parallel "
                           "devices; nearest: --etp 1 or --etp %d",
                           degree, job->layout.tp, job->layout.tp);
}

static const char *say_flavor(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    if (flavor_of(job))
        return NULL;
    return pp_arena_printf(job->arena,
                           "torchtitan has no flavor for %s; nearest: register one with dim %d, "
                           "n_layers %d, n_heads %d, n_kv_heads %d, hidden %d, vocab_size %d",
                           m->name, m->hidden, m->layers, m->heads, m->kv_heads, m->ffn, m->vocab);
}

static const char *say_precision(const struct pp_emit_job *job)
{
    const enum pp_precision p = job->config->cluster.device.precision;

    if (p != PP_PRECISION_FP16 && !pp_precision_is_narrow(p))
        return NULL;
    return pp_arena_printf(job->arena, "%s is not set here%s; nearest, and set here: bfloat16",
                           pp_precision_names[p],
                           p == PP_PRECISION_FP16 ? "" : ", it takes a converter of torchao");
}

static const char *say_recompute(const struct pp_emit_job *job)
{
    const struct pp_config *c = job->config;

    if (c->costs.recompute == PP_RECOMPUTE_STAGE)
        return "all stages recompute alike (no --recompute stage-aware); nearest, and set here: "
               "full";
    return c->costs.recompute == PP_RECOMPUTE_SELECTIVE &&
                   (c->costs.again || !c->costs.framework->is_selective_per_op)
               ? "selective is by operation there (--framework torchtitan predicts that), not by "
                 "module"
               : NULL;
}

static const char *say_state(const struct pp_emit_job *job)
{
    const struct sharding s = sharding_of(job);
    char text[PP_STATE_TEXT_BYTES];

    if (s.is_exact)
        return NULL;
    return pp_arena_printf(job->arena,
                           "FSDP cuts parameters, gradients and optimizer state alike, here over "
                           "%d devices, not as %s%s",
                           s.shard * job->layout.cp, pp_state_name(&job->config->state, text),
                           !strcmp(s.reshard, "never")
                               ? "; nearest, and set here: parameters stay gathered after forward"
                               : "; nearest, and set here: --zero 3 within so many");
}

static const char *say_offload(const struct pp_emit_job *job)
{
    const struct pp_state_spec *state = &job->config->state;
    const char *lack = pp_emit_say_home(job);

    if (lack)
        return lack;
    return is_offloaded(job) != (state->home[PP_STATE_PARAMS] == PP_TIER_HOST) ||
                   (is_offloaded(job) && !state->is_cpu_update)
               ? "parameters, gradients and optimizer state go to the host together and are "
                 "updated "
                 "there; nearest: --offload p=host,os=host --cpu-optimizer"
               : NULL;
}

static void differs(const struct pp_emit_job *job, struct pp_emission *e)
{
    pp_emit_differs(e, pp_emit_say_schedule(job));
    pp_emit_differs(e, pp_emit_say_barrier(job));
    pp_emit_differs(e, say_flavor(job));
    if (job->config->model.is_tied && pp_emit_has_pipeline(job))
        pp_emit_differs(e, "embedding and head in different stages do not share a matrix; nearest: "
                           "--embedding untied");
    pp_emit_differs(e, say_precision(job));
    if (job->layout.tp > 1 && !pp_emit_is_sequence_parallel(job))
        pp_emit_differs(e, "tensor parallelism is always with sequence parallelism; nearest, and "
                           "what runs: --sequence-parallel on");
    pp_emit_differs(e, say_recompute(job));
    pp_emit_differs(e, say_state(job));
    pp_emit_differs(e, say_offload(job));
    pp_emit_differs(e, pp_emit_say_head(job));
    pp_emit_differs(e, pp_emit_say_graph(job));
    pp_emit_differs(e, pp_emit_say_map(job));
    pp_emit_differs(e, pp_emit_say_bits(job));
    pp_emit_differs(e, pp_emit_say_again(job));
    pp_emit_differs(e, pp_emit_say_split(job));
    pp_emit_differs(e, pp_emit_say_tiers(job));
}

/* Returns a remark on names that its Python classes of 2026 changed or dropped. */
static const char *say_renamed(const struct pp_emit_job *job)
{
    const bool has_etp = job->layout.ep > 1 && pp_layout_etp(&job->layout) > 1;

    return pp_arena_printf(
        job->arena,
        "Since 2026 torchtitan takes these names in Python (ParallelismConfig and so on)%s%s%s.",
        pp_emit_has_pipeline(job) ? pp_arena_printf(job->arena,
                                                    ", with num_pp_microbatches = %d for "
                                                    "pipeline_parallel_microbatch_size",
                                                    job->layout.micro_batches)
                                  : "",
        pp_emit_torchtitan_is_listed(job)
            ? ", and pipeline_parallel_module_fqns_per_model_part for the list of modules"
            : "",
        has_etp ? ", and experts are no longer cut (etp 1)" : "");
}

static void launch(const struct pp_emit_job *job, struct pp_emission *e)
{
    pp_emit_remark(e, pp_arena_printf(job->arena,
                                      "Launch: torchrun --nnodes %d --nproc-per-node %d -m "
                                      "torchtitan.train --job.config_file %s",
                                      pp_emit_nodes(job), pp_emit_node_gpus(job),
                                      job->path ? job->path : "FILE.toml"));
    pp_emit_remark(e, say_renamed(job));
    if (job->list_path)
        pp_emit_remark(
            e, pp_arena_printf(job->arena,
                               "The order of %s is no class of PyTorch: it is read from %s, %s.",
                               job->config->schedule_name, job->list_path,
                               job->path ? "written next to this file"
                                         : "which -o FILE.toml of a run writes as FILE.csv"));
}

static const struct pp_emit_part all = {put, differs, say_etp};

static const struct pp_emit_home homes[] = {
    {PP_STATE_ACTIVATIONS, 0,
     "activations do not leave the device (--offload a); nearest: --recompute full"},
    {PP_STATE_OPTIMIZER, PP_EMIT_ON(PP_TIER_HOST),
     "nothing goes to drives (--offload nvme); nearest: --offload p=host,os=host"},
    {PP_STATE_PARAMS, PP_EMIT_ON(PP_TIER_HOST),
     "nothing goes to drives (--offload nvme); nearest: --offload p=host,os=host"},
};

const struct pp_emit_tool pp_emit_torchtitan = {
    .name = "torchtitan",
    .software = &pp_tool_torchtitan,
    .title = "torchtitan",
    .print = pp_emit_toml,
    .parts = (const struct pp_emit_part *const[]){&all, NULL},
    .homes = homes,
    .home_count = PP_COUNT(homes),
    .launch = launch,
    .reads = reads,
};
