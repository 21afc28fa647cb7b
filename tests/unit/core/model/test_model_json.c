#include "core/model/model.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define CONFIGS PP_TESTS_DIR "/data/configs/"

/* Parameters of the class named by the file ("architectures"), as the library that wrote the files
 * counts them; tied matrices once. */
static const struct {
    const char *file;
    double params;
    int seq;
    const char *note; /* must occur in the notes, "" = none at all */
} configs[] = {
    {"gpt2.json", 124439808, 1024, ""},
    {"gpt2-xl.json", 1557611200, 1024, ""},
    {"llama-2-7b.json", 6738415616, 4096, "torch_dtype"},
    {"llama-3-8b.json", 8030261248, 8192, "torch_dtype"},
    {"llama-3.1-405b.json", 405853388800, 8192, "sequence length 8192 (the file allows 131072)"},
    {"llama-3.2-1b.json", 1235814400, 8192, "sequence length"},
    {"mistral-7b.json", 7241732096, 8192,
     "not used from the file: torch_dtype bfloat16; default sequence length 8192 (the"},
    {"mistral-small-3.1-24b.json", 23572403200, 8192, "vision_config"},
    {"qwen2.5-7b.json", 7615616512, 8192, "torch_dtype bfloat16; default sequence length"},
    {"qwen2.5-0.5b.json", 494032768, 8192, "sequence length"},
    {"qwen-7b.json", 7721324544, 8192, "sequence length"},
    {"bert-large-uncased.json", 335174458, 512, ""},
    {"bert-base-pretraining.json", 110106428, 512, ""},
    {"roberta-base.json", 124697433, 512, ""},
    {"opt-125m.json", 125239296, 2048, "torch_dtype"},
    {"opt-6.7b.json", 6658473984, 2048, "torch_dtype"},
    {"gpt-neox-20b.json", 20554567680, 2048, "torch_dtype"},
    {"pythia-160m.json", 162322944, 2048, "torch_dtype"},
    {"bloom-176b.json", 176247271424, 2048, ""},
    {"deepseek-v2-lite.json", 15706484224, 8192, "torch_dtype"},
    {"deepseek-v3.json", 671026419200, 8192, "num_nextn_predict_layers 1"},
    {"gemma-7b.json", 8537680896, 8192, "torch_dtype"},
    {"gemma2-9b.json", 9241705984, 8192, "not used from the file: torch_dtype float32"},
    {"gpt-oss-20b.json", 20914757184, 8192, "sequence length 8192 (the file allows 131072)"},
    {"grok-1.json", 315684820992, 8192, ""},
    {"internlm-20b.json", 20088714240, 4096, "torch_dtype"},
    {"kimi-k2.json", 1026408232448, 8192, "torch_dtype"},
    {"llama-4-scout-text.json", 107769861120, 8192, "torch_dtype"},
    {"minitron-4b.json", 4190509056, 4096, "torch_dtype"},
    {"mixtral-8x7b.json", 46702792704, 8192, "torch_dtype"},
    {"qwen2-57b-a14b.json", 57408658944, 8192, "torch_dtype"},
    {"qwen3-30b-a3b.json", 30532122624, 8192, "torch_dtype"},
    {"qwen3-8b.json", 8190735360, 8192, "torch_dtype"},
};

Test(model_json, files_have_the_published_parameters)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};

    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        struct pp_model model;
        const char *path = pp_arena_printf(arena, "%s%s", CONFIGS, configs[i].file);
        cr_assert_eq(pp_model_load(arena, path, &model, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_model_params(&model), configs[i].params, "%s: %.0f", configs[i].file,
                     pp_model_params(&model));
        cr_assert_eq(model.seq, configs[i].seq, "%s: %d", configs[i].file, model.seq);
        if (configs[i].note[0] == '\0')
            cr_assert_str_eq(model.notes, "", "%s: %s", configs[i].file, model.notes);
        else
            cr_assert_not_null(strstr(model.notes, configs[i].note), "%s: %s", configs[i].file,
                               model.notes);
    }
}

#define DENSE                                                                                      \
    "\"num_hidden_layers\": 2, \"hidden_size\": 64, \"num_attention_heads\": 2, "                  \
    "\"vocab_size\": 100, \"intermediate_size\": 128"

