/* DeepSpeed: its JSON configuration, and what the script must do itself.
 *
 * Source: deepspeedai/DeepSpeed as of 2026. deepspeed/runtime/config.py has the batch and the
 * keys that are read; other keys are not refused. deepspeed/runtime/zero/config.py and
 * offload_config.py. deepspeed/runtime/pipe/engine.py (a pipeline refuses ZeRO 2 and 3) and
 * module.py. deepspeed/runtime/tensor_parallel/config.py (autotp_size). */
#include "sim/emit/settings.h"

/* ---- state ----------------------------------------------------------------------------------- */

/* Returns the size of a MiCS group, which cuts all three classes; 0 without MiCS. */
static int mics_of(const struct pp_emit_job *job)
{
    const int p = pp_emit_cut(job, PP_STATE_PARAMS), os = pp_emit_cut(job, PP_STATE_OPTIMIZER);

    return p > 1 && p == os && p < pp_emit_replicas(job) && !pp_emit_has_pipeline(job) ? p : 0;
}

/* Is true if ZeRO must know a class: it is cut, or a single replica keeps it elsewhere. */
static bool is_of_zero(const struct pp_emit_job *job, enum pp_state_class class)
{
    return pp_emit_cut(job, class) > 1 ||
           (pp_emit_replicas(job) == 1 && pp_state_is_away(&job->config->state, class));
}

static int stage_asked(const struct pp_emit_job *job)
{
    return is_of_zero(job, PP_STATE_PARAMS)      ? 3
           : is_of_zero(job, PP_STATE_GRADS)     ? 2
           : is_of_zero(job, PP_STATE_OPTIMIZER) ? 1
                                                 : 0;
}

static int stage_of(const struct pp_emit_job *job)
{
    const int asked = stage_asked(job);

    return pp_emit_has_pipeline(job) && asked > 1 ? 1 : asked;
}

static bool is_cut_over_all(const struct pp_emit_job *job)
{
    for (int class = 0; class < PP_STATE_SHARDED; class ++) {
        const int cut = pp_emit_cut(job, (enum pp_state_class) class);
        if (cut > 1 && cut != pp_emit_replicas(job))
            return false;
    }
    return true;
}

/* Returns the name of a class's tier; NULL: it stays on the device. */
static const char *tier(const struct pp_emit_job *job, enum pp_state_class class)
{
    static const char *const words[PP_TIERS] = {[PP_TIER_HOST] = "cpu", [PP_TIER_NVME] = "nvme"};

    return stage_of(job) < (class == PP_STATE_PARAMS ? 3 : 1)
               ? NULL
               : words[job->config->state.home[class]];
}

static bool is_on_drives(const struct pp_emit_job *job, enum pp_state_class class)
{
    return tier(job, class) && job->config->state.home[class] == PP_TIER_NVME;
}

/* Returns the share of the optimizer's state that leaves the device: 1 is all of it, as without
 * ZeRO 3 and on drives. */
static double ratio(const struct pp_emit_job *job)
{
    const bool has_shares = tier(job, PP_STATE_OPTIMIZER) && stage_of(job) == 3 &&
                            !is_on_drives(job, PP_STATE_OPTIMIZER);

    return has_shares ? pp_state_moved(&job->config->state, PP_STATE_OPTIMIZER) : 1;
}

/* Adds the section of a class that leaves the device. */
static void put_home(const struct pp_emit_job *job, struct pp_emission *e, const char *section,
                     enum pp_state_class class)
{
    pp_emit_section(e, section);
    pp_emit_text(e, "device", tier(job, class));
    pp_emit_text(e, "nvme_path", is_on_drives(job, class) ? "/local_nvme" : NULL);
    pp_emit_flag(e, "pin_memory", tier(job, class) != NULL);
}

/* ---- settings -------------------------------------------------------------------------------- */

#define ZERO "zero_optimization"

