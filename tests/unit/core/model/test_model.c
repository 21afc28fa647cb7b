#include "core/model/model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* Totals published with the models or counted by their authors' code. */
static const struct {
    const char *name;
    double params;
} totals[] = {
    {"bert-48", 669790012},
    {"gpt2-64", 1389327360},
    {"gpt2", 124439808},
    {"gpt2-medium", 354823168},
    {"gpt2-large", 774030080},
    {"gpt2-xl", 1557611200},
    {"bert-base", 109482240},
    {"bert-large", 335141888},
    {"bert-96", 1242070016},
    {"llama2-7b", 6738415616},
    {"llama2-13b", 13015864320},
    {"llama2-70b", 68976648192},
    {"llama3-8b", 8030261248},
    {"llama3-70b", 70553706496},
    {"llama3-405b", 405853388800},
    {"gpt3-175b", 174615846912},
    {"deit-b", 86567656},
    {"deit-s", 22050664},
    {"deit-ti", 5717416},
    {"tiny", 1684736},
    {"mini", 6449664},
    {"tiny-llama", 1542272},
    {"gpt2-124m", 124439808},
    /* as the published weights have them */
    {"bloom-176b", 176247271424},
    {"deepseek-v2", 235741434880},
    {"deepseek-v2-lite", 15706484224},
    {"deepseek-v3", 671026419200},
    {"gemma-2b", 2506172416},
    {"gemma-7b", 8537680896},
    {"gemma2-2b", 2614341888},
    {"gemma2-9b", 9241705984},
    {"gemma2-27b", 27227128320},
    {"gpt-neox-20b", 20554567680},
    {"gpt-oss-120b", 116829156672},
    {"gpt-oss-20b", 20914757184},
    {"internlm-7b", 7321948160},
    {"llama-65b", 65285660672},
    {"llama3.2-1b", 1235814400},
    {"llama3.2-3b", 3212749824},
    {"mistral-7b", 7241732096},
    {"opt-13b", 12853473280},
    {"opt-30b", 29974540288},
    {"mixtral-8x7b", 46702792704},
    {"qwen2.5-72b", 72706203648},
    {"qwen3-0.6b", 596049920},
    {"qwen3-14b", 14768307200},
    {"qwen3-235b-a22b", 235093634560},
    {"qwen3-30b-a3b", 30532122624},
    {"qwen3-32b", 32762123264},
    {"qwen3-4b", 4022468096},
    {"qwen3-8b", 8190735360},
};

Test(model, presets_have_the_published_parameters)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};

    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        struct pp_model model;
        cr_assert_eq(pp_model_load(arena, totals[i].name, &model, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_model_params(&model), totals[i].params, "%s has %.0f", totals[i].name,
                     pp_model_params(&model));
    }
}

/* Narayanan et al. SC'21, table 1 and Lamy-Poirier 2022: sizes as printed, in billions. */
Test(model, large_presets_have_the_printed_size)
{
    static const struct {
        const char *name;
        double billions;
    } sizes[] = {{"gpt-1.7b", 1.7},   {"gpt-3.6b", 3.6},       {"gpt-7.5b", 7.5},
                 {"gpt-18b", 18.4},   {"gpt-39b", 39.1},       {"gpt-76b", 76.1},
                 {"gpt-145b", 145.6}, {"gpt-310b", 310.1},     {"gpt-530b", 529.6},
                 {"gpt-1t", 1008.0},  {"52b", 51.8},           {"6.6b", 6.6},
                 {"gpt-290b", 290.8}, {"mpt-7b", 6.659},       {"mpt-30b", 29.98},
                 {"mpt-70b", 64.86},  {"nemotron4-15b", 15.6}, {"nemotron4-340b", 341}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct pp_model model;
        cr_assert_eq(pp_model_load(arena, sizes[i].name, &model, &err), PP_OK, "%s", err.message);
        cr_assert_float_eq(pp_model_params(&model) / 1e9, sizes[i].billions,
                           0.051 + 0.001 * sizes[i].billions, "%s has %.0f", sizes[i].name,
                           pp_model_params(&model));
    }
}

