#include "core/model/model.h"

#include <criterion/criterion.h>
#include <string.h>

#define LLAMA3(factor, low, high) 5e5, 1, "llama3", factor, low, high, 8192
#define YARN(base, factor)        base, 1, "yarn", factor, 0, 0, 4096
#define PLAIN(base)               base, 1, NULL, 0, 0, 0, 0
#define HALF                      1e4, 0.5, NULL, 0, 0, 0, 0
#define NONE                      PLAIN(1e4) /* positions are in a table, or slopes */

/* What published files and papers say of the numbers that only training needs, and of heads and
 * windows. Megatron's and NeMo's GPT have the functions of these programs. */
static const struct {
    const char *names, *activation;
    double epsilon;
    int head_dim, window;
    double theta, frac;
    const char *scaling; /* NULL = none */
    double factor, low, high;
    int original_seq;
} rows[] = {
    {"bert-48 bert-96 bert-base bert-large", "gelu", 1e-12, 64, 0, NONE},
    {"bert-52b bert-6.6b", "gelu", 1e-12, 128, 0, NONE},
    {"bloom-176b", "gelu_new", 1e-5, 128, 0, NONE},
    {"deepseek-v2 deepseek-v2-lite deepseek-v3", "silu", 1e-6, 192, 0, YARN(1e4, 40)},
    {"deit-b deit-s deit-ti", "gelu", 1e-6, 64, 0, NONE},
    {"gemma-2b gemma-7b", "gelu_pytorch_tanh", 1e-6, 256, 0, PLAIN(1e4)},
    {"gemma2-27b", "gelu_pytorch_tanh", 1e-6, 128, 4096, PLAIN(1e4)},
    {"gemma2-2b gemma2-9b", "gelu_pytorch_tanh", 1e-6, 256, 4096, PLAIN(1e4)},
    {"glm-130b", "gelu", 1e-5, 128, 0, PLAIN(1e4)},
    {"gpt-1.7b gpt-3.6b", "gelu_new", 1e-5, 96, 0, NONE},
    {"gpt-126m", "gelu_new", 1e-5, 64, 0, NONE},
    {"gpt-145b gpt-18b gpt-20b gpt-290b gpt-310b gpt-5b gpt-7.5b gpt-76b gpt3-175b", "gelu_new",
     1e-5, 128, 0, NONE},
    {"gpt-1t gpt-530b", "gelu_new", 1e-5, 160, 0, NONE},
    {"gpt-22b", "gelu_new", 1e-5, 96, 0, NONE},
    {"gpt-39b", "gelu_new", 1e-5, 128, 0, NONE},
    {"gpt-neox-20b", "gelu_fast", 1e-5, 96, 0, 1e4, 0.25, NULL, 0, 0, 0, 0},
    {"gpt-oss-120b gpt-oss-20b", "silu", 1e-5, 64, 128, YARN(1.5e5, 32)},
    {"gpt2 gpt2-64 gpt2-large gpt2-medium gpt2-xl", "gelu_new", 1e-5, 64, 0, NONE},
    {"grok-1", "gelu_new", 1e-5, 128, 0, PLAIN(1e4)},
    {"internlm-20b internlm-7b", "silu", 1e-6, 128, 0, PLAIN(1e4)},
    {"kimi-k2", "silu", 1e-6, 192, 0, YARN(5e4, 32)},
    {"llama-13b llama-30b llama-7b", "silu", 1e-6, 128, 0, PLAIN(1e4)},
    {"llama-65b llama2-13b llama2-70b llama2-7b", "silu", 1e-5, 128, 0, PLAIN(1e4)},
    {"llama3-405b", "silu", 1e-5, 128, 0, LLAMA3(8, 1, 4)},
    {"llama3-70b llama3-8b", "silu", 1e-5, 128, 0, PLAIN(5e5)},
    {"llama3.2-1b", "silu", 1e-5, 64, 0, LLAMA3(32, 1, 4)},
    {"llama3.2-3b", "silu", 1e-5, 128, 0, LLAMA3(32, 1, 4)},
    {"llama4-maverick", "silu", 1e-5, 128, 8192, PLAIN(5e5)},
    {"llama4-scout", "silu", 1e-5, 128, 8192, LLAMA3(16, 1, 1)},
    {"mini tiny", "gelu_new", 1e-5, 32, 0, NONE},
    {"mistral-7b", "silu", 1e-5, 128, 4096, PLAIN(1e4)},
    {"mixtral-8x22b mixtral-8x7b", "silu", 1e-5, 128, 0, PLAIN(1e6)},
    {"mpt-125m mpt-350m", "gelu", 1e-5, 64, 0, NONE},
    {"mpt-13b mpt-1b mpt-30b mpt-3b mpt-70b mpt-760m mpt-7b", "gelu", 1e-5, 128, 0, NONE},
    {"nemotron-22b nemotron-8b nemotron4-15b", "relu2", 1e-5, 128, 0, HALF},
    {"nemotron4-340b", "relu2", 1e-5, 192, 0, HALF},
    {"opt-13b opt-30b", "relu", 1e-5, 128, 0, NONE},
    {"qwen2-57b-a14b qwen2.5-7b", "silu", 1e-6, 128, 0, PLAIN(1e6)},
    {"qwen2.5-14b qwen2.5-32b qwen2.5-72b", "silu", 1e-5, 128, 0, PLAIN(1e6)},
    {"qwen3-0.6b qwen3-1.7b qwen3-14b qwen3-235b-a22b qwen3-30b-a3b qwen3-32b qwen3-4b qwen3-8b",
     "silu", 1e-6, 128, 0, PLAIN(1e6)},
    {"tiny-llama", "silu", 1e-5, 32, 0, PLAIN(1e4)},
};

static bool has_name(const char *names, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
            return true;
    return false;
}

static size_t row_of(const char *name)
{
    size_t row = 0;

    while (row < PP_COUNT(rows) && !has_name(rows[row].names, name))
        row++;
    return row;
}

Test(presets, have_the_numbers_of_published_files)
{
    for (const struct pp_model *m = pp_model_presets; m->name; m++) {
        const size_t i = row_of(m->name);
        const struct pp_numerics n = pp_model_numerics(m);

        cr_assert_lt(i, PP_COUNT(rows), "%s has no row", m->name);
        cr_expect_str_eq(n.activation, rows[i].activation, "%s: %s", m->name, n.activation);
        cr_expect_eq(m->head_dim, rows[i].head_dim, "%s: %d", m->name, m->head_dim);
        cr_expect_eq(n.norm_epsilon, rows[i].epsilon, "%s: %g", m->name, n.norm_epsilon);
        cr_expect_eq(m->window.keys, rows[i].window, "%s: %d", m->name, m->window.keys);
        cr_expect_eq(n.rope.theta, rows[i].theta, "%s: %g", m->name, n.rope.theta);
        cr_expect_eq(n.rope.frac, rows[i].frac, "%s: %g", m->name, n.rope.frac);
        cr_expect_str_eq(n.rope.scaling ? n.rope.scaling : "none",
                         rows[i].scaling ? rows[i].scaling : "none", "%s", m->name);
        cr_expect(n.rope.factor == rows[i].factor && n.rope.low_factor == rows[i].low &&
                      n.rope.high_factor == rows[i].high &&
                      n.rope.original_seq == rows[i].original_seq,
                  "%s: %g %g %g %d", m->name, n.rope.factor, n.rope.low_factor, n.rope.high_factor,
                  n.rope.original_seq);
    }
}
