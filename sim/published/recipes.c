/* Settings of recipes that tables of their results leave out, concluded from the cells of a row. */
#include "sim/published/parts.h"

#define BRIDGE                                                                                     \
    "Megatron-Bridge's recipe, scripts/performance/configs/*/*_workload_base_configs.py, "         \
    "recompute_modules"
#define PAX    "Paxml's policy saves nothing (TransformerLmSpmdAdafactor, CHECKPOINT_POLICY)"
#define PAX_5B "Paxml's policy for GPT5B is SAVE_DOT_WITH_NO_BATCH_DIM"

#define FUSED                                                                                      \
    "cutedsl_fused_grouped_mlp and cuda_graph_impl full_iteration, in Megatron-Bridge's recipes "  \
    "of mxfp8 since its release 0.5.1 (NeMo 26.06)"
#define OVERLAP                                                                                    \
    "moe_a2a_overlap of Megatron-Bridge's recipe: exchanges run during another micro-batch"
#define ALLTOALL "moe_token_dispatcher_type alltoall of Megatron-Bridge's recipe"
#define NEW      "megatron-bridge*(26.06|megatron-bridge*(26.08"
#define ANY      PP_MEASURE_COLUMNS

/* First match wins for each option, where its own cell is empty. "b200" is GB200 as well. */
/* clang-format off */
static const struct recipe {
    const char *source, *model, *gpu, *precision; /* patterns of pp_measure_matches */
    enum pp_measure_column unless; /* applies if this cell is empty; PP_MEASURE_COLUMNS: always */
    const char *option, *value, *reason;
} RECIPES[] = {
    {NEW, "*",        "*", "mxfp8", ANY, "framework",  "bridge", FUSED},
    {NEW, "deepseek", "*", "mxfp8", ANY, "ep-overlap", "100%",   OVERLAP},
    {"megatron-bridge*(26.04.01", "deepseek", "=b200", "mxfp8", ANY, "ep-overlap",  "100%",   OVERLAP},
    {"megatron-bridge", "qwen3_235b",    "=h100", "*", ANY, "ep-overlap",  "100%", OVERLAP},
    {"megatron-bridge", "qwen3_235b",    "=h100|=b200|=b300", "*", ANY, "ep-dispatch", "each", ALLTOALL},
    {"megatron-bridge", "deepseek*v3|kimi*k2", "h100", "*", PP_COL_RECOMPUTE, "recompute", "selective=mla_up_proj+mlp", BRIDGE},
    {"megatron-bridge", "deepseek*v3|kimi*k2", "*",    "*", PP_COL_RECOMPUTE, "recompute", "selective=mla_up_proj",     BRIDGE},
    {NEW, "gpt*oss*120b", "gb200", "mxfp8", PP_COL_RECOMPUTE, "recompute", "none", BRIDGE},
    {"megatron-bridge", "gpt*oss*120b",  "h100|b200", "*", PP_COL_RECOMPUTE, "recompute", "selective=layernorm+act", BRIDGE},
    {" pax ",           "gpt 5b",        "*",      "*", PP_COL_RECOMPUTE, "recompute", "selective",                  PAX_5B},
    {" pax ",           "*",             "*",      "*", PP_COL_RECOMPUTE, "recompute", "full",                       PAX},
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
        if (!applies(r, w->row) || pp_measure_given(w, r->option))
            continue;
        pp_measure_put(w, r->option, r->value);
        pp_measure_note(w, pp_arena_printf(w->arena, "%s %s: %s", r->option, r->value, r->reason));
    }
}
