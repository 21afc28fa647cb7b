/* sim/emit/megatron_model.c — Megatron-LM: dimensions, experts, precision. */
#include "sim/emit/settings.h"

#include <stdio.h>

/* Returns the length of the shortest pattern of blocks that, repeated, gives all. */
static int period_of(const struct pp_model *m, bool (*is_set)(const struct pp_model *, int))
{
    for (int period = 1; period < m->layers; period++) {
        int i = period;
        while (m->layers % period == 0 && i < m->layers && is_set(m, i) == is_set(m, i - period))
            i++;
        if (i == m->layers)
            return period;
    }
    return m->layers;
}

/* Returns "([0]*3+[1]*58)" or "([1]*1+[0]*1)*21": a bit per block, runs of equal ones together. */
static const char *bits(const struct pp_emit_job *job, bool (*is_set)(const struct pp_model *, int))
{
    const struct pp_model *m = &job->config->model;
    const int period = period_of(m, is_set);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (int i = 0, run; i < period; i += run) {
        for (run = 1; i + run < period && is_set(m, i + run) == is_set(m, i);)
            run++;
        fprintf(out, "%s[%d]*%d", i ? "+" : "(", is_set(m, i), run);
    }
    fputs(")", out);
    if (period < m->layers)
        fprintf(out, "*%d", m->layers / period);
    return pp_emit_keep(job, out, &text);
}

static bool is_mixture(const struct pp_model *model, int block)
{
    return pp_model_moe_blocks(model, block, 1) > 0;
}

static void put_attention(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_model *m = &job->config->model;
    const bool is_latent = m->latent.kv_rank > 0,
               is_grouped = m->kv_heads != m->heads && !is_latent;

    pp_emit_flag(e, "group-query-attention", is_grouped);
    if (is_grouped)
        pp_emit_int(e, "num-query-groups", m->kv_heads);
    if (!is_latent && m->head_dim * m->heads != m->hidden)
        pp_emit_int(e, "kv-channels", m->head_dim);
}

static void put_window(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_model *m = &job->config->model;

    if (!m->window.keys || m->window.is_chunked)
        return;
    pp_emit_text(e, "window-size", pp_arena_printf(job->arena, "%d,0", m->window.keys - 1));
    if (pp_model_windowed_blocks(m, 0, m->layers) < m->layers)
        pp_emit_text(e, "window-attn-skip-freq", bits(job, pp_model_is_windowed));
}

static void put_latent(const struct pp_model *m, struct pp_emission *e)
{
    pp_emit_flag(e, "multi-latent-attention", m->latent.kv_rank > 0);
    pp_emit_given(e, "q-lora-rank", m->latent.q_rank);
    pp_emit_given(e, "kv-lora-rank", m->latent.kv_rank);
    if (m->latent.kv_rank > 0)
        pp_emit_int(e, "qk-head-dim", m->head_dim - m->latent.rope_dim);
    pp_emit_given(e, "qk-pos-emb-head-dim", m->latent.rope_dim);
    pp_emit_given(e, "v-head-dim", m->latent.value_dim);
}

static void put_model(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_model *m = &job->config->model;
    const bool has_bias = m->has_bias_mlp || m->has_bias_attn_out, is_learned = m->positions > 0;

    pp_emit_section(e, "model");
    pp_emit_given(e, "num-layers", m->layers);
    pp_emit_given(e, "hidden-size", m->hidden);
    pp_emit_given(e, "ffn-hidden-size", m->ffn);
    pp_emit_given(e, "num-attention-heads", m->heads);
    put_attention(job, e);
    pp_emit_given(e, "vocab-size", m->vocab);
    pp_emit_text(e, "position-embedding-type", is_learned ? "learned_absolute" : "rope");
    pp_emit_int(e, "max-position-embeddings", is_learned ? m->positions : job->layout.seq);
    pp_emit_text(e, "normalization", m->has_bias_norm ? NULL : "RMSNorm");
    pp_emit_flag(e, "swiglu", m->is_gated);
    pp_emit_flag(e, "disable-bias-linear", !has_bias);
    pp_emit_flag(e, "add-qkv-bias", !has_bias && m->has_bias_attn_qkv);
    pp_emit_flag(e, "qk-layernorm", m->has_qk_norm);
    pp_emit_text(e, "softmax-type", m->has_sinks ? "learnable" : NULL);
    put_window(job, e);
    pp_emit_flag(e, "untie-embeddings-and-output-weights", !m->is_tied);
    put_latent(m, e);
    pp_emit_given(e, "mtp-num-layers", m->mtp);
}

