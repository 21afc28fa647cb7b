/* sim/emit/nanotron.c — nanotron: parallelism, batch, model and ZeRO stage of its YAML.
 * Source: huggingface/nanotron, src/nanotron/config/parallelism_config.py, config.py (TokensArgs,
 * OptimizerArgs, ModelArgs), models_config.py (LlamaConfig, Qwen2Config, MoEConfig),
 * utils_config.py (the names of its two engines), as of 2025. */
#include "sim/emit/settings.h"

#include "schedules/order/schedule.h"

static bool has_experts(const struct pp_emit_job *job)
{
    return job->config->model.experts.count > 0;
}

static struct pp_emit_value engine(const struct pp_emit_job *job)
{
    return PP_EMIT_TEXT(job->call->name);
}

static struct pp_emit_value tp_mode(const struct pp_emit_job *job)
{
    return PP_EMIT_TEXT(pp_emit_is_sequence_parallel(job) ? "REDUCE_SCATTER" : "ALL_REDUCE");
}

/* Left out where it is false, which is its default: nanotron 0.4 does not know it. */
static struct pp_emit_value recompute(const struct pp_emit_job *job)
{
    const enum pp_recompute how = job->config->costs.recompute;

    return PP_EMIT_FLAG(how == PP_RECOMPUTE_FULL || how == PP_RECOMPUTE_STAGE);
}

static struct pp_emit_value zero(const struct pp_emit_job *job)
{
    return PP_EMIT_INT(pp_emit_cut(job, PP_STATE_OPTIMIZER) > 1);
}

static struct pp_emit_value dtype(const struct pp_emit_job *job)
{
    static const char *const names[PP_PRECISIONS] = {
        [PP_PRECISION_FP32] = "float32", [PP_PRECISION_TF32] = "float32",
        [PP_PRECISION_FP16] = "float16", [PP_PRECISION_BF16] = "bfloat16",
        [PP_PRECISION_FP8] = "bfloat16", [PP_PRECISION_NVFP4] = "bfloat16",
    };

    return PP_EMIT_TEXT(names[job->config->cluster.device.precision]);
}

static struct pp_emit_value is_llama(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(!has_experts(job));
}

static struct pp_emit_value is_qwen(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(has_experts(job));
}

static struct pp_emit_value positions(const struct pp_emit_job *job)
{
    return PP_EMIT_INT(job->layout.seq);
}

static struct pp_emit_value is_tied(const struct pp_emit_job *job)
{
    return PP_EMIT_BOOL(job->config->model.is_tied);
}

static struct pp_emit_value top_k(const struct pp_emit_job *job)
{
    return has_experts(job) ? PP_EMIT_INT(job->config->model.experts.top_k) : PP_EMIT_NOTHING;
}

/* Qwen2Config's width of a feed-forward layer is that of an expert, too. */
static struct pp_emit_value ffn(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    return PP_EMIT_INT(has_experts(job) ? m->experts.ffn : m->ffn);
}

#define PARALLEL "parallelism"
#define MODEL    "model.model_config"

/* clang-format off */
static const struct pp_emit_row rows[] = {
    {PARALLEL, "dp", PP_EMIT_LAYOUT(dp)},
    {PARALLEL, "pp", PP_EMIT_LAYOUT(pp)},
    {PARALLEL, "tp", PP_EMIT_LAYOUT(tp)},
    {PARALLEL, "expert_parallel_size", PP_EMIT_LAYOUT(ep), .unless = 1},
    {PARALLEL, "context_parallel_size", PP_EMIT_LAYOUT(cp), .unless = 1},
    {PARALLEL, "pp_engine", .value = engine},
    {PARALLEL, "tp_mode", .value = tp_mode},
    {PARALLEL, "recompute_layer", .value = recompute},
    {"tokens", "sequence_length", PP_EMIT_LAYOUT(seq)},
    {"tokens", "micro_batch_size", PP_EMIT_LAYOUT(mbs)},
    {"tokens", "batch_accumulation_per_replica", PP_EMIT_LAYOUT(micro_batches)},
    {"optimizer", "zero_stage", .value = zero},
    {"model", "dtype", .value = dtype},
    {MODEL, "is_llama_config", .value = is_llama},
    {MODEL, "is_qwen2_config", .value = is_qwen},
    {MODEL, "num_hidden_layers", PP_EMIT_MODEL(layers)},
    {MODEL, "hidden_size", PP_EMIT_MODEL(hidden)},
    {MODEL, "intermediate_size", .value = ffn},
    {MODEL, "num_attention_heads", PP_EMIT_MODEL(heads)},
    {MODEL, "num_key_value_heads", PP_EMIT_MODEL(kv_heads)},
    {MODEL, "vocab_size", PP_EMIT_MODEL(vocab)},
    {MODEL, "max_position_embeddings", .value = positions},
    {MODEL, "tie_word_embeddings", .value = is_tied},
    {MODEL ".moe_config", "num_experts", PP_EMIT_MODEL(experts.count)},
    {MODEL ".moe_config", "top_k", .value = top_k},
};
/* clang-format on */

/* ---- what it cannot do ----------------------------------------------------------------------- */

