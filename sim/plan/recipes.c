/* Published layouts, for comparison with a search: rows of tests/published/measurements.csv. */
#include "core/cli/options.h"
#include "core/units.h"
#include "sim/cli/cli.h"
#include "sim/fit/change.h"
#include "sim/plan/search.h"
#include "sim/report/text.h"

#include <string.h>

/* clang-format off */
static const struct pp_search_recipe recipes[] = {
    /* model              source                          device  gpus   tp  pp  cp  ep vp mbs schedule       preset, precision, gbs, row, its step (s), tokens/s/GPU; 0 = not stated */
    {"deepseek-v3",     "Megatron-Bridge 25.09",          "h100", 1024,  2,  8,  1, 64,  4, 1, "interleaved", NULL, PP_PRECISION_FP8, 8192, "megatron-bridge-25.09-025", 25.2645, 1297.0},
    {"deepseek-v3",     "DeepSeek-V3 report",             "h800", 2048,  1, 16,  1, 64,  0, 1, "dualpipe", "deepseek-v3", PP_PRECISION_FP8, 15360, "deepseek-v3-001", 19.9067, 1543.2},
    {"deepseek-v3",     "Megatron-Bridge 26.08",          "gb200", 256,  1,  4,  1, 64,  4, 1, "interleaved", NULL, PP_PRECISION_FP8, 4096, "megatron-bridge-26.08-002", 13.342, 4912.0},
    {"gpt3-175b",       "MLPerf 4.0",                     "h100",  512,  4,  8,  1,  1,  4, 2, "interleaved", NULL, PP_PRECISION_FP8, 2304, "mlperf-v4.0-001", 10.903, 845.272},
    {"gpt3-175b",       "MLPerf 3.0",                     "h100", 1536,  4,  8,  1,  1, 12, 1, "interleaved", NULL, PP_PRECISION_FP8, 3072, "mlperf-v3.0-004", 6.3399, 646.067},
    {"gpt3-175b",       "NeMo 24.07",                     "h100",  128,  4,  8,  1,  1,  6, 1, "interleaved", NULL, PP_PRECISION_FP8, 256, "nemo-24.07-003", 5.64187, 726.0},
    {"gpt3-175b",       "Korthikanti et al. 2022",        "a100",   64,  8,  8,  1,  1,  3, 1, "interleaved", "gpt3-175b-selective", PP_PRECISION_FP16, 64, "seqpar-t5-004", 13.75, 148.945},
    {"gpt3-175b",       "NeMo launcher 2023",             "a100",   64,  4,  8,  1,  1, 12, 1, "interleaved", NULL, PP_PRECISION_BF16, 0, "nemo-launcher-2023-007", 0, 117.188},
    {"llama2-13b",      "NeMo 24.07",                     "h100",   16,  1,  4,  1,  1, 10, 1, "interleaved", NULL, PP_PRECISION_FP8, 128, "nemo-24.07-006", 3.78996, 8646.0},
    {"llama2-70b",      "NeMo 24.07",                     "h100",   64,  4,  4,  1,  1, 20, 1, "interleaved", NULL, PP_PRECISION_FP8, 128, "nemo-24.07-007", 4.79906, 1707.0},
    {"llama2-7b",       "NeMo 24.07",                     "h100",    8,  1,  1,  1,  1,  0, 1, "1f1b", NULL, PP_PRECISION_FP8, 128, "nemo-24.07-005", 3.89007, 16847.0},
    {"llama3-405b",     "Megatron-Bridge 25.09",          "h100", 1024,  8,  8,  2,  1,  8, 1, "interleaved", NULL, PP_PRECISION_FP8, 512, "megatron-bridge-25.09-024", 13.5629, 302.0},
    {"llama3-405b",     "Megatron-Bridge 25.11",          "b200",  128,  4,  8,  2,  1,  8, 1, "interleaved", NULL, PP_PRECISION_FP8, 64, "megatron-bridge-25.11-021", 6.19667, 661.0},
    {"llama3-405b",     "Megatron-Bridge 26.06",          "gb200", 256,  4, 16,  1,  1,  4, 1, "interleaved", NULL, PP_PRECISION_FP8, 1536, "megatron-bridge-26.06-004", 58.306, 843.0},
    {"llama3-70b",      "NeMo 24.07",                     "h100",   64,  4,  4,  2,  1,  5, 1, "interleaved", "llama3-70b-fp8", PP_PRECISION_FP8, 128, "nemo-24.07-012", 10.6875, 1533.0},
    {"llama3-70b",      "Megatron-Bridge 26.04.01",       "h100",   64,  4,  8,  1,  1,  5, 1, "interleaved", NULL, PP_PRECISION_FP8, 256, "megatron-bridge-26.04.01-007", 19.6923, 1664.0},
    {"llama3-70b",      "Megatron-Bridge 26.04.01",       "gb200",  64,  2,  4,  1,  1,  5, 1, "interleaved", NULL, PP_PRECISION_FP8, 256, "megatron-bridge-26.04.01-005", 8.82759, 3712.0},
    {"llama3-8b",       "NeMo 24.07",                     "h100",    8,  1,  1,  2,  1,  0, 1, "1f1b", NULL, PP_PRECISION_FP8, 128, "nemo-24.07-011", 10.89, 12036.0},
    {"mixtral-8x7b",    "Megatron-Core 0.8",              "h100",   64,  1,  4,  1,  8,  8, 1, "interleaved", "mixtral-8x7b", PP_PRECISION_BF16, 256, "megatron-moe-readme-001", 3.10203, 5281.7},
    {"mixtral-8x7b",    "NeMo 25.02",                     "b200",   64,  1,  1,  1,  8,  0, 2, "1f1b", NULL, PP_PRECISION_FP8, 256, "nemo-25.02-001", 1.05997, 15457.0},
    {"qwen3-235b-a22b", "Megatron-Bridge 25.11",          "h100",  256,  2,  8,  1, 32,  4, 1, "interleaved", NULL, PP_PRECISION_FP8, 2048, "megatron-bridge-25.11-032", 20.8051, 1575.0},
    {"qwen3-235b-a22b", "Megatron-Bridge 26.08",          "gb200", 256,  1,  8,  1, 32,  3, 1, "interleaved", NULL, PP_PRECISION_FP8, 8192, "megatron-bridge-26.08-010", 18.0044, 7280.0},
    {"qwen3-30b-a3b",   "Megatron-Bridge 25.11",          "h100",   16,  1,  2,  1,  8, 24, 2, "interleaved", NULL, PP_PRECISION_FP8, 512, "megatron-bridge-25.11-031", 24.8478, 5275.0},
    {"qwen3-30b-a3b",   "Megatron-Bridge 26.08",          "gb200",   8,  1,  1,  1,  8,  0, 4, "1f1b", NULL, PP_PRECISION_FP8, 512, "megatron-bridge-26.08-008", 6.5641, 39936.0},
};
/* clang-format on */
enum { RECIPES = PP_COUNT(recipes) };

