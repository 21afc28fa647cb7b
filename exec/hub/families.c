/* The families whose weights are read and written, as transformers names their tensors. */
#include "exec/hub/families.h"

#include <string.h>

/* clang-format off */
#define ROW(ours, name, rows, columns, order) {ours, name, PP_HUB_##rows, PP_HUB_##columns, order}
#define NAME(ours, name, rows, columns) ROW(ours, name, rows, columns, &pp_hub_plain)
#define TRANSPOSED(ours, name, rows, columns) ROW(ours, name, rows, columns, &pp_hub_transposed)
#define BY_HEAD(ours, name, rows, columns) ROW(ours, name, rows, columns, &pp_hub_by_head)
#define FIELD(key, kind, member) {key, PP_HUB_##kind, offsetof(struct pp_model, member)}

/* ---- GPT-2: its Conv1D stores matrices as [in][out] ------------------------------------------ */

#define GPT2_BLOCK "transformer.h.%d."
static const struct pp_hub_name GPT2_NAMES[] = {
    NAME("embedding.weight", "transformer.wte.weight", VOCAB, HIDDEN),
    NAME("positions.weight", "transformer.wpe.weight", POSITIONS, HIDDEN),
    NAME("norm1.weight", GPT2_BLOCK "ln_1.weight", HIDDEN, ONE),
    NAME("norm1.bias", GPT2_BLOCK "ln_1.bias", HIDDEN, ONE),
    TRANSPOSED("qkv.weight", GPT2_BLOCK "attn.c_attn.weight", QKV, HIDDEN),
    NAME("qkv.bias", GPT2_BLOCK "attn.c_attn.bias", QKV, ONE),
    TRANSPOSED("out.weight", GPT2_BLOCK "attn.c_proj.weight", HIDDEN, Q),
    NAME("out.bias", GPT2_BLOCK "attn.c_proj.bias", HIDDEN, ONE),
    NAME("norm2.weight", GPT2_BLOCK "ln_2.weight", HIDDEN, ONE),
    NAME("norm2.bias", GPT2_BLOCK "ln_2.bias", HIDDEN, ONE),
    TRANSPOSED("up.weight", GPT2_BLOCK "mlp.c_fc.weight", FFN, HIDDEN),
    NAME("up.bias", GPT2_BLOCK "mlp.c_fc.bias", FFN, ONE),
    TRANSPOSED("down.weight", GPT2_BLOCK "mlp.c_proj.weight", HIDDEN, FFN),
    NAME("down.bias", GPT2_BLOCK "mlp.c_proj.bias", HIDDEN, ONE),
    NAME("norm.weight", "transformer.ln_f.weight", HIDDEN, ONE),
    NAME("norm.bias", "transformer.ln_f.bias", HIDDEN, ONE),
    NAME("head.weight", "lm_head.weight", VOCAB, HIDDEN),
    {.ours = NULL},
};
static const char *const GPT2_IGNORED[] = {".attn.bias", ".attn.masked_bias", NULL};

static const struct pp_hub_setting GPT2_SETTINGS[] = {
    FIELD("n_layer", INT, layers),
    FIELD("n_embd", INT, hidden),
    FIELD("n_head", INT, heads),
    FIELD("n_inner", INT, ffn),
    FIELD("n_positions", INT, positions),
    FIELD("vocab_size", INT, vocab),
    FIELD("layer_norm_epsilon", REAL, numerics.norm_epsilon),
    FIELD("activation_function", TEXT, numerics.activation),
    FIELD("tie_word_embeddings", BOOL, is_tied),
    {.key = NULL},
};

/* ---- LLaMA, and families that differ from it in switches only -------------------------------- */