static const struct {
    const char *text, *message;
} refused[] = {
    {"", ""},
    {"[]", "object"},
    {"{}", "model_type"},
    {"{\"model_type\": \"phi\"}", "known are"},
    {"{\"architectures\": [\"FalconForCausalLM\"]}", "FalconForCausalLM"},
    {"{\"model_type\": 3}", "model_type"},
    {"{\"model_type\": \"llama\"}", "num_hidden_layers"},
    {"{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
     "\"num_attention_heads\": 2, \"vocab_size\": 100}",
     "intermediate_size"},
    {"{\"model_type\": \"gpt2\", \"n_layer\": -1, \"n_embd\": 64, \"n_head\": 2, "
     "\"vocab_size\": 100}",
     "n_layer"},
    {"{\"model_type\": \"gpt2\", \"n_layer\": 1e9, \"n_embd\": 64, \"n_head\": 2, "
     "\"vocab_size\": 100}",
     "n_layer"},
    {"{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 100, \"n_head\": 3, "
     "\"vocab_size\": 100}",
     "2 and 4"},
    {"{\"model_type\": \"roberta\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
     "\"num_attention_heads\": 2, \"vocab_size\": 9, \"max_position_embeddings\": 8, "
     "\"pad_token_id\": 7}",
     "pad_token_id 7 leaves none of 8"},
    {"{" DENSE ", \"model_type\": \"llama\", \"num_experts\": 8}",
     "8 experts in a family that has none"},
    {"{" DENSE ", \"model_type\": \"deepseek_v3\"}", "n_routed_experts"},
    {"{" DENSE ", \"model_type\": \"mixtral\", \"num_local_experts\": 8}", "num_experts_per_tok"},
    {"{" DENSE ", \"model_type\": \"mixtral\", \"num_local_experts\": 8, "
     "\"num_experts_per_tok\": 9}",
     "top-k"},
    {"{" DENSE ", \"model_type\": \"qwen3_moe\", \"num_experts\": 8, \"num_experts_per_tok\": 2, "
     "\"moe_intermediate_size\": 8, \"mlp_only_layers\": [0, 65536]}",
     "mlp_only_layers has no block number in entry 1"},
    {"{" DENSE ", \"model_type\": \"qwen3_moe\", \"num_experts\": 8, \"num_experts_per_tok\": 2, "
     "\"moe_intermediate_size\": 8, \"mlp_only_layers\": [0, \"1\"]}",
     "mlp_only_layers has no block number in entry 1"},
    {"{" DENSE ", \"model_type\": \"qwen3_moe\", \"num_experts\": 8, \"num_experts_per_tok\": 2, "
     "\"moe_intermediate_size\": 8, \"mlp_only_layers\": 1}",
     "mlp_only_layers is not a list"},
    {"{" DENSE ", \"model_type\": \"deepseek_v2\", \"kv_lora_rank\": 16}", "qk_rope_head_dim"},
    {"{" DENSE ", \"model_type\": \"deepseek_v2\", \"n_routed_experts\": 8, "
     "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8, \"moe_layer_freq\": 2}",
     "moe_layer_freq 2"},
    {"{\"model_type\": \"gpt2\", \"tie_word_embeddings\": 1, \"n_layer\": 2, \"n_embd\": 64, "
     "\"n_head\": 2, \"vocab_size\": 9}",
     "tie_word_embeddings"},
};

Test(model_json, a_dense_block_may_be_listed_twice)
{
    static const char text[] =
        "{" DENSE ", \"model_type\": \"qwen3_moe\", \"num_experts\": 8, "
        "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8, \"mlp_only_layers\": [0, 0]}";
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_error err;

    cr_assert_eq(pp_model_from_json(arena, "c.json", text, strlen(text), &model, &err), PP_OK, "%s",
                 err.message);
    cr_expect_eq(model.experts.dense_first, 1);
}

/* Those before the first mixture, and others that `every` would make one, in any order. */
Test(model_json, dense_blocks_are_anywhere)
{
    static const struct {
        const char *list;
        int every, first, count, dense[2];
    } cases[] = {
        {"[1]", 1, 0, 1, {1}},       {"[3, 0, 2, 2]", 1, 1, 2, {2, 3}},
        {"[2, 1, 0]", 1, 3, 0, {0}}, {"[0, 2, 5, 1]", 2, 2, 1, {5}},
        {"[0, 2, 4]", 2, 0, 0, {0}}, {"null", 1, 0, 0, {0}},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < PP_COUNT(cases); i++) {
        const char *text = pp_arena_printf(
            arena,
            "{\"num_hidden_layers\": 8, \"hidden_size\": 64, \"num_attention_heads\": 2, "
            "\"vocab_size\": 100, \"intermediate_size\": 128"
            ", \"model_type\": \"qwen3_moe\", \"num_experts\": 8, "
            "\"num_experts_per_tok\": 2, \"moe_intermediate_size\": 8, "
            "\"decoder_sparse_step\": %d, \"mlp_only_layers\": %s}",
            cases[i].every, cases[i].list);
        struct pp_model model;
        struct pp_error err;

        cr_assert_eq(pp_model_from_json(arena, "c.json", text, strlen(text), &model, &err), PP_OK,
                     "%s", err.message);
        cr_expect_eq(model.experts.dense_first, cases[i].first, "%s", cases[i].list);
        cr_assert_eq(model.experts.dense_count, cases[i].count, "%s", cases[i].list);
        for (int k = 0; k < cases[i].count; k++)
            cr_expect_eq(model.experts.dense[k], cases[i].dense[k], "%s", cases[i].list);
    }
}

