/* Rows of runs that generate: their command, what they publish, and what is predicted of it. */
#include "sim/published/parts.h"

#include "sim/inference/inference.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define GIGA 1e9

/* ---- the command ----------------------------------------------------------------------------- */

/* Cells that no other cell replaces. */
static enum pp_status check_cells(const struct pp_measure_writer *w, struct pp_error *err)
{
    static const enum pp_measure_column NEEDED[] = {PP_COL_LAYERS, PP_COL_HIDDEN,    PP_COL_HEADS,
                                                    PP_COL_VOCAB,  PP_COL_GPU,       PP_COL_BATCH,
                                                    PP_COL_PROMPT, PP_COL_NEW_TOKENS};
    const char *missing = "";

    if (w->row->defect)
        return pp_error_set(err, PP_EINVAL, "%s", w->row->defect);
    for (size_t i = 0; i < PP_COUNT(NEEDED); i++)
        if (!*w->row->cell[NEEDED[i]] &&
            !(NEEDED[i] <= PP_COL_VOCAB && pp_measure_is_named(w->row)))
            missing = pp_arena_printf(w->arena, "%s%s %s", missing, *missing ? "," : "",
                                      pp_measure_columns[NEEDED[i]]);
    return *missing ? pp_error_set(err, PP_EINVAL, "missing:%s", missing) : PP_OK;
}

/* Adds the framework; kernels alone stand for one without a row. */
static void put_framework(struct pp_measure_writer *w)
{
    const char *cell = w->row->cell[PP_COL_FRAMEWORK];
    const struct pp_framework *framework;
    struct pp_error err;

    if (*cell && pp_framework_find(cell, &framework, &err) == PP_OK) {
        pp_measure_put(w, "framework", framework->name);
        return;
    }
    pp_measure_put(w, "framework", "plain");
    if (*cell)
        pp_measure_note(w, pp_arena_printf(w->arena, "framework plain: %.40s has no row", cell));
}

static enum pp_status put_sizes(struct pp_measure_writer *w, struct pp_error *err)
{
    static const struct {
        enum pp_measure_column column;
        const char *option;
    } SIZES[] = {{PP_COL_BATCH, "batch"},
                 {PP_COL_PROMPT, "prompt"},
                 {PP_COL_NEW_TOKENS, "tokens"},
                 {PP_COL_WEIGHT_BITS, "weight-bits"},
                 {PP_COL_KV_BITS, "kv-bits"}};

    for (size_t i = 0; i < PP_COUNT(SIZES); i++) {
        int64_t value;
        PP_TRY(pp_measure_int(w->row, SIZES[i].column, PP_OPTION_BIG, 0, &value, err));
        if (value > 0)
            pp_measure_put_int(w, SIZES[i].option, value);
    }
    return PP_OK;
}

/* Adds the precision. Words such as int4 or w8a16 are bits of weights: products stay in 16 bits. */
static void put_precision(struct pp_measure_writer *w)
{
    static const struct {
        const char *pattern, *option, *value;
    } WORDS[] = {{"nvfp4", "precision", "nvfp4"}, {"fp8", "precision", "fp8"},
                 {"bf16", "precision", "bf16"},   {"fp16|float16|half", "precision", "fp16"},
                 {"tf32", "precision", "tf32"},   {"fp32|float32", "precision", "fp32"},
                 {"4", "weight-bits", "4"},       {"8", "weight-bits", "8"}};
    const char *cell = w->row->cell[PP_COL_PRECISION];

    for (size_t i = 0; i < PP_COUNT(WORDS); i++)
        if (*cell && pp_measure_matches(cell, WORDS[i].pattern)) {
            pp_measure_put(w, WORDS[i].option, WORDS[i].value);
            return;
        }
    pp_measure_note(w, "precision not stated: the device's own");
}

/* Returns the bytes of all keys and values at the end, in 16 bits if the row does not say. */
static double cache_bytes(const struct pp_measurement *row)
{
    const double kv_heads = pp_measure_number(row, PP_COL_KV_HEADS),
                 bits = pp_measure_number(row, PP_COL_KV_BITS),
                 tokens = pp_measure_number(row, PP_COL_PROMPT) +
                          pp_measure_number(row, PP_COL_NEW_TOKENS);

    return 2 * (isfinite(kv_heads) ? kv_heads : pp_measure_number(row, PP_COL_HEADS)) *
           pp_measure_number(row, PP_COL_HEAD_DIM) * pp_measure_number(row, PP_COL_LAYERS) *
           (isfinite(bits) ? bits : 16) / 8 * tokens * pp_measure_number(row, PP_COL_BATCH);
}

/* Adds what lives elsewhere. Weights on the host leave the devices to the cache. If a run ended
 * with one that is larger than all of them, it was on the host, too. */