#define LLAMA_BLOCK "model.layers.%d."
static const struct pp_hub_name LLAMA_NAMES[] = {
    NAME("embedding.weight", "model.embed_tokens.weight", VOCAB, HIDDEN),
    NAME("norm1.weight", LLAMA_BLOCK "input_layernorm.weight", HIDDEN, ONE),
    NAME("qkv.weight", LLAMA_BLOCK "self_attn.q_proj.weight", Q, HIDDEN),
    NAME("qkv.weight", LLAMA_BLOCK "self_attn.k_proj.weight", KV, HIDDEN),
    NAME("qkv.weight", LLAMA_BLOCK "self_attn.v_proj.weight", KV, HIDDEN),
    NAME("qkv.bias", LLAMA_BLOCK "self_attn.q_proj.bias", Q, ONE),
    NAME("qkv.bias", LLAMA_BLOCK "self_attn.k_proj.bias", KV, ONE),
    NAME("qkv.bias", LLAMA_BLOCK "self_attn.v_proj.bias", KV, ONE),
    NAME("q_norm.weight", LLAMA_BLOCK "self_attn.q_norm.weight", HEAD, ONE),
    NAME("k_norm.weight", LLAMA_BLOCK "self_attn.k_norm.weight", HEAD, ONE),
    NAME("out.weight", LLAMA_BLOCK "self_attn.o_proj.weight", HIDDEN, Q),
    NAME("out.bias", LLAMA_BLOCK "self_attn.o_proj.bias", HIDDEN, ONE),
    NAME("norm2.weight", LLAMA_BLOCK "post_attention_layernorm.weight", HIDDEN, ONE),
    NAME("up.weight", LLAMA_BLOCK "mlp.gate_proj.weight", FFN, HIDDEN),
    NAME("up.weight", LLAMA_BLOCK "mlp.up_proj.weight", FFN, HIDDEN),
    NAME("up.bias", LLAMA_BLOCK "mlp.gate_proj.bias", FFN, ONE),
    NAME("up.bias", LLAMA_BLOCK "mlp.up_proj.bias", FFN, ONE),
    NAME("down.weight", LLAMA_BLOCK "mlp.down_proj.weight", HIDDEN, FFN),
    NAME("down.bias", LLAMA_BLOCK "mlp.down_proj.bias", HIDDEN, ONE),
    NAME("norm.weight", "model.norm.weight", HIDDEN, ONE),
    NAME("head.weight", "lm_head.weight", VOCAB, HIDDEN),
    {.ours = NULL},
};
static const char *const LLAMA_IGNORED[] = {".rotary_emb.inv_freq", NULL};

#define LLAMA_FIELDS                                                                               \
    FIELD("num_hidden_layers", INT, layers),                                                \
    FIELD("hidden_size", INT, hidden),                                                      \
    FIELD("num_attention_heads", INT, heads),                                               \
    FIELD("num_key_value_heads", INT, kv_heads),                                            \
    FIELD("head_dim", INT, head_dim),                                                       \
    FIELD("intermediate_size", INT, ffn),                                                   \
    FIELD("vocab_size", INT, vocab),                                                        \
    FIELD("max_position_embeddings", INT, seq),                                             \
    FIELD("rms_norm_eps", REAL, numerics.norm_epsilon),                                     \
    FIELD("rope_theta", REAL, numerics.rope.theta),                                         \
    FIELD("hidden_act", TEXT, numerics.activation),                                         \
    FIELD("tie_word_embeddings", BOOL, is_tied)
static const struct pp_hub_setting LLAMA_SETTINGS[] = {
    LLAMA_FIELDS,
    FIELD("attention_bias", BOOL, has_bias_attn_qkv),
    FIELD("mlp_bias", BOOL, has_bias_mlp),
    {.key = NULL},
};
static const struct pp_hub_setting OTHER_SETTINGS[] = {LLAMA_FIELDS, {.key = NULL}};
static const struct pp_hub_setting MISTRAL_SETTINGS[] = {
    LLAMA_FIELDS, FIELD("sliding_window", COUNT, window.keys), {.key = NULL}};

