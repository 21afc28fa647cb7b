/* Reads the measurements of a row, and what its words count. */
#include "core/units.h"
#include "sim/published/parts.h"

#include <math.h>
#include <string.h>

#define TERA 1e12
#define GIGA 1e9

/* ---- step times ------------------------------------------------------------------------------ */

/* Flops that a rate counts, of one step. */
enum counted {
    MODEL,     /* 72 B s L h^2 (1 + s/6h + V/12Lh): forward and backward, full attention */
    RECOMPUTE, /* 96 B s L h^2 (1 + s/6h + V/16Lh): blocks forward twice */
    SIX_N,     /* B s (6 N + 12 L h s) */
};
/* Sources whose rates are defined beyond doubt, narrower ones first, by source or else by family.
 * Peak 0: the rate is in TFLOP/s. */
static const struct definition {
    const char *source, *family;
    enum pp_measure_column column;
    enum counted counted;
    double peak_flops_per_s;
} DEFINITIONS[] = {
    {"2205.05198|korthikanti", "^seqpar", PP_COL_MFU, MODEL, 312 * TERA},
    {"^amsp", "^amsp", PP_COL_MFU, SIX_N, 312 * TERA},
    {"2104.04473", "^megatron-sc21", PP_COL_HFU_TFLOPS, RECOMPUTE, 0},
    {"megatron-lm readme*megatron-core", "^megatron-readme-h100", PP_COL_MODEL_TFLOPS, MODEL, 0},
    {"megatron-lm readme", "^megatron-readme", PP_COL_HFU_TFLOPS, RECOMPUTE, 0},
    {"llm-foundry", "^llmfoundry", PP_COL_MODEL_TFLOPS, SIX_N, 0},
    {"bigscience bloom", "^bloom", PP_COL_HFU_TFLOPS, RECOMPUTE, 0},
    {"gpt-neox", "^neox", PP_COL_HFU_TFLOPS, RECOMPUTE, 0},
    {"oneflow", "^oneflow", PP_COL_HFU_TFLOPS, RECOMPUTE, 0},
    {"megatron-turing|2201.11990", "^mtnlg", PP_COL_HFU_TFLOPS, RECOMPUTE, 0},
};

static bool is_defined_by(const struct pp_measurement *row, const struct definition *d)
{
    const char *source = row->cell[PP_COL_SOURCE];

    return pp_measure_matches(source, d->source) || pp_measure_matches(row->family, d->family);
}

/* Returns the seconds of gbs * seq tokens at the published rate of a device. */
static double step_of_tokens(const struct pp_measurement *row)
{
    return pp_measure_number(row, PP_COL_GBS) * pp_measure_number(row, PP_COL_SEQ) /
           (pp_measure_number(row, PP_COL_TOKENS_PER_S) * pp_measure_number(row, PP_COL_GPUS));
}

static double flops_of(enum counted counted, const struct pp_config *config)
{
    const struct pp_model *m = &config->model;
    const double batch = (double)config->layout.gbs, seq = config->layout.seq;

    if (counted == SIX_N)
        return batch * seq * (6 * pp_model_params(m) + 12.0 * m->layers * m->hidden * seq);
    const double block = pp_model_layer_flops(m, PP_LAYER_BLOCK, batch, seq, PP_FLOPS_MEGATRON);
    const double head = pp_model_layer_flops(m, PP_LAYER_HEAD, batch, seq, PP_FLOPS_MEGATRON);
    return (counted == RECOMPUTE ? 4 : 3) * m->layers * block + 3 * head;
}

static double step_of_rate(const struct pp_measurement *row, const struct pp_config *config)
{
    for (size_t i = 0; i < PP_COUNT(DEFINITIONS); i++) {
        const struct definition *d = &DEFINITIONS[i];
        const double number = pp_measure_number(row, d->column);
        if (!is_defined_by(row, d) || !isfinite(number))
            continue;
        const double rate =
            d->peak_flops_per_s > 0 ? number / 100 * d->peak_flops_per_s : number * TERA;
        if (rate > config->cluster.device.peak_flops_per_s)
            continue;
        return flops_of(d->counted, config) / (rate * config->layout.gpus);
    }
    return (double)NAN;
}

/* Sources that publish as measured what a simulator computed. vTrain's times of one node are its
 * own predictions. They are linear in layers and micro-batches to 1e-6, and their sums over
 * replicas are those of src/predictor.py, compute_comm_time, to the last digit. It has no factor
 * (n-1)/n beyond 1 GiB, so 1,161 MiB take 5.76 ms over two devices and 5.12 ms over four. */
