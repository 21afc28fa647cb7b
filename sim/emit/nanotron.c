/* sim/emit/nanotron.c — nanotron: parallelism, batch, model and ZeRO stage of its YAML.
 * Source: huggingface/nanotron, src/nanotron/config/parallelism_config.py, config.py (TokensArgs,
 * OptimizerArgs, ModelArgs), models_config.py (LlamaConfig, Qwen2Config, MoEConfig),
 * utils_config.py (the names of its two engines), as of 2025. */
#include "sim/emit/settings.h"

static bool has_experts(const struct pp_emit_job *job)
{
    return job->config->model.experts.count > 0;
}

static const char *dtype(const struct pp_emit_job *job)
{
    static const char *const names[PP_PRECISIONS] = {
        [PP_PRECISION_FP32] = "float32", [PP_PRECISION_TF32] = "float32",
        [PP_PRECISION_FP16] = "float16", [PP_PRECISION_BF16] = "bfloat16",
        [PP_PRECISION_FP8] = "bfloat16", [PP_PRECISION_NVFP4] = "bfloat16",
    };

    return names[pp_emit_precision(job)];
}

/* Qwen2Config has one width for feed-forward layers and experts. */
static void put_model(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_model *m = &job->config->model;

    pp_emit_section(e, "model");
    pp_emit_text(e, "dtype", dtype(job));
    pp_emit_section(e, "model.model_config");
    pp_emit_flag(e, has_experts(job) ? "is_qwen2_config" : "is_llama_config", true);
    pp_emit_given(e, "num_hidden_layers", m->layers);
    pp_emit_given(e, "hidden_size", m->hidden);
    pp_emit_int(e, "intermediate_size", has_experts(job) ? m->experts.ffn : m->ffn);
    pp_emit_given(e, "num_attention_heads", m->heads);
    pp_emit_given(e, "num_key_value_heads", m->kv_heads);
    pp_emit_given(e, "vocab_size", m->vocab);
    pp_emit_int(e, "max_position_embeddings", job->layout.seq);
    pp_emit_bool(e, "tie_word_embeddings", m->is_tied);
    if (!has_experts(job))
        return;
    pp_emit_section(e, "model.model_config.moe_config");
    pp_emit_int(e, "num_experts", m->experts.count);
    pp_emit_int(e, "top_k", m->experts.top_k);
}

static void put(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_layout *l = &job->layout;
    const enum pp_recompute how = job->config->costs.recompute;

    pp_emit_section(e, "parallelism");
    pp_emit_int(e, "dp", l->dp);
    pp_emit_int(e, "pp", l->pp);
    pp_emit_int(e, "tp", l->tp);
    pp_emit_degree(e, "expert_parallel_size", l->ep);
    pp_emit_degree(e, "context_parallel_size", l->cp);
    pp_emit_text(e, "pp_engine", job->call->name);
    pp_emit_text(e, "tp_mode", pp_emit_is_sequence_parallel(job) ? "REDUCE_SCATTER" : "ALL_REDUCE");
    /* Left out if false, its default: nanotron 0.4 does not know it. */
    pp_emit_flag(e, "recompute_layer", how == PP_RECOMPUTE_FULL || how == PP_RECOMPUTE_STAGE);
    pp_emit_section(e, "tokens");
    pp_emit_int(e, "sequence_length", l->seq);
    pp_emit_int(e, "micro_batch_size", l->mbs);
    pp_emit_int(e, "batch_accumulation_per_replica", l->micro_batches);
    pp_emit_section(e, "optimizer");
    pp_emit_int(e, "zero_stage", pp_emit_cut(job, PP_STATE_OPTIMIZER) > 1);
    put_model(job, e);
}

/* ---- what it cannot do ----------------------------------------------------------------------- */

static const char *refuses(const struct pp_emit_job *job)
{
    const struct pp_layout *l = &job->layout;

    if (l->ep > 1 && pp_layout_etp(l) != l->tp)
        return pp_arena_printf(
            job->arena, "--etp %d: nanotron cuts experts like everything else; nearest: --etp %d",
            pp_layout_etp(l), l->tp);
    if (l->ep > 1 && l->dp % l->ep)
        return pp_arena_printf(job->arena,
                               "--ep %d: nanotron takes expert-parallel devices from the %d "
                               "replicas; nearest: a divisor of --dp %d",
                               l->ep, l->dp, l->dp);
    return NULL;
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

static void differs(const struct pp_emit_job *job, struct pp_emission *e)
{
    const enum pp_recompute how = job->config->costs.recompute;
    const enum pp_precision precision = pp_emit_precision(job);

    pp_emit_differs(e, pp_emit_say_schedule(job));
    pp_emit_differs(e, pp_emit_say_barrier(job));
    pp_emit_differs(e, say_model(job));
    if (!pp_emit_is_even(job, 0, pp_emit_stages(job)))
        pp_emit_differs(e, "blocks are shared out over stages by their flops, the head's included; "
                           "nearest: --head balanced");
    pp_emit_differs(e, say_state(job));
    pp_emit_differs(e, pp_emit_say_home(job));
    if (how == PP_RECOMPUTE_SELECTIVE)
        pp_emit_differs(e, "layers are recomputed whole or not at all; nearest, and set here: not "
                           "at all");
    if (how == PP_RECOMPUTE_STAGE)
        pp_emit_differs(e, "all stages recompute alike (no --recompute stage-aware); nearest, and "
                           "set here: full");
    if (pp_precision_is_narrow(precision))
        pp_emit_differs(e, pp_arena_printf(job->arena,
                                           "%s is not set here; nearest, and set here: bfloat16",
                                           pp_precision_names[precision]));
    pp_emit_differs(e, pp_emit_say_head(job));
    pp_emit_differs(e, pp_emit_say_graph(job));
    pp_emit_differs(e, pp_emit_say_map(job));
    pp_emit_differs(e, pp_emit_say_bits(job));
    pp_emit_differs(e, pp_emit_say_again(job));
    pp_emit_differs(e, pp_emit_say_split(job));
    pp_emit_differs(e, pp_emit_say_tiers(job));
}

static const struct pp_emit_part all = {put, differs, refuses};

static void launch(const struct pp_emit_job *job, struct pp_emission *e)
{
    pp_emit_remark(e, pp_arena_printf(
                          job->arena,
                          "Launch: CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun --nnodes %d "
                          "--nproc_per_node %d run_train.py --config-file %s, with general, "
                          "tokenizer, data_stages, the rest of optimizer and tokens.train_steps of "
                          "your own.",
                          pp_emit_nodes(job), pp_emit_node_gpus(job),
                          job->path ? job->path : "FILE.yaml"));
}

const struct pp_emit_tool pp_emit_nanotron = {
    .name = "nanotron",
    .software = &pp_tool_nanotron,
    .title = "nanotron",
    .print = pp_emit_yaml,
    .parts = (const struct pp_emit_part *const[]){&all, NULL},
    .stays = "nothing leaves the device (--offload); nearest: more devices, or --recompute full",
    .launch = launch,
};