/* Mixtures of experts: all are one of our tensors, expert by expert. */
static const struct pp_hub_name MIXTRAL_EXPERTS[] = {
    NAME("router.weight", LLAMA_BLOCK "block_sparse_moe.gate.weight", EXPERTS, HIDDEN),
    NAME("experts.up.weight", LLAMA_BLOCK "block_sparse_moe.experts.%d.w1.weight", EXPERT_FFN, HIDDEN),
    NAME("experts.up.weight", LLAMA_BLOCK "block_sparse_moe.experts.%d.w3.weight", EXPERT_FFN, HIDDEN),
    NAME("experts.down.weight", LLAMA_BLOCK "block_sparse_moe.experts.%d.w2.weight", HIDDEN, EXPERT_FFN),
    {.ours = NULL},
};
static const struct pp_hub_name QWEN3_EXPERTS[] = {
    NAME("router.weight", LLAMA_BLOCK "mlp.gate.weight", EXPERTS, HIDDEN),
    NAME("experts.up.weight", LLAMA_BLOCK "mlp.experts.%d.gate_proj.weight", EXPERT_FFN, HIDDEN),
    NAME("experts.up.weight", LLAMA_BLOCK "mlp.experts.%d.up_proj.weight", EXPERT_FFN, HIDDEN),
    NAME("experts.down.weight", LLAMA_BLOCK "mlp.experts.%d.down_proj.weight", HIDDEN, EXPERT_FFN),
    {.ours = NULL},
};
static const struct pp_hub_setting MIXTRAL_SETTINGS[] = {
    LLAMA_FIELDS,
    FIELD("intermediate_size", INT, experts.ffn),
    FIELD("num_local_experts", INT, experts.count),
    FIELD("num_experts_per_tok", INT, experts.top_k),
    {.key = NULL},
};
static const struct pp_hub_setting QWEN3_MOE_SETTINGS[] = {
    LLAMA_FIELDS,
    FIELD("attention_bias", BOOL, has_bias_attn_qkv),
    FIELD("moe_intermediate_size", INT, experts.ffn),
    FIELD("num_experts", INT, experts.count),
    FIELD("num_experts_per_tok", INT, experts.top_k),
    FIELD("decoder_sparse_step", INT, experts.every),
    FIELD("mlp_only_layers", DENSE, experts),
    FIELD("norm_topk_prob", NOT, experts.has_plain_gates),
    {.key = NULL},
};

/* ---- GPT-NeoX, Pythia: query, key and value of each head in turn ----------------------------- */

#define NEOX_BLOCK "gpt_neox.layers.%d."
static const struct pp_hub_name NEOX_NAMES[] = {
    NAME("embedding.weight", "gpt_neox.embed_in.weight", VOCAB, HIDDEN),
    NAME("norm1.weight", NEOX_BLOCK "input_layernorm.weight", HIDDEN, ONE),
    NAME("norm1.bias", NEOX_BLOCK "input_layernorm.bias", HIDDEN, ONE),
    BY_HEAD("qkv.weight", NEOX_BLOCK "attention.query_key_value.weight", QKV, HIDDEN),
    BY_HEAD("qkv.bias", NEOX_BLOCK "attention.query_key_value.bias", QKV, ONE),
    NAME("out.weight", NEOX_BLOCK "attention.dense.weight", HIDDEN, Q),
    NAME("out.bias", NEOX_BLOCK "attention.dense.bias", HIDDEN, ONE),
    NAME("norm2.weight", NEOX_BLOCK "post_attention_layernorm.weight", HIDDEN, ONE),
    NAME("norm2.bias", NEOX_BLOCK "post_attention_layernorm.bias", HIDDEN, ONE),
    NAME("up.weight", NEOX_BLOCK "mlp.dense_h_to_4h.weight", FFN, HIDDEN),
    NAME("up.bias", NEOX_BLOCK "mlp.dense_h_to_4h.bias", FFN, ONE),
    NAME("down.weight", NEOX_BLOCK "mlp.dense_4h_to_h.weight", HIDDEN, FFN),
    NAME("down.bias", NEOX_BLOCK "mlp.dense_4h_to_h.bias", HIDDEN, ONE),
    NAME("norm.weight", "gpt_neox.final_layer_norm.weight", HIDDEN, ONE),
    NAME("norm.bias", "gpt_neox.final_layer_norm.bias", HIDDEN, ONE),
    NAME("head.weight", "embed_out.weight", VOCAB, HIDDEN),
    {.ours = NULL},
};
static const char *const NEOX_IGNORED[] = {
    ".attention.bias", ".attention.masked_bias", ".attention.rotary_emb.inv_freq", NULL};

