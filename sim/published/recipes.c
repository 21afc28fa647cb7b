/* Settings of recipes that tables of their results leave out, concluded from the cells of a row. */
#include "sim/published/parts.h"

#define BRIDGE                                                                                     \
    "Megatron-Bridge's recipe, scripts/performance/configs/*/*_workload_base_configs.py, "         \
    "recompute_modules"
/* paxml/contrib/gpu/scripts_gpu/configs.py */
#define PAX      "Paxml's policy saves nothing (TransformerLmSpmdAdafactor, CHECKPOINT_POLICY)"
#define PAX_126M "Paxml's policies are of repeated layers, and GPT126M repeats none"
#define PAX_5B   "Paxml's policy for GPT5B is SAVE_DOT_WITH_NO_BATCH_DIM"
#define PAX_TE   "measured with Paxml and Transformer Engine"
#define PAX_VOC  "VOCAB_SIZE of Paxml's configuration"

#define FUSED                                                                                      \
    "cutedsl_fused_grouped_mlp and cuda_graph_impl full_iteration, in Megatron-Bridge's recipes "  \
    "of mxfp8 since its release 0.5.1 (NeMo 26.06)"
#define APART "its recipe of Megatron-Bridge 0.5.1 has neither fused experts nor full_iteration"
#define OVERLAP                                                                                    \
    "moe_a2a_overlap of Megatron-Bridge's recipe: exchanges run during another micro-batch"
#define SHARE    "moe_hybridep_num_sms 32 of about 150"
#define ALLTOALL "moe_token_dispatcher_type alltoall of Megatron-Bridge's recipe"
#define NEW      "megatron-bridge*(26.06|megatron-bridge*(26.08"
#define ALPA_AUTO                                                                                  \
    "auto-sharding prefers reduce-scatters, so that replicas cut the state of the optimizer "      \
    "(alpa/shard_parallel/auto_sharding.py)"
#define ALPA_2                                                                                     \
    "XLA of 2022 keeps whole gradients: both have the same peak, and that of auto-sharding"
#define ANY PP_MEASURE_COLUMNS

/* First match wins for each option, where its own cell is empty. "b200" is GB200 as well. */
/* clang-format off */
static const struct recipe {
    const char *source, *model, *gpu, *precision; /* patterns of pp_measure_matches */
    enum pp_measure_column unless; /* applies if this cell is empty; PP_MEASURE_COLUMNS: always */
    const char *option, *value, *reason;
} RECIPES[] = {
    {NEW, "gpt*oss",  "=b200|=b300", "mxfp8", PP_COL_FRAMEWORK, "framework", "nemo", APART},
    {NEW, "kimi*k2",  "*", "mxfp8", PP_COL_FRAMEWORK, "framework",  "nemo", APART},
    {NEW, "*",        "*", "mxfp8", PP_COL_FRAMEWORK, "framework",  "bridge", FUSED},
    {NEW, "deepseek", "gb200|b300", "mxfp8", ANY, "ep-overlap", "100%", OVERLAP},
    {NEW, "deepseek", "gb200|b300", "mxfp8", ANY, "ep-share", "21%", SHARE},
    {NEW, "qwen3", "*", "mxfp8", ANY, "ep-overlap", "100%", OVERLAP},
    {NEW, "qwen3", "*", "mxfp8", ANY, "ep-share", "21%", SHARE},
    {NEW, "gpt*oss*120b", "gb200|gb300", "mxfp8", ANY, "ep-overlap", "100%", OVERLAP},
    {NEW, "gpt*oss*120b", "gb200|gb300", "mxfp8", ANY, "ep-share", "21%", SHARE},
    {"megatron-bridge*(26.04.01", "deepseek", "=b200", "mxfp8", ANY, "ep-overlap",  "100%",   OVERLAP},
    {"megatron-bridge", "qwen3_235b",    "=h100", "*", ANY, "ep-overlap",  "100%", OVERLAP},
    {"megatron-bridge", "qwen3_235b",    "=h100|=b200|=b300", "*", ANY, "ep-dispatch", "each", ALLTOALL},
    {"megatron-bridge", "deepseek*v3|kimi*k2", "h100", "*", PP_COL_RECOMPUTE, "recompute", "selective=mla_up_proj+mlp", BRIDGE},
    {"megatron-bridge", "deepseek*v3|kimi*k2", "*",    "*", PP_COL_RECOMPUTE, "recompute", "selective=mla_up_proj",     BRIDGE},
    {NEW, "gpt*oss*120b", "gb200", "mxfp8", PP_COL_RECOMPUTE, "recompute", "none", BRIDGE},
    {"megatron-bridge", "gpt*oss*120b",  "h100|b200", "*", PP_COL_RECOMPUTE, "recompute", "selective=layernorm+act", BRIDGE},
    {"alpa osdi",       "auto-sharding", "*",      "*", PP_COL_ZERO, "zero", "1", ALPA_AUTO},
    {"alpa osdi",       "zero-2",        "*",      "*", ANY,         "zero", "1", ALPA_2},
    {" pax ",           "*", "*", "transformerengine", PP_COL_FRAMEWORK, "framework", "paxml-te", PAX_TE},
    {" pax ",           "gpt 126m",      "*",      "*", PP_COL_RECOMPUTE, "recompute", "none",                       PAX_126M},
    {" pax ",           "gpt 5b",        "*",      "*", PP_COL_RECOMPUTE, "recompute", "selective=core_attn+layernorm+act", PAX_5B},
    {" pax ",           "*",             "*",      "*", PP_COL_RECOMPUTE, "recompute", "full",                       PAX},
    {" pax ",           "gpt 126m|gpt 5b", "*",    "*", PP_COL_VOCAB, "vocab", "50304", PAX_VOC},
    {" pax ",           "gpt 175b",      "*",      "*", PP_COL_VOCAB, "vocab", "50257", PAX_VOC},
};
/* clang-format on */

static bool applies(const struct recipe *r, const struct pp_measurement *row)
{
    const bool is_free = r->unless == ANY || !*row->cell[r->unless];

    return is_free && pp_measure_matches(row->cell[PP_COL_SOURCE], r->source) &&
           pp_measure_matches(row->cell[PP_COL_MODEL], r->model) &&
           pp_measure_matches(row->cell[PP_COL_GPU], r->gpu) &&
           pp_measure_matches(row->cell[PP_COL_PRECISION], r->precision);
}

void pp_measure_put_recipes(struct pp_measure_writer *w)
{
    for (size_t i = 0; i < PP_COUNT(RECIPES); i++) {
        const struct recipe *r = &RECIPES[i];
        if (!applies(r, w->row) || pp_measure_given(w, r->option) ||
            pp_measure_is_void(w, r->option))
            continue;
        pp_measure_put(w, r->option, r->value);
        pp_measure_note(w, pp_arena_printf(w->arena, "%s %s: %s", r->option, r->value, r->reason));
    }
}
