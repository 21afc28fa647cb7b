/* Mixtures of experts: what they hold, what a token meets, and their published names. */
#include "core/model/model.h"

#include <criterion/criterion.h>
#include <string.h>

static struct pp_model load(const char *name)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;

    cr_assert_eq(pp_model_load(arena, name, &model, &err), PP_OK, "%s", err.message);
    return model;
}

/* Billions as their makers print them, in all and of one token. OpenAI's and Mistral's active
 * counts are with the head and, Mistral's, with the embedding; Qwen's and DeepSeek's round. */
Test(experts, presets_have_the_printed_sizes)
{
    static const struct {
        const char *name;
        double total, active;
        bool has_embedding; /* counted as active */
    } sizes[] = {
        {"deepseek-v2", 236, 21, true},
        {"deepseek-v3", 671, 37, false},
        {"gpt-oss-120b", 116.83, 5.13, false},
        {"gpt-oss-20b", 20.91, 3.61, false},
        {"grok-1", 314, 84, true},
        {"kimi-k2", 1040, 32, false},
        {"llama4-maverick", 400, 17, true},
        {"llama4-scout", 109, 17, true},
        {"mixtral-8x22b", 141, 39, true},
        {"mixtral-8x7b", 46.7, 12.9, true},
        {"qwen2-57b-a14b", 57.4, 14, true},
        {"qwen3-235b-a22b", 235, 22, true},
        {"qwen3-30b-a3b", 30.5, 3.3, true},
    };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct pp_model m = load(sizes[i].name);
        const double embedding =
            sizes[i].has_embedding ? 0 : pp_model_layer_params(&m, PP_LAYER_EMBEDDING);
        cr_assert_float_eq(pp_model_params(&m) / 1e9 / sizes[i].total, 1, 0.014, "%s: %.0f", m.name,
                           pp_model_params(&m));
        cr_assert_float_eq((pp_model_active_params(&m) - embedding) / 1e9 / sizes[i].active, 1,
                           0.02, "%s: %.0f", m.name, pp_model_active_params(&m) - embedding);
    }
}

/* DeepSeek-AI 2024, section 4.2: 671 B. The weights of the module that predicts a second token add
 * 11.5 B (its embedding and head are shared). */
Test(experts, a_second_token_adds_a_block_and_a_projection)
{
    const struct pp_model plain = load("deepseek-v3");
    struct pp_model m = plain;

    m.mtp = 1;
    cr_assert_float_eq((pp_model_params(&m) - pp_model_params(&plain)) / 1e9, 11.5, 0.15);
    const double h = m.hidden, tokens = 4096;
    const double expected =
        3 * (pp_model_layer_flops(&m, PP_LAYER_MOE, 1, tokens, PP_FLOPS_MEGATRON) +
             2 * tokens * (2 * h * h + h * m.vocab));
    cr_assert_float_eq((pp_model_flops_per_sample(&m, 4096, PP_FLOPS_MEGATRON) -
                        pp_model_flops_per_sample(&plain, 4096, PP_FLOPS_MEGATRON)) /
                           expected,
                       1, 1e-12);
}

static bool is_listed(const struct pp_experts *e, int block)
{
    for (int i = 0; i < e->dense_count; i++)
        if (e->dense[i] == block)
            return true;
    return false;
}