static const struct pp_hub_setting NEOX_SETTINGS[] = {
    FIELD("num_hidden_layers", INT, layers),
    FIELD("hidden_size", INT, hidden),
    FIELD("num_attention_heads", INT, heads),
    FIELD("intermediate_size", INT, ffn),
    FIELD("vocab_size", INT, vocab),
    FIELD("max_position_embeddings", INT, seq),
    FIELD("layer_norm_eps", REAL, numerics.norm_epsilon),
    FIELD("rotary_pct", REAL, numerics.rope.frac),
    FIELD("rotary_emb_base", REAL, numerics.rope.theta),
    FIELD("hidden_act", TEXT, numerics.activation),
    FIELD("tie_word_embeddings", BOOL, is_tied),
    {.key = NULL},
};

/* ---- OPT ------------------------------------------------------------------------------------- */

#define OPT_BLOCK "model.decoder.layers.%d."
static const struct pp_hub_name OPT_NAMES[] = {
    NAME("embedding.weight", "model.decoder.embed_tokens.weight", VOCAB, HIDDEN),
    NAME("positions.weight", "model.decoder.embed_positions.weight", POSITIONS, HIDDEN),
    NAME("norm1.weight", OPT_BLOCK "self_attn_layer_norm.weight", HIDDEN, ONE),
    NAME("norm1.bias", OPT_BLOCK "self_attn_layer_norm.bias", HIDDEN, ONE),
    NAME("qkv.weight", OPT_BLOCK "self_attn.q_proj.weight", Q, HIDDEN),
    NAME("qkv.weight", OPT_BLOCK "self_attn.k_proj.weight", KV, HIDDEN),
    NAME("qkv.weight", OPT_BLOCK "self_attn.v_proj.weight", KV, HIDDEN),
    NAME("qkv.bias", OPT_BLOCK "self_attn.q_proj.bias", Q, ONE),
    NAME("qkv.bias", OPT_BLOCK "self_attn.k_proj.bias", KV, ONE),
    NAME("qkv.bias", OPT_BLOCK "self_attn.v_proj.bias", KV, ONE),
    NAME("out.weight", OPT_BLOCK "self_attn.out_proj.weight", HIDDEN, Q),
    NAME("out.bias", OPT_BLOCK "self_attn.out_proj.bias", HIDDEN, ONE),
    NAME("norm2.weight", OPT_BLOCK "final_layer_norm.weight", HIDDEN, ONE),
    NAME("norm2.bias", OPT_BLOCK "final_layer_norm.bias", HIDDEN, ONE),
    NAME("up.weight", OPT_BLOCK "fc1.weight", FFN, HIDDEN),
    NAME("up.bias", OPT_BLOCK "fc1.bias", FFN, ONE),
    NAME("down.weight", OPT_BLOCK "fc2.weight", HIDDEN, FFN),
    NAME("down.bias", OPT_BLOCK "fc2.bias", HIDDEN, ONE),
    NAME("norm.weight", "model.decoder.final_layer_norm.weight", HIDDEN, ONE),
    NAME("norm.bias", "model.decoder.final_layer_norm.bias", HIDDEN, ONE),
    NAME("head.weight", "lm_head.weight", VOCAB, HIDDEN),
    {.ours = NULL},
};
static const char *const NONE_IGNORED[] = {NULL};

static const struct pp_hub_setting OPT_SETTINGS[] = {
    FIELD("num_hidden_layers", INT, layers),
    FIELD("hidden_size", INT, hidden),
    FIELD("word_embed_proj_dim", INT, hidden),
    FIELD("num_attention_heads", INT, heads),
    FIELD("ffn_dim", INT, ffn),
    FIELD("vocab_size", INT, vocab),
    FIELD("max_position_embeddings", INT, seq),
    FIELD("tie_word_embeddings", BOOL, is_tied),
    {.key = NULL},
};

/* ---- BERT with its head of hidden words ------------------------------------------------------ */