Test(model, presets_are_sorted_checked_and_sourced)
{
    struct pp_error err = {0};

    for (const struct pp_model *m = pp_model_presets; m->name != NULL; m++) {
        cr_assert_eq(pp_model_check(m, &err), PP_OK, "%s: %s", m->name, err.message);
        cr_assert_not_null(m->source);
        cr_assert_not_null(m->notes);
        cr_assert(m[1].name == NULL || strcmp(m->name, m[1].name) < 0, "%s", m->name);
    }
}

Test(model, the_total_is_the_sum_of_the_layers)
{
    for (const struct pp_model *m = pp_model_presets; m->name != NULL; m++) {
        const int moe = pp_model_moe_blocks(m, 0, m->layers);
        double sum = (m->layers - moe) * pp_model_layer_params(m, PP_LAYER_BLOCK) +
                     pp_model_layer_params(m, PP_LAYER_EMBEDDING) +
                     pp_model_layer_params(m, PP_LAYER_HEAD);
        sum += moe > 0 ? moe * pp_model_layer_params(m, PP_LAYER_MOE) : 0;
        cr_assert_eq(pp_model_params(m), sum, "%s", m->name);
    }
}

/* Narayanan et al. SC'21, appendix: 96 B s l h^2 (1 + s/6h + V/16lh) with a second forward of the
 * blocks; without it three quarters of the block part. */
Test(model, megatron_flops_are_the_closed_form_of_the_paper)
{
    static const char *const names[] = {"gpt3-175b", "gpt-22b", "gpt-1t", "gpt-7.5b"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pp_model m;
        cr_assert_eq(pp_model_load(arena, names[i], &m, &err), PP_OK);
        const double s = 2048, h = m.hidden, l = m.layers, v = m.vocab;
        const double expected = 72 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
        cr_assert_float_eq(pp_model_flops_per_sample(&m, 2048, PP_FLOPS_MEGATRON) / expected, 1,
                           1e-12);
        const double attention = 12 * s * s * h * l;
        cr_assert_float_eq((pp_model_flops_per_sample(&m, 2048, PP_FLOPS_MEGATRON) -
                            pp_model_flops_per_sample(&m, 2048, PP_FLOPS_CAUSAL)) /
                               (attention / 2),
                           1, 1e-9);
    }
}

/* Chowdhery et al. 2022, appendix B: 6 N + 12 L H Q T per token. */
Test(model, palm_flops_are_six_per_parameter)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model m;

    cr_assert_eq(pp_model_load(arena, "llama3-8b", &m, &err), PP_OK);
    const double n = pp_model_params(&m) - (double)m.vocab * m.hidden, t = 4096;
    const double expected = t * (6 * n + 12.0 * m.layers * m.hidden * t);
    cr_assert_float_eq(pp_model_flops_per_sample(&m, 4096, PP_FLOPS_PALM) / expected, 1, 1e-12);
}

Test(model, a_size_alone_gives_exactly_that_size)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};

    for (double params = 1e6; params < 2e14; params *= 1.37) {
        struct pp_model m;
        cr_assert_eq(pp_model_from_params(arena, params, &m, &err), PP_OK, "%g: %s", params,
                     err.message);
        cr_assert_eq(pp_model_params(&m), params);
        cr_assert_float_eq((m.layers * pp_model_layer_params(&m, PP_LAYER_BLOCK) +
                            pp_model_layer_params(&m, PP_LAYER_EMBEDDING) +
                            pp_model_layer_params(&m, PP_LAYER_HEAD)) /
                               params,
                           1, 1e-9);
        /* the dimensions are near the size, and the flops follow the size, not the rounding */
        struct pp_model plain = m;
        plain.params_override = 0;
        cr_assert_float_eq(pp_model_params(&plain) / params, 1, params > 1e8 ? 0.1 : 0.6, "%g: %g",
                           params, pp_model_params(&plain));
        cr_assert(m.layers >= 2);
    }
    struct pp_model m;
    cr_assert_eq(pp_model_from_params(arena, 175e9, &m, &err), PP_OK);
    cr_assert_eq(m.layers, 96);
    cr_assert_str_eq(m.name, "gpt-like");
    const double bad[] = {0, -1, NAN, INFINITY, 10, 1e300};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(pp_model_from_params(arena, bad[i], &m, &err), PP_EINVAL);
}