static const struct {
    const char *source, *reason;
} SIMULATED[] = {
    {"vtrain*ground_truth_single",
     "metric_step_time_s: vTrain's simulator computed it, nothing was measured"},
};

static const char *simulated(const struct pp_measurement *row)
{
    for (size_t i = 0; i < PP_COUNT(SIMULATED); i++)
        if (pp_measure_matches(row->cell[PP_COL_SOURCE], SIMULATED[i].source))
            return SIMULATED[i].reason;
    return NULL;
}

double pp_measure_step_s(const struct pp_measurement *row, const struct pp_config *config)
{
    const struct pp_layout *l = &config->layout;
    const double tokens_s =
        (double)l->gbs * l->seq / (pp_measure_number(row, PP_COL_TOKENS_PER_S) * l->gpus);

    if (simulated(row))
        return (double)NAN;
    if (isfinite(row->step_s))
        return row->step_s;
    return isfinite(tokens_s) ? tokens_s : step_of_rate(row, config);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Kinds of memory by tools; the first match counts. Frameworks print memory of tensors. */
static const struct {
    enum pp_measure_column column;
    const char *pattern;
    enum pp_measure_memory counted;
} TOOLS[] = {
    {PP_COL_NOTE, "nvidia-smi", PP_MEASURE_DEVICE},
    {PP_COL_SOURCE, "torchtitan", PP_MEASURE_RESERVED}, /* its "memory" is max_reserved */
    {PP_COL_NOTE, "max_reserved", PP_MEASURE_RESERVED},
    {PP_COL_SOURCE, "vocabularyparallelism", PP_MEASURE_RESERVED}, /* show_result_full_exp.py */
    {PP_COL_NOTE, "*", PP_MEASURE_TENSORS},
};
const char *const pp_measure_memory_words[] = {
    [PP_MEASURE_DEVICE] = "all that is taken on the device, as nvidia-smi shows it",
    [PP_MEASURE_RESERVED] = "what the allocator holds, as max_memory_reserved() says",
    [PP_MEASURE_TENSORS] = "what tensors take, as max_memory_allocated() says"};

/* nvidia-smi prints MiB. People read a thousand of them as a GB: rows bloom-prequel print 80 GB on
 * devices of 81,251 MiB, which are 79.3 GiB. */
static double memory_unit_bytes(const struct pp_measurement *row)
{
    static const double THOUSAND_MIB = 1000 * 1024.0 * 1024;

    return pp_measure_matches(row->cell[PP_COL_NOTE], "nvidia-smi*gb as printed") ? THOUSAND_MIB
                                                                                  : PP_GIB;
}

enum pp_measure_memory pp_measure_memory_of(const struct pp_measurement *row)
{
    size_t i = 0;

    while (!pp_measure_matches(row->cell[TOOLS[i].column], TOOLS[i].pattern))
        i++;
    return TOOLS[i].counted;
}

double pp_measure_memory_bytes(const struct pp_measurement *row, const struct pp_result *result)
{
    const struct pp_rank_memory *m = &result->memory[result->peak_rank];
    const double tensors = pp_memory_tensor_bytes(m);
    const double capacity = pp_config_capacity_bytes(&result->config);
    const double cached = result->config.costs.framework->has_flat_update ? m->cached_bytes : 0;
    const double all = fmax(m->peak_bytes, fmin(capacity, m->peak_bytes + cached));
    const double bytes[] = {[PP_MEASURE_DEVICE] = all,
                            [PP_MEASURE_RESERVED] = all - result->costs->other_bytes,
                            [PP_MEASURE_TENSORS] = tensors};

    return bytes[pp_measure_memory_of(row)];
}

/* ---- figures of a row --------------------------------------------------------------------- */

void pp_measure_metrics(struct pp_arena *arena, struct pp_measurement *row)
{
    row->refused = pp_measure_refused(arena, row);
    if (!row->refused)
        row->refused = simulated(row);
    row->step_s = simulated(row) ? (double)NAN : pp_measure_number(row, PP_COL_STEP_S);
    if (!isfinite(row->step_s) && !simulated(row))
        row->step_s = step_of_tokens(row);
    row->mem_bytes = *row->cell[PP_COL_MEM_BYTES]
                         ? pp_measure_number(row, PP_COL_MEM_BYTES)
                         : pp_measure_number(row, PP_COL_MEM_GIB) * memory_unit_bytes(row);
    if (row->is_generation)
        row->mem_bytes = pp_measure_number(row, PP_COL_MEM_GB) * GIGA;
}
