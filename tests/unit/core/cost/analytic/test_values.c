/* Bytes that blocks save, in fp8 and nvfp4 above all, against sums by hand. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <stdlib.h>
#include <string.h>

static const struct setting gpt3 = {"gpt3-175b", "h100", 8, 16, 16, 1, 1, 2048},
                            llama = {"llama3-70b", "h100", 4, 4, 4, 1, 1, 8192},
                            deepseek = {"deepseek-v3", "h800", 1, 16, 64, 1, 1, 4096};

/* Inputs of matrices have a byte in fp8. Those of qkv, of the MLP and of its last matrix have
 * 1 + 1 + 4 of s b h / t less than in 16 bits. A copy for the projection has 1 more. */
Test(values, operands_are_saved_in_fp8)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    struct pp_framework own = *pp_framework_plain;
    const double t = 2048 * 12288.0 / 8;

    in.framework = &own;
    cr_assert_float_eq(pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK), 34 * t, 1);
    cluster.device.precision = PP_PRECISION_FP8;
    cr_assert_float_eq(pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK), (34 - 1 - 1 - 4) * t, 1);
    own.fp8_bits[PP_SAVED_COPIES] = 8;
    cr_assert_float_eq(pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK), (34 - 1 - 1 - 4 + 1) * t, 1);
    cr_assert_float_eq(costs_of(arena, &in)->memory[3].weight_grad_frac, 16.0 / 29, 1e-12);
    own.fp8_bits[PP_SAVED_COPIES] = own.fp8_bits[PP_SAVED_MATRICES] = 0;
    cr_assert_float_eq(pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK), 34 * t, 1);
}

/* Bytes of a token, by hand. Both models have two values for each input of an activation. */
Test(values, each_class_has_its_bits)
{
    enum {
        LLAMA_NORMS = 2 * 2 * 8192,
        LLAMA_MATRICES = 8192 + 8192 + 28672, /* qkv, gate and up, down */
        LLAMA_HEADS = 2 * (8192 + 1024 + 1024),
        LLAMA_OUT = 2 * 8192,
        LLAMA_ACT = 2 * 2 * 28672,
        NORMS = 2 * (2 * 7168 + 1536 + 512 + 64),
        ROUTED = 8 * 7168,
        MATRICES = 7168 + 1536 + 512 + 9 * 2048 + ROUTED, /* narrow, wide, down of 8 + 1 experts */
        ROUTER = 2 * 7168,
        HEADS = 2 * 128 * (192 + 192 + 128),
        OUT = 2 * 128 * 128,
        ACT = 2 * 2 * 9 * 2048
    };
    static const unsigned CHEAP = PP_AGAIN_NORM | PP_AGAIN_ACT | PP_AGAIN_LATENT;
    static const struct {
        const struct setting *setting;
        const char *framework;
        unsigned again;
        double token_bytes;
    } rows[] = {
        {&llama, "torchtitan", 0,
         LLAMA_NORMS + 2 * LLAMA_MATRICES + LLAMA_HEADS + LLAMA_OUT + LLAMA_ACT + 2 * 28672},
        {&llama, "plain", 0, LLAMA_NORMS + LLAMA_MATRICES + LLAMA_HEADS + LLAMA_OUT + LLAMA_ACT},
        {&llama, "nemo", 0,
         LLAMA_NORMS + LLAMA_MATRICES + LLAMA_HEADS + LLAMA_OUT + LLAMA_ACT + 8192},
        {&llama, "hai-llm", 0,
         LLAMA_NORMS + LLAMA_MATRICES + LLAMA_HEADS + LLAMA_OUT * 3 / 4 + LLAMA_ACT / 2},
        {&deepseek, "internevo", 0,
         NORMS + 2 * MATRICES + ROUTER + HEADS + OUT + ACT + 2 * 9 * 2048},
        {&deepseek, "plain", 0, NORMS + MATRICES + ROUTER + HEADS + OUT + ACT},
        {&deepseek, "plain", CHEAP, NORMS + ROUTED + OUT + ACT},
        {&deepseek, "megatron", 0,
         NORMS + MATRICES + ROUTER + HEADS + OUT + ACT + 16384 + 7168 + 7168},
        {&deepseek, "megatron", CHEAP, NORMS + ROUTED + OUT + ACT + 16384},
        {&deepseek, "hai-llm", 0, NORMS + MATRICES + ROUTER + HEADS + OUT * 3 / 4 + ACT / 2},
        {&deepseek, "hai-llm", CHEAP, NORMS + ROUTED + OUT * 3 / 4 + ACT / 2},
    };

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_error err;
        struct pp_cost_inputs in = inputs_of(arena, *rows[i].setting, &model, &cluster);
        const double tokens = in.layout.seq / (double)in.layout.tp;

        cluster.device.precision = PP_PRECISION_FP8;
        cr_assert_eq(pp_framework_find(rows[i].framework, &in.framework, &err), PP_OK);
        in.recompute = rows[i].again ? PP_RECOMPUTE_SELECTIVE : PP_RECOMPUTE_NONE;
        in.again = rows[i].again;
        cr_expect_float_eq(
            pp_analytic_kept_bytes(&in, model.experts.count ? PP_LAYER_MOE : PP_LAYER_BLOCK),
            tokens * rows[i].token_bytes, 1, "%s %s %u", rows[i].setting->model, rows[i].framework,
            rows[i].again);
    }
}