static int order_of(const struct pp_search_space *s, const struct pp_search_recipe *r)
{
    for (int i = 0; i < s->order_count; i++)
        if (!strcmp(s->orders[i].base.schedule_name, r->schedule) && s->orders[i].vp == r->vp)
            return i;
    return -1;
}

static int frame_of(const struct pp_search_space *s, const struct pp_search_recipe *r)
{
    for (int i = 0; i < s->frame_count; i++) {
        const struct pp_search_frame *f = &s->frames[i];
        if (f->tp == r->tp && f->pp == r->pp && f->cp == r->cp && f->ep == r->ep &&
            f->mbs == r->mbs)
            return i;
    }
    return -1;
}

/* Simulates a recipe with as much recomputation and sharding as it needs to have room, or to fit.
 */
static void try_recipe(const struct pp_search_space *s, struct pp_search_published *published)
{
    const int order = order_of(s, published->recipe), frame = frame_of(s, published->recipe);
    const int zeros = s->axis[PP_SEARCH_ZERO].count;
    struct pp_outcome outcome;
    struct pp_error ignored;

    if (order < 0 || frame < 0)
        return;
    const int recomputes = s->frames[frame].levels->count;
    for (int i = 0; i < recomputes * zeros && !pp_search_has_room(&published->outcome); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const int64_t point =
            ((int64_t)frame * s->level_count * zeros + i) * s->order_count + order;
        if (pp_search_try(arena, s, point, PP_QUICK, &outcome, &ignored) != PP_OK ||
            (published->outcome.fits && !pp_search_has_room(&outcome)))
            continue;
        published->point = point;
        published->outcome = outcome;
    }
}

static bool is_same_device(const struct pp_search_space *s, const struct pp_search_recipe *recipe)
{
    return !strcmp(s->fixed.cluster.device.name, recipe->device);
}

/* Is true for the model by name, and for the preset of the recipe, whose options may change it. */
static bool is_same_model(const struct pp_search_space *s, const struct pp_search_recipe *recipe)
{
    return pp_same_name(s->fixed.model.name, recipe->model) ||
           (recipe->preset && s->wish->preset && pp_same_name(s->wish->preset, recipe->preset));
}

/* Simulates the preset of a recipe, with all of its options, if the plan is for the same devices
 * and precision. */