#define BERT_BLOCK "bert.encoder.layer.%d."
static const struct pp_hub_name BERT_NAMES[] = {
    NAME("embedding.weight", "bert.embeddings.word_embeddings.weight", VOCAB, HIDDEN),
    NAME("positions.weight", "bert.embeddings.position_embeddings.weight", POSITIONS, HIDDEN),
    NAME("types.weight", "bert.embeddings.token_type_embeddings.weight", TYPES, HIDDEN),
    NAME("embedding_norm.weight", "bert.embeddings.LayerNorm.weight", HIDDEN, ONE),
    NAME("embedding_norm.bias", "bert.embeddings.LayerNorm.bias", HIDDEN, ONE),
    NAME("qkv.weight", BERT_BLOCK "attention.self.query.weight", Q, HIDDEN),
    NAME("qkv.weight", BERT_BLOCK "attention.self.key.weight", KV, HIDDEN),
    NAME("qkv.weight", BERT_BLOCK "attention.self.value.weight", KV, HIDDEN),
    NAME("qkv.bias", BERT_BLOCK "attention.self.query.bias", Q, ONE),
    NAME("qkv.bias", BERT_BLOCK "attention.self.key.bias", KV, ONE),
    NAME("qkv.bias", BERT_BLOCK "attention.self.value.bias", KV, ONE),
    NAME("out.weight", BERT_BLOCK "attention.output.dense.weight", HIDDEN, Q),
    NAME("out.bias", BERT_BLOCK "attention.output.dense.bias", HIDDEN, ONE),
    NAME("norm1.weight", BERT_BLOCK "attention.output.LayerNorm.weight", HIDDEN, ONE),
    NAME("norm1.bias", BERT_BLOCK "attention.output.LayerNorm.bias", HIDDEN, ONE),
    NAME("up.weight", BERT_BLOCK "intermediate.dense.weight", FFN, HIDDEN),
    NAME("up.bias", BERT_BLOCK "intermediate.dense.bias", FFN, ONE),
    NAME("down.weight", BERT_BLOCK "output.dense.weight", HIDDEN, FFN),
    NAME("down.bias", BERT_BLOCK "output.dense.bias", HIDDEN, ONE),
    NAME("norm2.weight", BERT_BLOCK "output.LayerNorm.weight", HIDDEN, ONE),
    NAME("norm2.bias", BERT_BLOCK "output.LayerNorm.bias", HIDDEN, ONE),
    NAME("dense.weight", "cls.predictions.transform.dense.weight", HIDDEN, HIDDEN),
    NAME("dense.bias", "cls.predictions.transform.dense.bias", HIDDEN, ONE),
    NAME("norm.weight", "cls.predictions.transform.LayerNorm.weight", HIDDEN, ONE),
    NAME("norm.bias", "cls.predictions.transform.LayerNorm.bias", HIDDEN, ONE),
    NAME("head.bias", "cls.predictions.bias", VOCAB, ONE),
    {.ours = NULL},
};
/* The pooler and the head of the next sentence have no part in the loss. */
static const char *const BERT_IGNORED[] = {
    "embeddings.position_ids", "pooler.dense.weight",
    "pooler.dense.bias",       "cls.seq_relationship.weight",
    "cls.seq_relationship.bias", NULL};

static const struct pp_hub_copy BERT_COPIES[] = {
    {"cls.predictions.decoder.weight", "embedding.weight"},
    {"cls.predictions.decoder.bias", "head.bias"},
    {NULL, NULL}};

static const struct pp_hub_setting BERT_SETTINGS[] = {
    FIELD("num_hidden_layers", INT, layers),
    FIELD("hidden_size", INT, hidden),
    FIELD("num_attention_heads", INT, heads),
    FIELD("intermediate_size", INT, ffn),
    FIELD("vocab_size", INT, vocab),
    FIELD("max_position_embeddings", INT, positions),
    FIELD("type_vocab_size", INT, token_types),
    FIELD("layer_norm_eps", REAL, numerics.norm_epsilon),
    FIELD("hidden_act", TEXT, numerics.activation),
    FIELD("tie_word_embeddings", BOOL, is_tied),
    {.key = NULL},
};

/* ---- table ----------------------------------------------------------------------------------- */