/* PyTorch's autocast: norms read fp32, softmax keeps its output in fp32 and a copy for the product.
 * Images classify one token, and keep what the matrix of patches reads. */
Test(values, autocast_keeps_norms_and_softmax_in_fp32)
{
    static const struct {
        const char *model;
        double h, heads;
    } rows[] = {{"deit-ti", 192, 3}, {"deit-s", 384, 6}, {"deit-b", 768, 12}};
    const double mbs = 128, seq = 197, tokens = mbs * seq;

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct setting one = {rows[i].model, "v100-dgx1", 1, 1, 1, 1, (int)mbs, (int)seq};
        const double h = rows[i].h;
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_error err;
        struct pp_cost_inputs in = inputs_of(arena, one, &model, &cluster);
        cr_assert_eq(pp_framework_find("autocast", &in.framework, &err), PP_OK);
        const double block = tokens * (4 * 2 * h + 2 * 14 * h + rows[i].heads * seq * (4 + 2)),
                     head = tokens * 4 * h + mbs * (2 * h + 4 * 1000),
                     patches = mbs * (seq - 1) * 2 * 3 * 16 * 16;
        cr_expect_float_eq(pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK), block, 1);
        cr_expect_float_eq(pp_analytic_saved_bytes(&in, PP_LAYER_HEAD), head, 1);
        cr_expect_float_eq(pp_analytic_saved_bytes(&in, PP_LAYER_EMBEDDING), patches, 1);
        const struct pp_stage_memory *m = costs_of(arena, &in)->memory;
        cr_expect_float_eq(m->saved_bytes, 12 * block + head + patches, 1);
        cr_expect_float_eq(m->params_bytes + m->grads_bytes + m->optimizer_bytes,
                           16 * pp_model_params(&model), 1);
    }
}

/* Quantised once more, values of 16 bits shrink and narrower ones stay. */
Test(values, bits_make_no_value_wider)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, llama, &model, &cluster);
    const double wide = 32768 + 20480 + 16384 + 114688, narrow = 45056, scale = 4.0 / 128;

    for (int i = 0; i < 6; i++) {
        const double own = i % 2 ? 4.5 / 8 : 1, value = (2 << i / 2) / 8.0 + scale,
                     left = wide / 2 * value + narrow * (value < own ? value : own);
        cluster.device.precision = i % 2 ? PP_PRECISION_NVFP4 : PP_PRECISION_FP8;
        in.state.activation_bits = 2 << i / 2;
        in.has_bits_apart = true;
        cr_assert_float_eq(costs_of(arena, &in)->memory[1].resting_frac,
                           left / (wide + narrow * own), 1e-12);
    }
}

