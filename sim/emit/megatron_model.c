/* sim/emit/megatron_model.c — Megatron-LM: dimensions, experts, precision. */
#include "sim/emit/megatron.h"

#include <stdio.h>

enum { RUN_BYTES = 16 }; /* "+[1]*65535" */

/* ---- model ----------------------------------------------------------------------------------- */

static struct pp_emit_value is_grouped(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    return PP_EMIT_FLAG(m->kv_heads != m->heads && m->latent.kv_rank == 0);
}

static struct pp_emit_value groups(const struct pp_emit_job *job)
{
    return is_grouped(job).integer ? PP_EMIT_INT(job->config->model.kv_heads) : PP_EMIT_NOTHING;
}

static struct pp_emit_value kv_channels(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    return m->latent.kv_rank || m->head_dim * m->heads == m->hidden ? PP_EMIT_NOTHING
                                                                    : PP_EMIT_INT(m->head_dim);
}

static struct pp_emit_value position_type(const struct pp_emit_job *job)
{
    return PP_EMIT_TEXT(job->config->model.positions > 0 ? "learned_absolute" : "rope");
}

static struct pp_emit_value positions(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    return PP_EMIT_INT(m->positions > 0 ? m->positions : job->layout.seq);
}

static struct pp_emit_value normalization(const struct pp_emit_job *job)
{
    return job->config->model.has_bias_norm ? PP_EMIT_NOTHING : PP_EMIT_TEXT("RMSNorm");
}

static struct pp_emit_value is_gated(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(job->config->model.is_gated);
}

static struct pp_emit_value no_bias(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    return PP_EMIT_FLAG(!m->has_bias_mlp && !m->has_bias_attn_out);
}

static struct pp_emit_value qkv_bias(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(no_bias(job).integer && job->config->model.has_bias_attn_qkv);
}

static struct pp_emit_value qk_norm(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(job->config->model.has_qk_norm);
}

static struct pp_emit_value sinks(const struct pp_emit_job *job)
{
    return job->config->model.has_sinks ? PP_EMIT_TEXT("learnable") : PP_EMIT_NOTHING;
}

static struct pp_emit_value untied(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(!job->config->model.is_tied);
}

/* The least number of blocks that, repeated, give all. */
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

/* "([0]*3+[1]*58)", "([1]*1+[0]*1)*21": a bit for each block, runs of equal ones together. */
static const char *bits(const struct pp_emit_job *job, bool (*is_set)(const struct pp_model *, int))
{
    const struct pp_model *m = &job->config->model;
    const int period = period_of(m, is_set);
    const size_t size = (size_t)period * RUN_BYTES + RUN_BYTES;
    char *text = PP_ARRAY(job->arena, char, size);
    size_t used = (size_t)snprintf(text, size, "(");

    for (int i = 0, run; i < period; i += run) {
        for (run = 1; i + run < period && is_set(m, i + run) == is_set(m, i);)
            run++;
        used += (size_t)snprintf(text + used, size - used, "%s[%d]*%d", i ? "+" : "", is_set(m, i),
                                 run);
    }
    used += (size_t)snprintf(text + used, size - used, ")");
    if (period < m->layers)
        snprintf(text + used, size - used, "*%d", m->layers / period);
    return text;
}

static bool is_mixture(const struct pp_model *model, int block)
{
    return pp_model_moe_blocks(model, block, 1) > 0;
}

static struct pp_emit_value window(const struct pp_emit_job *job)
{
    const struct pp_window *w = &job->config->model.window;

    return w->keys && !w->is_chunked
               ? PP_EMIT_TEXT(pp_arena_printf(job->arena, "%d,0", w->keys - 1))
               : PP_EMIT_NOTHING;
}

static struct pp_emit_value window_blocks(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    return window(job).type && pp_model_windowed_blocks(m, 0, m->layers) < m->layers
               ? PP_EMIT_TEXT(bits(job, pp_model_is_windowed))
               : PP_EMIT_NOTHING;
}

static struct pp_emit_value is_latent(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(job->config->model.latent.kv_rank > 0);
}

static struct pp_emit_value qk_head_dim(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    return m->latent.kv_rank ? PP_EMIT_INT(m->head_dim - m->latent.rope_dim) : PP_EMIT_NOTHING;
}

static struct pp_emit_value moe_blocks(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

    return m->experts.count && pp_model_moe_blocks(m, 0, m->layers) < m->layers
               ? PP_EMIT_TEXT(bits(job, is_mixture))
               : PP_EMIT_NOTHING;
}

static bool has_experts(const struct pp_emit_job *job)
{
    return job->config->model.experts.count > 0;
}

/* A member of a mixture of experts. */
static struct pp_emit_value of_experts(const struct pp_emit_job *job, int value)
{
    return has_experts(job) && value ? PP_EMIT_INT(value) : PP_EMIT_NOTHING;
}

static struct pp_emit_value top_k(const struct pp_emit_job *job)
{
    return of_experts(job, job->config->model.experts.top_k);
}

static struct pp_emit_value moe_ffn(const struct pp_emit_job *job)
{
    return of_experts(job, job->config->model.experts.ffn);
}

static struct pp_emit_value shared_ffn(const struct pp_emit_job *job)
{
    return of_experts(job, job->config->model.experts.shared_ffn);
}

static struct pp_emit_value router_groups(const struct pp_emit_job *job)
{
    return of_experts(job, job->config->model.experts.groups);
}

static struct pp_emit_value group_limit(const struct pp_emit_job *job)
{
    return of_experts(job, job->config->model.experts.group_limit);
}

static struct pp_emit_value dispatcher(const struct pp_emit_job *job)
{
    return !has_experts(job) ? PP_EMIT_NOTHING
                             : PP_EMIT_TEXT(job->config->costs.is_sent_once ? "flex" : "alltoall");
}