static void put(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_layout *l = &job->layout;
    const int stage = stage_of(job), secondary = pp_mesh_size(job->config->state.secondary);

    pp_emit_section(e, "");
    pp_emit_int(e, "train_batch_size", l->gbs);
    pp_emit_int(e, "train_micro_batch_size_per_gpu", l->mbs);
    pp_emit_int(e, "gradient_accumulation_steps", l->micro_batches);
    pp_emit_degree(e, "sequence_parallel_size", l->cp);
    pp_emit_section(e, "bf16");
    pp_emit_flag(e, "enabled", pp_emit_is_bf16(job));
    pp_emit_section(e, "fp16");
    pp_emit_flag(e, "enabled", pp_emit_is_fp16(job));
    pp_emit_section(e, ZERO);
    pp_emit_int(e, "stage", stage);
    if (stage > 0)
        pp_emit_bool(e, "overlap_comm", job->config->costs.is_dp_overlapped);
    pp_emit_given(e, "mics_shard_size", mics_of(job));
    if (stage == 3 && secondary > 1)
        pp_emit_int(e, "zero_hpz_partition_size", secondary);
    put_home(job, e, ZERO ".offload_optimizer", PP_STATE_OPTIMIZER);
    pp_emit_share(e, "ratio", ratio(job));
    put_home(job, e, ZERO ".offload_param", PP_STATE_PARAMS);
    pp_emit_section(e, "tensor_parallel"); /* with a pipeline the script cuts the model */
    pp_emit_degree(e, "autotp_size", pp_emit_has_pipeline(job) ? 1 : l->tp);
}

/* ---- what it cannot do ----------------------------------------------------------------------- */

static const char *say_cp(const struct pp_emit_job *job)
{
    const struct pp_layout *l = &job->layout;
    const int heads = job->config->model.heads;

    if (l->cp == 1 || (!pp_emit_has_pipeline(job) && heads % (l->cp * l->tp) == 0))
        return NULL;
    return pp_arena_printf(job->arena,
                           "--cp %d: DeepSpeed cuts sequences by heads (Ulysses), %s; nearest: "
                           "--cp 1",
                           l->cp,
                           pp_emit_has_pipeline(job) ? "and not with a pipeline"
                                                     : "which must be a multiple of tp * cp");
}

static const char *say_state(const struct pp_emit_job *job)
{
    char text[PP_STATE_TEXT_BYTES];

    if (pp_emit_has_pipeline(job) && stage_asked(job) > 1)
        return pp_arena_printf(job->arena,
                               "ZeRO %d does not run with a pipeline; nearest, and set here: "
                               "--zero 1",
                               stage_asked(job));
    if (mics_of(job) || is_cut_over_all(job))
        return NULL;
    return pp_arena_printf(job->arena,
                           "state is not cut as --shard %s; nearest, and set here: --zero %d",
                           pp_state_print(&job->config->state, text), stage_of(job));
}

static const char *say_offload(const struct pp_emit_job *job)
{
    const struct pp_state_spec *state = &job->config->state;
    const char *lack = pp_emit_say_home(job);

    if (lack)
        return lack;
    if (pp_state_is_away(state, PP_STATE_PARAMS) && stage_of(job) < 3)
        return "parameters leave the device with ZeRO 3 alone; nearest: --zero 3";
    if (!pp_state_is_away(state, PP_STATE_OPTIMIZER))
        return NULL;
    return stage_of(job) == 0
               ? "optimizer state leaves the device with ZeRO alone; nearest: --zero 1"
           : state->is_cpu_update
               ? NULL
               : "optimizer state off the device is updated by the host; nearest, and set here: "
                 "--cpu-optimizer";
}

/* Says what shares of classes leave the device otherwise than asked. */
static const char *say_shares(const struct pp_emit_job *job)
{
    const struct pp_state_spec *state = &job->config->state;

    if (tier(job, PP_STATE_PARAMS) && pp_state_moved(state, PP_STATE_PARAMS) < 1)
        return "parameters leave the device as a whole; nearest, and set here: all of them";
    if (tier(job, PP_STATE_OPTIMIZER) && pp_state_moved(state, PP_STATE_OPTIMIZER) < 1 &&
        ratio(job) == 1)
        return "a share of the optimizer state leaves the device with ZeRO 3 and for the host "
               "alone; nearest, and set here: all of it";
    return NULL;
}