Test(model, names_are_forgiving_and_unknown_ones_get_a_suggestion)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model m;

    cr_assert_eq(pp_model_load(arena, "Llama-3-8B", &m, &err), PP_OK, "%s", err.message);
    cr_assert_str_eq(m.name, "llama3-8b");
    cr_assert_eq(pp_model_load(arena, "gpt3-157b", &m, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "gpt3-175b"), "%s", err.message);
    cr_assert_eq(pp_model_load(arena, "./no-such-file.json", &m, &err), PP_EFAIL);
}

Test(model, inconsistent_dimensions_name_the_nearest_legal_ones)
{
    struct pp_error err = {0};
    struct pp_model m = pp_model_presets[0];

    m.hidden = 1000;
    m.heads = 24;
    m.head_dim = 0;
    cr_assert_eq(pp_model_check(&m, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "20 and 25"), "%s", err.message);
    m = pp_model_presets[0];
    m.kv_heads = 3;
    cr_assert_eq(pp_model_check(&m, &err), PP_EINVAL);
    m = pp_model_presets[0];
    m.layers = 0;
    cr_assert_eq(pp_model_check(&m, &err), PP_EINVAL);
    m = pp_model_presets[0];
    m.params_override = 1000;
    cr_assert_eq(pp_model_check(&m, &err), PP_EINVAL);
}

/* Keys counted one query after the other, against the closed form of the mean. */
Test(model, windows_bound_the_keys_that_queries_meet)
{
    static const struct pp_window windows[] = {
        {.keys = 0}, {.keys = 64}, {.keys = 4096}, {.keys = 512, .is_chunked = true}};

    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        for (int from = 0; from < 2048; from += 384) {
            const int keys = windows[i].keys > 0 ? windows[i].keys : 1 << 20, to = from + 384;
            double met = 0; /* the key of a query itself counts half: it is on the diagonal */
            for (int q = from; q < to; q++)
                met += (windows[i].is_chunked ? q % keys : q < keys ? q : keys - 0.5) + 0.5;
            cr_assert_float_eq(pp_model_window_keys(&windows[i], from, to), met / 384, 1e-9);
        }
    cr_assert_float_eq(pp_model_window_keys(&windows[1], 0, 2048), 64 - 64 * 64 / 4096.0, 1e-12);
}

/* gpt-oss: half of the blocks look back 128 tokens. */
Test(model, causal_flops_count_windows)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;
    const double s = 4096, w = 128, d = 4096, blocks = 36;

    cr_assert_eq(pp_model_load(arena, "gpt-oss-120b", &model, &err), PP_OK);
    const double megatron = pp_model_flops_per_sample(&model, (int)s, PP_FLOPS_MEGATRON),
                 causal = pp_model_flops_per_sample(&model, (int)s, PP_FLOPS_CAUSAL);
    const double met = (s / 2 + (w - w * w / (2 * s))) / 2;
    cr_assert_float_eq(megatron - causal, 3 * blocks * 4 * s * d * ((s + w) / 2 - met),
                       1e-6 * megatron);
    model.window.keys = 0;
    cr_assert_float_eq(pp_model_flops_per_sample(&model, (int)s, PP_FLOPS_MEGATRON) - megatron,
                       3 * blocks * 4 * s * d * (s - w) / 2, 1e-6 * megatron);
}