static const struct pp_hub_family FAMILIES[] = {
    {"bert", "bert", "BertForMaskedLM", "bert.", BERT_NAMES, BERT_IGNORED, BERT_SETTINGS,
     .copies = BERT_COPIES, .is_always_tied = true},
    {"gemma", "gemma", "GemmaForCausalLM", "model.", LLAMA_NAMES, LLAMA_IGNORED, OTHER_SETTINGS},
    {"gpt", "gpt2", "GPT2LMHeadModel", "transformer.", GPT2_NAMES, GPT2_IGNORED, GPT2_SETTINGS},
    {"gpt2", "gpt2", "GPT2LMHeadModel", "transformer.", GPT2_NAMES, GPT2_IGNORED, GPT2_SETTINGS},
    {"gpt-neox", "gpt_neox", "GPTNeoXForCausalLM", "gpt_neox.", NEOX_NAMES, NEOX_IGNORED,
     NEOX_SETTINGS},
    {"llama", "llama", "LlamaForCausalLM", "model.", LLAMA_NAMES, LLAMA_IGNORED, LLAMA_SETTINGS},
    {"mistral", "mistral", "MistralForCausalLM", "model.", LLAMA_NAMES, LLAMA_IGNORED,
     MISTRAL_SETTINGS},
    {"mixtral", "mixtral", "MixtralForCausalLM", "model.", LLAMA_NAMES, LLAMA_IGNORED,
     MIXTRAL_SETTINGS, MIXTRAL_EXPERTS},
    {"opt", "opt", "OPTForCausalLM", "model.", OPT_NAMES, NONE_IGNORED, OPT_SETTINGS},
    {"qwen2", "qwen2", "Qwen2ForCausalLM", "model.", LLAMA_NAMES, LLAMA_IGNORED,
     OTHER_SETTINGS},
    {"qwen3", "qwen3", "Qwen3ForCausalLM", "model.", LLAMA_NAMES, LLAMA_IGNORED,
     LLAMA_SETTINGS},
    {"qwen3", "qwen3_moe", "Qwen3MoeForCausalLM", "model.", LLAMA_NAMES, LLAMA_IGNORED,
     QWEN3_MOE_SETTINGS, QWEN3_EXPERTS, .is_switchable = true},
};
/* clang-format on */

enum pp_status pp_hub_family(const struct pp_model *model, const struct pp_hub_family **family,
                             struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(FAMILIES); i++)
        if (model->family && strcmp(model->family, FAMILIES[i].family) == 0 &&
            (FAMILIES[i].experts != NULL) == (model->experts.count > 0)) {
            *family = &FAMILIES[i];
            return PP_OK;
        }
    const bool has_experts = model->experts.count > 0;
    pp_error_set(err, PP_EINVAL,
                 has_experts
                     ? "model '%.80s': the hub has no family %s with experts; those with "
                       "experts are"
                     : "model '%.80s': the names of the tensors of family %s are not known; "
                       "known are",
                 model->name, model->family ? model->family : "none");
    for (size_t i = 0, known = 0; i < PP_COUNT(FAMILIES); i++)
        if (!has_experts || FAMILIES[i].experts)
            pp_error_append(err, "%s %s", known++ ? "," : "",
                            FAMILIES[i].experts ? FAMILIES[i].type : FAMILIES[i].family);
    if (has_experts)
        pp_error_append(err, "; give --model mixtral-8x7b or qwen3-30b-a3b, or --experts 1");
    return err->status;
}

int64_t pp_hub_size(const struct pp_model *m, enum pp_hub_size size)
{
    const int64_t q = (int64_t)m->heads * m->head_dim, kv = (int64_t)m->kv_heads * m->head_dim;
    const int64_t sizes[] = {[PP_HUB_ONE] = 1,
                             [PP_HUB_HIDDEN] = m->hidden,
                             [PP_HUB_Q] = q,
                             [PP_HUB_KV] = kv,
                             [PP_HUB_QKV] = 3 * q,
                             [PP_HUB_HEAD] = m->head_dim,
                             [PP_HUB_FFN] = m->ffn,
                             [PP_HUB_EXPERTS] = m->experts.count,
                             [PP_HUB_EXPERT_FFN] = m->experts.ffn,
                             [PP_HUB_VOCAB] = m->vocab,
                             [PP_HUB_POSITIONS] = m->positions,
                             [PP_HUB_TYPES] = m->token_types};

    return sizes[size];
}