/* Block by block against the sentence that defines it. */
Test(experts, which_blocks_are_mixtures)
{
    const struct pp_experts patterns[] = {
        {.count = 8, .top_k = 1, .ffn = 1},
        {.count = 8, .top_k = 1, .ffn = 1, .dense_first = 3},
        {.count = 8, .top_k = 1, .ffn = 1, .every = 2},
        {.count = 8, .top_k = 1, .ffn = 1, .every = 4, .dense_first = 5},
        {.count = 8, .top_k = 1, .ffn = 1, .dense = (const int[]){2, 3, 31}, .dense_count = 3},
        {.count = 8,
         .top_k = 1,
         .ffn = 1,
         .every = 2,
         .dense_first = 4,
         .dense = (const int[]){7, 9},
         .dense_count = 2},
    };
    struct pp_model m = load("llama2-7b");

    cr_assert_eq(pp_model_moe_blocks(&m, 0, m.layers), 0);
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        const int every = patterns[p].every > 0 ? patterns[p].every : 1;
        m.experts = patterns[p];
        for (int first = 0; first < 32; first++)
            for (int count = 0; first + count <= 32; count++) {
                int expected = 0;
                for (int i = first; i < first + count; i++)
                    expected += i >= patterns[p].dense_first && (i + 1) % every == 0 &&
                                !is_listed(&patterns[p], i);
                cr_assert_eq(pp_model_moe_blocks(&m, first, count), expected);
            }
    }
}

/* The counts of windowed blocks, too. */
Test(experts, which_blocks_and_mixtures_are_windowed)
{
    struct pp_model m = load("llama2-7b");

    m.window.keys = 16;
    m.experts = (struct pp_experts){.count = 8, .top_k = 1, .ffn = 1};
    for (int k = 0; k < 6 * 3 * 5 * 3 * 2; k++) {
        m.window.full_every = k % 6;
        m.window.full_first = k / 6 % 3;
        m.experts.every = k / 18 % 5;
        m.experts.dense_first = k / 90 % 3 * 3;
        m.experts.dense = (const int[]){11, 23}; /* 12 divides both, from 1 */
        m.experts.dense_count = k / 270 * 2;
        for (int first = 0; first < 32; first += 5)
            for (int count = 0; first + count <= 32; count += 3) {
                int blocks = 0, mixtures = 0;
                for (int i = first; i < first + count; i++) {
                    blocks += pp_model_is_windowed(&m, i);
                    mixtures += pp_model_is_windowed(&m, i) && pp_model_moe_blocks(&m, i, 1);
                }
                cr_assert_eq(pp_model_windowed_blocks(&m, first, count), blocks);
                cr_assert_eq(pp_model_windowed_moe_blocks(&m, first, count), mixtures);
            }
    }
}

/* A mixture whose every expert meets every token does the work of one wide layer and a router. */
Test(experts, all_experts_for_all_tokens_are_one_wide_layer)
{
    struct pp_model wide = load("llama2-7b"), mixture = wide;
    const double tokens = 2048;

    mixture.experts = (struct pp_experts){.count = 4, .top_k = 4, .ffn = wide.ffn / 4};
    for (int rule = 0; pp_flops_rule_names[rule]; rule++) {
        const double router = 2 * tokens * wide.hidden * 4;
        cr_assert_float_eq(
            pp_model_layer_flops(&mixture, PP_LAYER_MOE, 1, tokens, (enum pp_flops_rule)rule),
            pp_model_layer_flops(&wide, PP_LAYER_BLOCK, 1, tokens, (enum pp_flops_rule)rule) +
                router,
            1);
    }
    cr_assert_eq(pp_model_active_params(&mixture), pp_model_params(&mixture));
    mixture.experts.top_k = 1;
    cr_assert_eq(pp_model_params(&mixture) - pp_model_active_params(&mixture),
                 0.75 * mixture.layers * pp_model_routed_params(&mixture, PP_LAYER_MOE));
}

Test(experts, what_does_not_fit_together_is_refused)
{
    static const struct {
        struct pp_experts experts;
        const char *message;
    } refused[] = {
        {{.count = 8, .ffn = 64}, "top-k"},
        {{.count = 8, .top_k = 9, .ffn = 64}, "expected 1 to 8"},
        {{.count = 8, .top_k = 2}, "width of an expert"},
        {{.count = 8, .top_k = 2, .ffn = 64, .dense_first = 32}, "none of 32 layers"},
        {{.count = 8, .top_k = 2, .ffn = 64, .dense_first = 32}, "nearest: --dense-layers 31"},
        {{.count = 8, .top_k = 2, .ffn = 64, .every = 33}, "nearest: --moe-every 32"},
        {{.count = 8, .top_k = 2, .ffn = 64, .every = 20, .dense_first = 24},
         "nearest: --moe-every 16"},
        {{.count = -1}, "number of experts"},
    };
    struct pp_model m = load("llama2-7b");

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct pp_error err = {0};
        m.experts = refused[i].experts;
        cr_assert_eq(pp_model_check(&m, &err), PP_EINVAL);
        cr_assert_not_null(strstr(err.message, refused[i].message), "%s", err.message);
    }
}