/* Inputs of matrices have 4.5 bits in nvfp4, no tensor a second copy, and all else 16 bits. */
Test(values, nvfp4_narrows_inputs_of_matrices)
{
    enum { MATRICES = 8192 + 8192 + 28672, OTHERS = 32768 + 20480 + 16384 + 114688 };
    static const struct {
        const char *framework;
        double matrix_bytes;
    } rows[] = {{"plain", 4.5 / 8}, {"megatron", 4.5 / 8}, {"hai-llm", 4.5 / 8}, {"internevo", 2}};

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_error err;
        struct pp_cost_inputs in = inputs_of(arena, llama, &model, &cluster);
        const double apart = rows[i].matrix_bytes == 2 ? 2 * 28672 : 0; /* silu(gate) */

        cluster.device.precision = PP_PRECISION_NVFP4;
        cr_assert_eq(pp_framework_find(rows[i].framework, &in.framework, &err), PP_OK);
        cr_expect_float_eq(pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK),
                           2048 * (OTHERS + MATRICES * rows[i].matrix_bytes + apart), 1, "%s",
                           rows[i].framework);
    }
}

/* Returns the sum of the items "NAME X MiB in Y bits", as printed. */
static double sum_of(const char *text)
{
    double sum = 0, bytes;
    struct pp_error err;
    char amount[32];

    for (const char *bits; (bits = strstr(text, " in ")); text = bits + 1) {
        const char *from = bits;
        for (int blanks = 0; blanks < 2; blanks += *from == ' ')
            from--;
        snprintf(amount, sizeof(amount), "%.*s", (int)(bits - from - 1), from + 1);
        cr_assert_eq(pp_units_parse(amount, PP_UNIT_BYTES, &bytes, &err), PP_OK, "%s", amount);
        sum += bytes;
    }
    return sum;
}

static void check_items(const struct pp_cost_inputs *in, enum pp_layer_kind kind, const char *what)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    const double saved = pp_analytic_saved_bytes(in, kind);

    pp_analytic_explain_classes(in, kind, out);
    fclose(out);
    cr_expect_float_eq(sum_of(text), saved, 0.005 * saved, "%s: %g is not that of%s", what, saved,
                       text);
    free(text);
}

/* What --explain lists is what a block saves, to the printed digits. */
Test(values, printed_items_add_up)
{
    static const struct setting *const settings[] = {&gpt3, &llama, &deepseek};
    static const char *const frameworks[] = {"plain", "megatron", "internevo", "hai-llm"};
    static const enum pp_precision precisions[] = {PP_PRECISION_FP32, PP_PRECISION_BF16,
                                                   PP_PRECISION_FP8, PP_PRECISION_NVFP4};

    for (size_t i = 0; i < PP_COUNT(settings) * PP_COUNT(frameworks); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_error err;
        const char *framework = frameworks[i % PP_COUNT(frameworks)];
        struct pp_cost_inputs in =
            inputs_of(arena, *settings[i / PP_COUNT(frameworks)], &model, &cluster);

        cr_assert_eq(pp_framework_find(framework, &in.framework, &err), PP_OK);
        for (size_t k = 0; k < 2 * PP_COUNT(precisions); k++) {
            cluster.device.precision = precisions[k / 2];
            cluster.device.is_attention_unfused = k % 2;
            check_items(&in, PP_LAYER_BLOCK, framework);
            if (model.experts.count > 0)
                check_items(&in, PP_LAYER_MOE, framework);
        }
    }
}

/* A softmax in fp32 keeps its 4 bytes next to the 2 that the product reads; in fp32 training there
 * is only one copy. */
Test(values, a_wide_softmax_keeps_its_own_scores)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_error err = {0};
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const double scores = 2048.0 * 2048 * 96 / 8;
    double saved[2];

    for (int unfused = 0; unfused < 2; unfused++)
        for (int fp32 = 0; fp32 < 2; fp32++) {
            cluster.device.is_attention_unfused = unfused;
            cluster.device.precision = fp32 ? PP_PRECISION_FP32 : PP_PRECISION_BF16;
            for (int te = 0; te < 2; te++) {
                cr_assert_eq(pp_framework_find(te ? "paxml-te" : "paxml", &in.framework, &err),
                             PP_OK);
                saved[te] = pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK);
            }
            cr_assert_float_eq(saved[0] - saved[1], unfused && !fp32 ? 4 * scores : 0, 1);
        }
}