static struct pp_emit_value deepep(const struct pp_emit_job *job)
{
    return has_experts(job) && job->config->costs.is_sent_once ? PP_EMIT_TEXT("deepep")
                                                               : PP_EMIT_NOTHING;
}

static struct pp_emit_value grouped_gemm(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(has_experts(job));
}

/* 1 is what all experts are sent where tokens are spread evenly; none are dropped. */
static struct pp_emit_value capacity(const struct pp_emit_job *job)
{
    const double factor = job->config->costs.capacity_factor;

    return factor > 0 && factor != 1 && has_experts(job)
               ? PP_EMIT_TEXT(pp_arena_printf(job->arena, "%g", factor))
               : PP_EMIT_NOTHING;
}

static struct pp_emit_value expert_overlap(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(pp_emit_option(job, "extra-warmup") && job->layout.ep > 1);
}

/* ---- precision and kernels ------------------------------------------------------------------- */

static struct pp_emit_value fp8(const struct pp_emit_job *job)
{
    return pp_emit_precision(job) == PP_PRECISION_FP8 ? PP_EMIT_TEXT("hybrid") : PP_EMIT_NOTHING;
}

static struct pp_emit_value fp4(const struct pp_emit_job *job)
{
    return pp_emit_precision(job) == PP_PRECISION_NVFP4 ? PP_EMIT_TEXT("e2m1") : PP_EMIT_NOTHING;
}

static struct pp_emit_value attention(const struct pp_emit_job *job)
{
    return PP_EMIT_TEXT(job->config->cluster.device.is_attention_unfused ? "unfused" : "auto");
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char *say_fp16_experts(const struct pp_emit_job *job)
{
    return job->layout.ep > 1 && pp_emit_precision(job) == PP_PRECISION_FP16
               ? "Megatron-LM has no expert parallelism in fp16; nearest: --precision bf16"
               : NULL;
}

static const char *say_model(const struct pp_emit_job *job)
{
    const struct pp_model *m = &job->config->model;

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

#define MODEL     "model"
#define EXPERTS   "experts"
#define PRECISION "precision"

/* clang-format off */
static const struct pp_emit_row rows[] = {
    {MODEL, "num-layers", PP_EMIT_MODEL(layers)},
    {MODEL, "hidden-size", PP_EMIT_MODEL(hidden)},
    {MODEL, "ffn-hidden-size", PP_EMIT_MODEL(ffn)},
    {MODEL, "num-attention-heads", PP_EMIT_MODEL(heads)},
    {MODEL, "group-query-attention", .value = is_grouped},
    {MODEL, "num-query-groups", .value = groups},
    {MODEL, "kv-channels", .value = kv_channels},
    {MODEL, "vocab-size", PP_EMIT_MODEL(vocab)},
    {MODEL, "position-embedding-type", .value = position_type},
    {MODEL, "max-position-embeddings", .value = positions},
    {MODEL, "normalization", .value = normalization},
    {MODEL, "swiglu", .value = is_gated},
    {MODEL, "disable-bias-linear", .value = no_bias},
    {MODEL, "add-qkv-bias", .value = qkv_bias},
    {MODEL, "qk-layernorm", .value = qk_norm},
    {MODEL, "softmax-type", .value = sinks},
    {MODEL, "window-size", .value = window},
    {MODEL, "window-attn-skip-freq", .value = window_blocks},
    {MODEL, "untie-embeddings-and-output-weights", .value = untied},
    {MODEL, "multi-latent-attention", .value = is_latent},
    {MODEL, "q-lora-rank", PP_EMIT_MODEL(latent.q_rank)},
    {MODEL, "kv-lora-rank", PP_EMIT_MODEL(latent.kv_rank)},
    {MODEL, "qk-head-dim", .value = qk_head_dim},
    {MODEL, "qk-pos-emb-head-dim", PP_EMIT_MODEL(latent.rope_dim)},
    {MODEL, "v-head-dim", PP_EMIT_MODEL(latent.value_dim)},
    {MODEL, "mtp-num-layers", PP_EMIT_MODEL(mtp)},

    {EXPERTS, "num-experts", PP_EMIT_MODEL(experts.count)},
    {EXPERTS, "moe-router-topk", .value = top_k},
    {EXPERTS, "moe-ffn-hidden-size", .value = moe_ffn},
    {EXPERTS, "moe-shared-expert-intermediate-size", .value = shared_ffn},
    {EXPERTS, "moe-layer-freq", .value = moe_blocks},
    {EXPERTS, "moe-router-num-groups", .value = router_groups},
    {EXPERTS, "moe-router-group-topk", .value = group_limit},
    {EXPERTS, "moe-token-dispatcher-type", .value = dispatcher},
    {EXPERTS, "moe-flex-dispatcher-backend", .value = deepep},
    {EXPERTS, "moe-grouped-gemm", .value = grouped_gemm},
    {EXPERTS, "moe-expert-capacity-factor", .value = capacity},
    {EXPERTS, "overlap-moe-expert-parallel-comm", .value = expert_overlap},

    {PRECISION, "bf16", .value = pp_emit_bf16},
    {PRECISION, "fp16", .value = pp_emit_fp16},
    {PRECISION, "fp8-format", .value = fp8},
    {PRECISION, "fp4-format", .value = fp4},
    {PRECISION, "attention-backend", .value = attention},
};
/* clang-format on */

static const struct pp_emit_gap gaps[] = {
    {PP_EMIT_REFUSED, say_fp16_experts},
    {PP_EMIT_DIFFERS, say_model},
};

const struct pp_emit_table pp_emit_megatron_model = PP_EMIT_TABLE(rows, gaps);