Test(model_json, what_cannot_be_read_is_refused_with_its_reason)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_error err;

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        err = (struct pp_error){0};
        cr_assert_eq(pp_model_from_json(arena, "config.json", refused[i].text,
                                        strlen(refused[i].text), &model, &err),
                     PP_EINVAL, "%s", refused[i].text);
        cr_assert_not_null(strstr(err.message, refused[i].message), "%s -> %s", refused[i].text,
                           err.message);
        cr_assert_not_null(strstr(err.message, "config.json"), "%s", err.message);
    }
    static const char *const files[][2] = {{"phi-2.json", "'phi'"}, {"opt-350m.json", "512"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        err = (struct pp_error){0};
        const char *path = pp_arena_printf(arena, "%s%s", CONFIGS, files[i][0]);
        cr_assert_eq(pp_model_load(arena, path, &model, &err), PP_EINVAL);
        cr_assert_not_null(strstr(err.message, files[i][1]), "%s", err.message);
    }
}

/* What a prediction does not follow is named with its value, unless that could disturb a terminal.
 */
Test(model_json, what_is_not_modeled_is_noted_with_its_value)
{
    static const char *const notes[][2] = {
        {"\"torch_dtype\": \"float32\"", "not used from the file: torch_dtype float32"},
        {"\"dtype\": \"float8_e4m3fn\"", "not used from the file: dtype float8_e4m3fn"},
        {"\"rope_scaling\": {\"factor\": 8}", "not used from the file: rope_scaling"},
        {"\"add_cross_attention\": false", ""},
        {"\"add_cross_attention\": true, \"torch_dtype\": \"\\u001b[2J\"",
         "not used from the file: torch_dtype, add_cross_attention"},
        {"\"quantization_config\": {\"quant_method\": \"fp8\"}, \"layer_types\": "
         "[\"full_attention\"]",
         "not used from the file: quantization_config fp8"},
        {"\"quantization_config\": null", ""},
        {"\"layer_types\": [\"linear_attention\"]", "not used from the file: layer_types"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;

    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        const char *text = pp_arena_printf(
            arena,
            "{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 64, \"n_head\": 2, "
            "\"vocab_size\": 9, %s}",
            notes[i][0]);
        cr_assert_eq(pp_model_from_json(arena, "c.json", text, strlen(text), &model, &err), PP_OK,
                     "%s", err.message);
        cr_assert_str_eq(model.notes, notes[i][1]);
    }
}

/* The time to unpack such weights is not known. */
Test(model_json, packed_weights_are_refused_by_name)
{
    static const char *const cases[][2] = {
        {"{\"quant_method\": \"gptq\", \"bits\": 4}",
         "c.json: quantization_config gptq is not modeled: packed weights are unpacked for each "
         "use; expected fp8, or the file of the model before it was quantised"},
        {"{\"quant_method\": \"mxfp4\"}", "c.json: quantization_config mxfp4 is not modeled"},
        {"{\"bits\": 4}", "c.json: quantization_config is not modeled"},
        {"{\"quant_method\": 4}", "c.json: \"quant_method\" must be a string, not an integer"},
        {"4", "c.json: an object with \"quant_method\" is expected, not an integer"},
    };
    static const char *const places[] = {
        "{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 64, \"n_head\": 2, "
        "\"vocab_size\": 9, \"quantization_config\": %s}",
        "{\"quantization_config\": %s, \"text_config\": {\"model_type\": \"gpt2\", "
        "\"n_layer\": 2, \"n_embd\": 64, \"n_head\": 2, \"vocab_size\": 9}}",
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;

    for (size_t i = 0; i < PP_COUNT(cases) * PP_COUNT(places); i++) {
        const char *const *row = cases[i / PP_COUNT(places)];
        char text[512];
        snprintf(text, sizeof(text), places[i % PP_COUNT(places)], row[0]);
        cr_assert_eq(pp_model_from_json(arena, "c.json", text, strlen(text), &model, &err),
                     PP_EINVAL);
        cr_assert(!strncmp(err.message, row[1], strlen(row[1])), "%s", err.message);
    }
}

/* A class name alone is enough; nested text_config is followed. */
Test(model_json, class_names_and_nested_text_are_understood)
{
    static const char *const texts[] = {
        "{\"architectures\": [\"GPT2LMHeadModel\"], \"n_layer\": 12, \"n_embd\": 768, "
        "\"n_head\": 12, \"vocab_size\": 50257, \"n_positions\": 1024}",
        "{\"model_type\": \"wrapper\", \"text_config\": {\"model_type\": \"gpt2\", \"n_layer\": "
        "12, \"n_embd\": 768, \"n_head\": 12, \"vocab_size\": 50257, \"n_positions\": 1024}}",
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cr_assert_eq(pp_model_from_json(arena, "c.json", texts[i], strlen(texts[i]), &model, &err),
                     PP_OK, "%s", err.message);
        cr_assert_eq(pp_model_params(&model), 124439808);
    }
}

/* A width must be one, whether or not it is switched on; families without windows do not read it.
 */
Test(model_json, a_window_is_a_width)
{
    static const struct {
        const char *text;
        enum pp_status status;
    } cases[] = {{"\"mistral\", \"sliding_window\": -5", PP_EINVAL},
                 {"\"mistral\", \"sliding_window\": 0", PP_EINVAL},
                 {"\"qwen2\", \"sliding_window\": -5", PP_EINVAL},
                 {"\"qwen2\", \"sliding_window\": \"wide\"", PP_EINVAL},
                 {"\"qwen2\", \"sliding_window\": null", PP_OK},
                 {"\"qwen2\", \"use_sliding_window\": false, \"sliding_window\": 5", PP_OK}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pp_error err = {0};
        struct pp_model model;
        const char *text = pp_arena_printf(
            arena,
            "{\"model_type\": %s, \"num_hidden_layers\": 12, \"hidden_size\": 64, "
            "\"num_attention_heads\": 2, \"vocab_size\": 100, \"intermediate_size\": 128}",
            cases[i].text);
        cr_assert_eq(pp_model_from_json(arena, "c.json", text, strlen(text), &model, &err),
                     cases[i].status, "%s: %s", text, err.message);
        cr_assert(cases[i].status == PP_OK || strstr(err.message, "sliding_window"));
    }
}

/* Files of the families that have windows, and of what their classes do without a word. */
Test(model_json, windows_follow_the_file_or_its_class)
{
    static const struct {
        const char *text;
        int keys, windowed; /* of 12 blocks */
        bool first, last;
    } cases[] = {
        {"\"model_type\": \"mistral\", \"sliding_window\": 64", 64, 12, true, true},
        {"\"model_type\": \"mistral\"", 4096, 12, true, true},
        {"\"model_type\": \"mistral\", \"sliding_window\": null", 0, 0, false, false},
        {"\"model_type\": \"gemma2\"", 4096, 6, true, false},
        {"\"model_type\": \"gemma3_text\", \"sliding_window\": 512", 512, 10, true, false},
        {"\"model_type\": \"gemma3_text\", \"sliding_window_pattern\": 5", 4096, 10, true, true},
        {"\"model_type\": \"llama4_text\", \"num_local_experts\": 2, "
         "\"num_experts_per_tok\": 1",
         8192, 9, true, false},
        {"\"model_type\": \"qwen2\", \"sliding_window\": 64", 0, 0, false, false},
        {"\"model_type\": \"qwen2\", \"sliding_window\": 64, \"use_sliding_window\": true, "
         "\"max_window_layers\": 9",
         64, 3, false, true},
        {"\"model_type\": \"mistral\", \"layer_types\": [\"sliding_attention\", "
         "\"sliding_attention\", \"full_attention\", \"sliding_attention\"]",
         4096, 8, true, false},
        {"\"model_type\": \"mistral\", \"layer_types\": [\"full_attention\", "
         "\"full_attention\", \"sliding_attention\"]",
         4096, 10, false, true},
        {"\"model_type\": \"mistral\", \"layer_types\": [\"full_attention\", "
         "\"sliding_attention\", \"full_attention\"]",
         0, 0, false, false},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = pp_arena_printf(
            arena,
            "{%s, \"num_hidden_layers\": 12, \"hidden_size\": 64, \"num_attention_heads\": 2, "
            "\"vocab_size\": 100, \"intermediate_size\": 128}",
            cases[i].text);
        cr_assert_eq(pp_model_from_json(arena, "c.json", text, strlen(text), &model, &err), PP_OK,
                     "%s", err.message);
        cr_assert_eq(model.window.keys, cases[i].keys, "%s: %d", text, model.window.keys);
        cr_assert_eq(pp_model_windowed_blocks(&model, 0, 12), cases[i].windowed, "%s", text);
        cr_assert_eq(pp_model_is_windowed(&model, 0), cases[i].first, "%s", text);
        cr_assert_eq(pp_model_is_windowed(&model, 11), cases[i].last, "%s", text);
    }
    cr_assert_not_null(strstr(model.notes, "layer_types"), "%s", model.notes);
}