/* A capacity factor of 1 stands for evenly spread tokens without drops, so it is not set. */
static void put_experts(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_model *m = &job->config->model;
    const double factor = job->config->costs.capacity_factor;
    const bool is_sent_once = job->config->costs.is_sent_once;

    pp_emit_section(e, "experts");
    if (m->experts.count == 0)
        return;
    pp_emit_int(e, "num-experts", m->experts.count);
    pp_emit_given(e, "moe-router-topk", m->experts.top_k);
    pp_emit_given(e, "moe-ffn-hidden-size", m->experts.ffn);
    pp_emit_given(e, "moe-shared-expert-intermediate-size", m->experts.shared_ffn);
    if (pp_model_moe_blocks(m, 0, m->layers) < m->layers)
        pp_emit_text(e, "moe-layer-freq", bits(job, is_mixture));
    pp_emit_given(e, "moe-router-num-groups", m->experts.groups);
    pp_emit_given(e, "moe-router-group-topk", m->experts.group_limit);
    pp_emit_text(e, "moe-token-dispatcher-type", is_sent_once ? "flex" : "alltoall");
    pp_emit_text(e, "moe-flex-dispatcher-backend", is_sent_once ? "deepep" : NULL);
    pp_emit_flag(e, "moe-grouped-gemm", true);
    if (factor > 0 && factor != 1)
        pp_emit_text(e, "moe-expert-capacity-factor", pp_arena_printf(job->arena, "%g", factor));
    pp_emit_flag(e, "overlap-moe-expert-parallel-comm",
                 pp_emit_option(job, "extra-warmup") && job->layout.ep > 1);
}

static void put(const struct pp_emit_job *job, struct pp_emission *e)
{
    const enum pp_precision precision = pp_emit_precision(job);

    put_model(job, e);
    put_experts(job, e);
    pp_emit_section(e, "precision");
    pp_emit_flag(e, "bf16", pp_emit_is_bf16(job));
    pp_emit_flag(e, "fp16", pp_emit_is_fp16(job));
    pp_emit_text(e, "fp8-format", precision == PP_PRECISION_FP8 ? "hybrid" : NULL);
    pp_emit_text(e, "fp4-format", precision == PP_PRECISION_NVFP4 ? "e2m1" : NULL);
    pp_emit_text(e, "attention-backend",
                 job->config->cluster.device.is_attention_unfused ? "unfused" : "auto");
}

/* ---- what it cannot do ----------------------------------------------------------------------- */

static const char *say_fp16_experts(const struct pp_emit_job *job)
{
    return job->layout.ep > 1 && pp_emit_precision(job) == PP_PRECISION_FP16
               ? "Megatron-LM has no expert parallelism in fp16; nearest: --precision bf16"
               : NULL;
}

static const char *say_model(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    if (m->patch > 0)
        return "pretrain_gpt.py reads no images; nearest: pretrain_vision_classify.py";
    if (!m->is_causal)
        return "pretrain_gpt.py trains decoders; nearest for this model: the same arguments with "
               "pretrain_bert.py";
    if (m->window.is_chunked)
        return pp_arena_printf(
            job->arena,
            "attention in chunks of %d keys is not there; nearest: --window-size "
            "%d,0",
            m->window.keys, m->window.keys - 1);
    if (m->norms_per_layer > 2 || m->has_embedding_norm)
        return "further norms of this model have no argument; nearest, and set here: two norms a "
               "layer";
    return m->params_override > 0 ? "dimensions are those of a GPT of that size, as --params says "
                                    "no more"
                                  : NULL;
}

static void differs(const struct pp_emit_job *job, struct pp_emission *e)
{
    pp_emit_differs(e, say_model(job));
}

const struct pp_emit_part pp_emit_megatron_model = {put, differs, say_fp16_experts};