static void try_preset(const struct pp_search_space *s, struct pp_search_published *published)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_search_recipe *r = published->recipe;
    char *argv[] = {"pipesim", "--preset", (char *)(uintptr_t)r->preset, "--engine", "dag"};
    struct pp_config config;
    struct pp_parsed command;
    struct pp_result result;
    struct pp_error ignored;

    if (!r->preset || s->gpus != r->gpus || !is_same_device(s, r) ||
        pp_options_parse(arena, &pp_sim_cli, PP_COUNT(argv), argv, &command, &ignored) != PP_OK ||
        pp_change_resolve(arena, &command, &config, NULL, &ignored) != PP_OK ||
        pp_simulate(arena, &config, PP_METRICS, NULL, &result, &ignored) != PP_OK ||
        result.config.cluster.device.precision != s->fixed.cluster.device.precision)
        return;
    published->preset_gbs = result.config.layout.gbs;
    published->outcome = pp_outcome_of(&result);
}

void pp_search_recipes(struct pp_search *search)
{
    const struct pp_search_space *s = &search->space;

    search->published_count = 0;
    for (int other = 0; other <= 1; other++) /* those of this device first */
        for (int i = 0; i < RECIPES; i++) {
            if (search->published_count == PP_SEARCH_PUBLISHED || !is_same_model(s, &recipes[i]) ||
                is_same_device(s, &recipes[i]) == (bool)other)
                continue;
            struct pp_search_published *published = &search->published[search->published_count++];
            *published = (struct pp_search_published){.recipe = &recipes[i], .point = -1};
            try_preset(s, published);
            if (!published->preset_gbs)
                try_recipe(s, published);
        }
}

/* ---- text -------------------------------------------------------------------------------------
 */

/* Returns ", in bf16 at gbs 512:", that in which the plan is unlike the published run. */
static const char *unlike_text(struct pp_arena *arena, const struct pp_search *search,
                               const struct pp_search_published *p)
{
    const enum pp_precision precision = search->space.fixed.cluster.device.precision;
    const int64_t gbs = p->preset_gbs ? p->preset_gbs : search->space.gbs;
    const char *text =
        p->preset_gbs ? pp_arena_printf(arena, " as --preset~%s", p->recipe->preset) : "";

    if (precision != p->recipe->precision)
        text = pp_arena_printf(arena, "%s in~%s", text, pp_precision_names[precision]);
    if (p->recipe->gbs && gbs != p->recipe->gbs)
        text = pp_arena_printf(arena, "%s at gbs~%s", text, pp_search_count_text(arena, gbs));
    return *text ? pp_arena_printf(arena, ",%s:", text) : "";
}

void pp_search_print_published(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    for (int i = 0; i < search->published_count; i++) {
        const struct pp_search_published *p = &search->published[i];
        const struct pp_search_recipe *r = p->recipe;
        const char *text = pp_arena_printf(
            arena, "%s chose TP~%d, PP~%d, CP~%d, EP~%d%s, MBS~%d, %s on %s~%s (%s%s): ", r->source,
            r->tp, r->pp, r->cp, r->ep, r->vp ? pp_arena_printf(arena, ", VP~%d", r->vp) : "",
            r->mbs, r->schedule, pp_search_count_text(arena, r->gpus), r->device,
            pp_precision_names[r->precision],
            r->gbs ? pp_arena_printf(arena, ", gbs~%s", pp_search_count_text(arena, r->gbs)) : "");
        if (r->tokens_per_s_per_gpu > 0)
            text = pp_arena_printf(arena, "%s%s~tokens/s/GPU there; ", text,
                                   pp_search_count_text(arena, (int64_t)r->tokens_per_s_per_gpu));
        if (p->point < 0 && !p->preset_gbs)
            text = pp_arena_printf(arena, "%snot among the layouts of this search", text);
        else if (!p->outcome.fits)
            text = pp_arena_printf(arena, "%sneeds %.1f~GiB here", text,
                                   p->outcome.peak_bytes / PP_GIB);
        else
            text = pp_arena_printf(
                arena, "%shere%s~%s, %.1f~GiB", text, unlike_text(arena, search, p),
                pp_search_count_text(arena, (int64_t)p->outcome.tokens_per_s_per_gpu),
                p->outcome.peak_bytes / PP_GIB);
        if (p->outcome.fits && search->count && !p->preset_gbs)
            text = pp_arena_printf(
                arena, "%s, %+.1f~%% to #1", text,
                100 * (p->outcome.s_per_sample / search->rows[0].outcome.s_per_sample - 1));
        pp_text_paragraph(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "published", text);
    }
}