static const char *say_etp(const struct pp_emit_job *job)
{
    const struct pp_layout *l = &job->layout;

    if (l->ep == 1 || pp_layout_etp(l) == l->tp)
        return NULL;
    return pp_arena_printf(
        job->arena, "--etp %d: nanotron cuts experts like everything else; nearest: --etp %d",
        pp_layout_etp(l), l->tp);
}

static const char *say_ep(const struct pp_emit_job *job)
{
    const struct pp_layout *l = &job->layout;

    return l->ep > 1 && l->dp % l->ep
               ? pp_arena_printf(job->arena,
                                 "--ep %d: nanotron takes expert-parallel devices from the %d "
                                 "replicas; nearest: a divisor of --dp %d",
                                 l->ep, l->dp, l->dp)
               : NULL;
}

static const char *say_model(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    if (m->latent.kv_rank || m->window.keys || m->norms_per_layer > 2 || m->mtp || !m->is_causal)
        return "latent attention, windows, further norms and further tokens have no setting; "
               "nearest, and set here: a Llama of these dimensions";
    if (!m->is_gated || m->positions > 0 || m->has_bias_mlp)
        return "its models have gated MLPs without biases, and rotary positions; nearest, and set "
               "here: a Llama of these dimensions";
    return has_experts(job) && (m->experts.shared_ffn || m->experts.dense_first ||
                                pp_model_moe_blocks(m, 0, m->layers) < m->layers)
               ? "shared experts and dense layers among mixtures are not set here; nearest: "
                 "moe_config.layers and enable_shared_expert"
               : NULL;
}

static const char *say_split(const struct pp_emit_job *job)
{
    return pp_emit_is_even(job) ? NULL
                                : "blocks are shared out over stages by their flops, the head's "
                                  "included; nearest: --head balanced";
}

static const char *say_state(const struct pp_emit_job *job)
{
    const int os = pp_emit_cut(job, PP_STATE_OPTIMIZER);
    const bool is_zero_1 =
        pp_emit_cut(job, PP_STATE_GRADS) == 1 && pp_emit_cut(job, PP_STATE_PARAMS) == 1;
    char text[PP_STATE_TEXT_BYTES];

    if (is_zero_1 && (os == 1 || os == pp_emit_replicas(job)))
        return NULL;
    return pp_arena_printf(
        job->arena,
        "zero_stage is 0 or 1, over all replicas, not %s; nearest, and set here: "
        "--zero 1",
        pp_state_name(&job->config->state, text));
}

static const char *say_recompute(const struct pp_emit_job *job)
{
    const enum pp_recompute how = job->config->costs.recompute;

    return how == PP_RECOMPUTE_SELECTIVE
               ? "layers are recomputed whole or not at all; nearest, and set here: not at all"
           : how == PP_RECOMPUTE_STAGE
               ? "all stages recompute alike (no --recompute stage-aware); nearest, and set here: "
                 "full"
               : NULL;
}

static const char *say_precision(const struct pp_emit_job *job)
{
    const enum pp_precision p = job->config->cluster.device.precision;

    return pp_precision_is_narrow(p)
               ? pp_arena_printf(job->arena, "%s is not set here; nearest, and set here: bfloat16",
                                 pp_precision_names[p])
               : NULL;
}

static const struct pp_emit_gap gaps[] = {
    {PP_EMIT_REFUSED, say_etp},
    {PP_EMIT_REFUSED, say_ep},
    {PP_EMIT_DIFFERS, pp_emit_say_schedule},
    {PP_EMIT_DIFFERS, pp_emit_say_barrier},
    {PP_EMIT_DIFFERS, say_model},
    {PP_EMIT_DIFFERS, say_split},
    {PP_EMIT_DIFFERS, say_state},
    {PP_EMIT_DIFFERS, pp_emit_say_home},
    {PP_EMIT_DIFFERS, say_recompute},
    {PP_EMIT_DIFFERS, say_precision},
    {PP_EMIT_DIFFERS, pp_emit_say_head},
    {PP_EMIT_DIFFERS, pp_emit_say_map},
    {PP_EMIT_DIFFERS, pp_emit_say_bits},
};

static const struct pp_emit_table table = PP_EMIT_TABLE(rows, gaps);

static const char *launch(const struct pp_emit_job *job, int i)
{
    if (i > 0)
        return NULL;
    return pp_arena_printf(
        job->arena,
        "Launch: CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun --nnodes %d "
        "--nproc_per_node %d run_train.py --config-file %s, with general, "
        "tokenizer, data_stages, the rest of optimizer and tokens.train_steps of "
        "your own.",
        pp_emit_nodes(job), pp_emit_node_gpus(job), job->path ? job->path : "FILE.yaml");
}

#define STAYS "nothing leaves the device (--offload); nearest: more devices, or --recompute full"

static const struct pp_emit_home homes[] = {
    {PP_STATE_PARAMS, 0, STAYS},
    {PP_STATE_GRADS, 0, STAYS},
    {PP_STATE_OPTIMIZER, 0, STAYS},
    {PP_STATE_ACTIVATIONS, 0, STAYS},
};

const struct pp_emit_tool pp_emit_nanotron = {
    .name = "nanotron",
    .title = "nanotron",
    .print = pp_emit_yaml,
    .tables = (const struct pp_emit_table *const[]){&table, NULL},
    .homes = homes,
    .home_count = sizeof(homes) / sizeof(*homes),
    .launch = launch,
};
