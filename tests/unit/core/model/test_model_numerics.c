#include "core/model/model.h"
#include "tests/unit/core/model/from_text.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define CONFIGS PP_TESTS_DIR "/data/configs/"

/* Values of the files; where these leave them open, those of the classes that read them. */
static const struct {
    const char *file, *activation;
    double epsilon, theta, frac;
    const char *scaling; /* NULL = none */
    enum pp_norm_place place;
    int offset;
} files[] = {
    {"gpt2.json", "gelu_new", 1e-5, 1e4, 1, NULL, PP_NORM_PRE, 0},
    {"llama-2-7b.json", "silu", 1e-6, 1e4, 1, NULL, PP_NORM_PRE, 0},
    {"llama-3-8b.json", "silu", 1e-6, 5e5, 1, NULL, PP_NORM_PRE, 0},
    {"llama-3.1-405b.json", "silu", 1e-6, 5e5, 1, "llama3", PP_NORM_PRE, 0},
    {"mistral-7b.json", "silu", 1e-6, 1e4, 1, NULL, PP_NORM_PRE, 0},
    {"qwen2.5-7b.json", "silu", 1e-6, 1e4, 1, NULL, PP_NORM_PRE, 0},
    {"qwen3-8b.json", "silu", 1e-6, 1e4, 1, NULL, PP_NORM_PRE, 0},
    {"bert-large-uncased.json", "gelu", 1e-12, 1e4, 1, NULL, PP_NORM_POST, 0},
    {"roberta-base.json", "gelu", 1e-12, 1e4, 1, NULL, PP_NORM_POST, 2},
    {"opt-125m.json", "relu", 1e-5, 1e4, 1, NULL, PP_NORM_PRE, 2},
    {"pythia-160m.json", "gelu", 1e-5, 1e4, 0.25, NULL, PP_NORM_PARALLEL, 0},
    {"gemma-7b.json", "gelu_pytorch_tanh", 1e-6, 1e4, 1, NULL, PP_NORM_PRE, 0},
    {"minitron-4b.json", "relu2", 1e-5, 1e4, 0.5, NULL, PP_NORM_PRE, 0},
    {"deepseek-v3.json", "silu", 1e-6, 1e4, 1, NULL, PP_NORM_PRE, 0},
};

Test(model_numerics, are_those_of_published_files)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < PP_COUNT(files); i++) {
        const char *file = files[i].file;
        struct pp_error err = {0};
        struct pp_model model;

        cr_assert_eq(
            pp_model_from_file(arena, pp_arena_printf(arena, CONFIGS "%s", file), &model, &err),
            PP_OK, "%s", err.message);
        const struct pp_numerics n = pp_model_numerics(&model);
        cr_expect_str_eq(n.activation, files[i].activation, "%s: %s", file, n.activation);
        cr_expect_eq(n.norm_epsilon, files[i].epsilon, "%s: %g", file, n.norm_epsilon);
        cr_expect_eq(n.rope.theta, files[i].theta, "%s: %g", file, n.rope.theta);
        cr_expect_eq(n.rope.frac, files[i].frac, "%s: %g", file, n.rope.frac);
        cr_expect_eq(n.norm_place, files[i].place, "%s", file);
        cr_expect_eq(n.position_offset, files[i].offset, "%s: %d", file, n.position_offset);
        cr_expect(files[i].scaling ? n.rope.scaling && !strcmp(n.rope.scaling, files[i].scaling)
                                   : !n.rope.scaling,
                  "%s: %s", file, n.rope.scaling ? n.rope.scaling : "none");
        cr_expect_null(n.odd);
    }
}

#define LLAMA                                                                                      \
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "                  \
    "\"num_attention_heads\": 2, \"vocab_size\": 100, \"intermediate_size\": 128"

Test(model_numerics, rotary_positions_are_read_in_both_forms)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_rope rope = read_text(arena, LLAMA ", \"rope_theta\": 7.0, \"rope_scaling\": "
                                                 "{\"type\": \"linear\", \"factor\": 4}}")
                              .numerics.rope;

    cr_expect(rope.theta == 7 && rope.factor == 4 && !strcmp(rope.scaling, "linear"));
    rope = read_text(arena,
                     LLAMA ", \"rope_parameters\": {\"rope_type\": \"llama3\", \"rope_theta\": "
                           "500000, \"factor\": 8, \"low_freq_factor\": 1, \"high_freq_factor\": "
                           "4, \"original_max_position_embeddings\": 8192}}")
               .numerics.rope;
    cr_expect(rope.theta == 5e5 && rope.factor == 8 && rope.low_factor == 1 &&
              rope.high_factor == 4 && rope.original_seq == 8192);
    cr_expect_str_eq(rope.scaling, "llama3");
    rope = read_text(arena, LLAMA ", \"rope_parameters\": {\"rope_type\": \"default\", "
                                  "\"rope_theta\": 9, \"partial_rotary_factor\": 0.5}}")
               .numerics.rope;
    cr_expect(rope.theta == 9 && rope.frac == 0.5 && !rope.scaling);
    rope = read_text(arena, LLAMA ", \"rope_parameters\": {\"full_attention\": {}}}").numerics.rope;
    cr_expect_str_eq(rope.scaling, "one for each type of layers");
}

Test(model_numerics, switches_are_named_unless_they_change_nothing)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct {
        const char *text, *odd;
    } rows[] = {
        {LLAMA ", \"attn_logit_softcapping\": 50}", "attn_logit_softcapping"},
        {LLAMA ", \"attn_logit_softcapping\": null}", NULL},
        {LLAMA ", \"scale_attn_weights\": false}", "scale_attn_weights"},
        {LLAMA ", \"scale_attn_weights\": true}", NULL},
        {LLAMA ", \"scale_attn_by_inverse_layer_idx\": true}", "scale_attn_by_inverse_layer_idx"},
        {LLAMA ", \"scale_attn_by_inverse_layer_idx\": false}", NULL},
    };

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        const char *odd = read_text(arena, rows[i].text).numerics.odd;
        cr_expect(rows[i].odd ? odd && !strcmp(odd, rows[i].odd) : !odd, "%s", rows[i].text);
    }
}

Test(model_numerics, a_preset_has_what_is_usual)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;

    cr_assert_eq(pp_model_load(arena, "tiny-llama", &model, &err), PP_OK);
    const struct pp_numerics n = pp_model_numerics(&model);
    cr_expect_str_eq(n.activation, "silu");
    cr_expect(n.norm_epsilon == 1e-5 && n.rope.theta == 1e4 && n.rope.frac == 1 &&
              n.embedding_scale == 1);
}

Test(model_numerics, gemma_scales_its_embedding)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;

    cr_assert_eq(pp_model_load(arena, CONFIGS "gemma-7b.json", &model, &err), PP_OK);
    cr_expect_eq(model.numerics.embedding_scale, sqrt(3072));
    cr_expect(model.numerics.has_norm_offset);
}