static void differs(const struct pp_emit_job *job, struct pp_emission *e)
{
    const enum pp_recompute how = job->config->costs.recompute;
    const enum pp_precision precision = pp_emit_precision(job);

    pp_emit_differs(e, pp_emit_say_schedule(job));
    pp_emit_differs(e, pp_emit_say_barrier(job));
    if (job->layout.cp > 1)
        pp_emit_differs(e, "sequences are cut by heads (Ulysses), with exchanges of all to all; "
                           "nearest, and set here: as many devices as the ring of --cp");
    if (!pp_emit_is_even(job, 0, pp_emit_stages(job)))
        pp_emit_differs(e, "PipelineModule shares blocks out by itself; nearest: partition_method "
                           "type:transformer, which is as even as can be");
    pp_emit_differs(e, say_state(job));
    pp_emit_differs(e, say_offload(job));
    pp_emit_differs(e, say_shares(job));
    if (pp_precision_is_narrow(precision))
        pp_emit_differs(e, pp_arena_printf(job->arena,
                                           "%s takes matrices of the script's own; nearest, and "
                                           "set here: bf16",
                                           pp_precision_names[precision]));
    if (how == PP_RECOMPUTE_SELECTIVE || how == PP_RECOMPUTE_STAGE)
        pp_emit_differs(e, "PipelineModule recomputes every k-th layer, not parts of layers; "
                           "nearest: --recompute full, activation_checkpoint_interval 1");
    pp_emit_differs(e, pp_emit_say_head(job));
    pp_emit_differs(e, pp_emit_say_graph(job));
    pp_emit_differs(e, pp_emit_say_map(job));
    pp_emit_differs(e, pp_emit_say_bits(job));
    pp_emit_differs(e, pp_emit_say_again(job));
    pp_emit_differs(e, pp_emit_say_split(job));
    pp_emit_differs(e, pp_emit_say_tiers(job));
}

static const struct pp_emit_part all = {put, differs, say_cp};

static void launch(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_layout *l = &job->layout;
    const struct pp_model *m = &job->config->model;
    const bool is_again = job->config->costs.recompute != PP_RECOMPUTE_NONE;

    pp_emit_remark(e, pp_arena_printf(job->arena,
                                      "Launch: deepspeed --num_nodes %d --num_gpus %d SCRIPT "
                                      "--deepspeed --deepspeed_config %s",
                                      pp_emit_nodes(job), pp_emit_node_gpus(job),
                                      job->path ? job->path : "FILE.json"));
    pp_emit_remark(
        e,
        pp_arena_printf(job->arena,
                        "The script sets the model: %d layers, hidden %d, %d heads, %d of "
                        "keys and values, feed-forward %d, vocabulary %d, sequences of %d%s.",
                        m->layers, m->hidden, m->heads, m->kv_heads, m->ffn, m->vocab, l->seq,
                        l->ep > 1 ? pp_arena_printf(job->arena, ", %d experts with MoE(ep_size=%d)",
                                                    m->experts.count, l->ep)
                                  : ""));
    if (pp_emit_has_pipeline(job))
        pp_emit_remark(
            e, pp_arena_printf(
                   job->arena,
                   "The script sets the pipeline: "
                   "PipelineModule(topology=PipeModelDataParallelTopology(num_pp=%d, num_mp=%d, "
                   "num_dp=%d), partition_method=\"type:transformer\", "
                   "activation_checkpoint_interval=%d); in Megatron-DeepSpeed "
                   "--pipeline-model-parallel-size %d --tensor-model-parallel-size %d.",
                   l->pp, l->tp, l->dp, is_again, l->pp, l->tp));
    else if (is_again)
        pp_emit_remark(e, "The script sets recomputation: deepspeed.checkpointing.checkpoint() "
                          "around its layers.");
    if (is_on_drives(job, PP_STATE_OPTIMIZER) || is_on_drives(job, PP_STATE_PARAMS))
        pp_emit_remark(e,
                       "nvme_path is a placeholder: it must name a folder of each node's drives.");
}

static const struct pp_emit_home homes[] = {
    {PP_STATE_ACTIVATIONS, 0,
     "saved activations go to the host by the script (cpu_checkpointing of "
     "deepspeed.checkpointing); nearest, and set here: they stay"},
    {PP_STATE_GRADS, PP_EMIT_ON(PP_TIER_HOST), NULL}, /* wherever offload_optimizer is */
    {PP_STATE_OPTIMIZER, PP_EMIT_ON(PP_TIER_HOST) | PP_EMIT_ON(PP_TIER_NVME), NULL},
    {PP_STATE_PARAMS, PP_EMIT_ON(PP_TIER_HOST) | PP_EMIT_ON(PP_TIER_NVME), NULL},
};

const struct pp_emit_tool pp_emit_deepspeed = {
    .name = "deepspeed",
    .software = &pp_tool_deepspeed,
    .title = "DeepSpeed",
    .print = pp_emit_json,
    .parts = (const struct pp_emit_part *const[]){&all, NULL},
    .homes = homes,
    .home_count = PP_COUNT(homes),
    .launch = launch,
};