Test(experts, printed_names_are_understood)
{
    static const struct {
        const char *printed, *name;
        bool is_exact;
        int layers;
    } names[] = {
        {"Qwen3_30B_a3B", "qwen3-30b-a3b", true, 48},
        {"Qwen3_235B_a22B (tokendrop)", "qwen3-235b-a22b", true, 94},
        {"LLAMA3.1_405B", "llama3-405b", true, 126},
        {"Llama 3.1 405B (8-layer proxy)", "llama3-405b, 8 layers", true, 8},
        {"DeepSeekV3 (dropless)", "deepseek-v3", true, 61},
        {"DeepSeek-V3 671B-A37B", "deepseek-v3", true, 61},
        {"GPT OSS 120B", "gpt-oss-120b", true, 36},
        {"Grok-1 314B (4-layer proxy)", "grok-1, 4 layers", true, 4},
        {"Kimi_K2", "kimi-k2", true, 61},
        {"GPT-3 175B", "gpt3-175b", true, 96},
        {"175B (GPT-3)", "gpt3-175b", true, 96},
        {"GPT-1008.0B", "gpt-1t", true, 128},
        {"1T", "gpt-1t", true, 128},
        {"GPT-174.6B ZeRO-3 w/o MP", "gpt3-175b", true, 96},
        {"LLaMA-7B [ZeRO++]", "llama-7b", true, 32},
        {"LLAMA3_70B [LoRA]", "llama3-70b", true, 80},
        {"Nemotron4 340B", "nemotron4-340b", true, 96},
        {"GPT-2 2B", "gpt3-175b", false, 96}, /* not GPT-22B */
        {"GPT 14.6B", "gpt3-175b", false, 96},
        {"Llama-175B [ours]", "llama-7b", false, 32},
        {"BLOOM-prequel 187B", "bloom-176b", false, 70},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model m;
    bool is_exact;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_assert(pp_model_published(arena, names[i].printed, &m, &is_exact), "%s",
                  names[i].printed);
        cr_assert_str_eq(m.name, names[i].name, "%s: %s", names[i].printed, m.name);
        cr_assert_eq(is_exact, names[i].is_exact, "%s", names[i].printed);
        cr_assert_eq(m.layers, names[i].layers, "%s", names[i].printed);
    }
    cr_assert(pp_model_published(arena, "DeepSeekV3 (w/ MTP)", &m, &is_exact) && m.mtp == 1);
    cr_assert(pp_model_published(arena, "DeepSeekV3 (w/o MTP)", &m, &is_exact) && m.mtp == 0);
    static const char *const unknown[] = {"Nemotron_3_Nano", "DeepSeekV4 Flash", "", "()", "?!"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        cr_assert(!pp_model_published(arena, unknown[i], &m, &is_exact), "%s", unknown[i]);
}

/* Every preset is found by its own name. */
Test(experts, presets_are_known_by_their_names)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model m;
    bool is_exact;

    for (const struct pp_model *p = pp_model_presets; p->name != NULL; p++) {
        if (strncmp(p->name, "tiny", 4) == 0 || strcmp(p->name, "mini") == 0)
            continue;
        cr_assert(pp_model_published(arena, p->name, &m, &is_exact) && is_exact, "%s", p->name);
        cr_assert_str_eq(m.name, p->name);
    }
}