static enum pp_status put_offload(struct pp_measure_writer *w, struct pp_error *err)
{
    const char *cell = w->row->cell[PP_COL_OFFLOAD], *text = pp_measure_given(w, "cluster");
    struct pp_cluster cluster;

    if (!*cell)
        return PP_OK;
    PP_TRY(pp_cluster_load(w->arena, text, &cluster, err));
    const bool is_beyond = cache_bytes(w->row) > (double)w->gpus * cluster.device.memory_bytes;
    if (is_beyond && !w->row->is_out_of_memory && strstr(cell, "p=host") && !strstr(cell, "kv=")) {
        cell = pp_arena_printf(w->arena, "%s,kv=host", cell);
        pp_measure_note(w, "kv=host: the cache is larger than the devices");
    }
    pp_measure_put(w, "offload", cell);
    return PP_OK;
}

enum pp_status pp_measure_put_generation(struct pp_measure_writer *w, struct pp_error *err)
{
    PP_TRY(check_cells(w, err));
    PP_TRY(pp_measure_int(w->row, PP_COL_TP, PP_MEASURE_DEVICES, 1, &w->tp, err));
    PP_TRY(pp_measure_int(w->row, PP_COL_PP, UINT16_MAX, 1, &w->pp, err));
    PP_TRY(pp_measure_int(w->row, PP_COL_GPUS_PER_NODE, PP_MEASURE_DEVICES, 0, &w->per_node, err));
    w->gpus = w->tp * w->pp;
    w->dp = w->cp = w->ep = w->vp = 1;
    pp_measure_put(w, "mode", "infer");
    pp_measure_put(w, "schedule", "generate");
    pp_measure_put_int(w, "gpus", w->gpus);
    pp_measure_put_int(w, "tp", w->tp);
    pp_measure_put_int(w, "pp", w->pp);
    PP_TRY(put_sizes(w, err));
    if (*w->row->cell[PP_COL_MLP])
        pp_measure_put(w, "mlp", w->row->cell[PP_COL_MLP]);
    if (pp_measure_matches(w->row->cell[PP_COL_NOTE], "top_p")) {
        pp_measure_put(w, "sampling", "top-p");
        pp_measure_note(w, "sampling top-p: the note has top_p");
    }
    put_precision(w);
    put_framework(w);
    PP_TRY(pp_measure_put_cluster(w, err));
    PP_TRY(put_offload(w, err));
    return pp_measure_put_model(w, err);
}

/* ---- figures --------------------------------------------------------------------------------- */

const char *const pp_generation_keys[PP_GENERATION_FIGURES] = {
    [PP_GENERATION_LATENCY] = "latency_s",   [PP_GENERATION_RATE] = "tokens_per_s",
    [PP_GENERATION_FIRST] = "first_token_s", [PP_GENERATION_TOKEN] = "token_s",
    [PP_GENERATION_MEMORY] = "mem_bytes",
};

const char *const pp_generation_names[PP_GENERATION_FIGURES] = {
    [PP_GENERATION_LATENCY] = "latency",   [PP_GENERATION_RATE] = "tokens/s",
    [PP_GENERATION_FIRST] = "first token", [PP_GENERATION_TOKEN] = "each token",
    [PP_GENERATION_MEMORY] = "memory",
};

void pp_generation_published(const struct pp_measurement *row,
                             double figures[PP_GENERATION_FIGURES])
{
    static const enum pp_measure_column COLUMNS[PP_GENERATION_FIGURES] = {
        [PP_GENERATION_LATENCY] = PP_COL_LATENCY_S,
        [PP_GENERATION_RATE] = PP_COL_RATE,
        [PP_GENERATION_FIRST] = PP_COL_FIRST_TOKEN_S,
        [PP_GENERATION_TOKEN] = PP_COL_TOKEN_S,
        [PP_GENERATION_MEMORY] = PP_COL_MEM_GB};

    for (int i = 0; i < PP_GENERATION_FIGURES; i++)
        figures[i] = pp_measure_number(row, COLUMNS[i]) * (i == PP_GENERATION_MEMORY ? GIGA : 1);
}

enum pp_status pp_generation_predicted(struct pp_arena *arena, const struct pp_result *result,
                                       double figures[PP_GENERATION_FIGURES], struct pp_error *err)
{
    struct pp_inference *inference;

    PP_TRY(pp_inference_find(arena, result, &inference, err));
    figures[PP_GENERATION_LATENCY] = inference->latency_s;
    figures[PP_GENERATION_RATE] = inference->tokens_per_s;
    figures[PP_GENERATION_FIRST] = inference->first_token_s;
    figures[PP_GENERATION_TOKEN] = inference->token_s;
    figures[PP_GENERATION_MEMORY] = result->memory[result->peak_rank].peak_bytes;
    return PP_OK;
}
