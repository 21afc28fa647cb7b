/* Dimensions of a model on the command line: parameters against the formula written out. */
#include "core/model/options.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

struct pp_wish {
    struct pp_request request;
#define PP_ROW PP_ROW_FIELD
    PP_OPTIONS_DIMENSIONS("", 0)
    PP_OPTIONS_EXPERTS("", 0)
    PP_OPTIONS_MTP("", 0)
#undef PP_ROW
        struct {
#define PP_ROW PP_ROW_GIVEN
        PP_OPTIONS_DIMENSIONS("", 0) PP_OPTIONS_EXPERTS("", 0) PP_OPTIONS_MTP("", 0)
#undef PP_ROW
    } given;
};
#define PP_WISH struct pp_wish
#define PP_ROW  PP_ROW_ENTRY
static struct pp_option options[] = {
    {.name = "model", .type = PP_OPTION_STRING, .argument = "NAME", .help = "", .commands = 1},
    {.name = "seq",
     .type = PP_OPTION_INT,
     .argument = "S",
     .help = "",
     .min = 1,
     .max = 1 << 24,
     .commands = 1},
    {.name = "preset", .type = PP_OPTION_STRING, .argument = "P", .help = "", .commands = 1},
    PP_OPTIONS_DIMENSIONS("Model", 1) PP_OPTIONS_EXPERTS("Model", 1) PP_OPTIONS_MTP("Model", 1)};
static const struct pp_command commands[] = {{"run", "run", "", 0, 0}};
static const struct pp_cli cli = {.program = "test",
                                  .commands = commands,
                                  .command_count = 1,
                                  .options = options,
                                  .option_count = sizeof(options) / sizeof(*options)};

enum { WORDS_MAX = 40 };
static enum pp_status take(struct pp_arena *arena, const char *line, struct pp_model *model,
                           struct pp_error *err)
{
    char *argv[WORDS_MAX] = {(char *)"test"}, *rest = pp_arena_strdup(arena, line), *word;
    struct pp_parsed parsed;
    struct pp_request request;
    static struct pp_arena *kept;
    int argc = 1;

    if (!kept)
        pp_wish_table(kept = pp_arena_create(), options, cli.option_count);
    while ((word = strsep(&rest, " ")))
        argv[argc++] = word;
    PP_TRY(pp_options_parse(arena, &cli, argc, argv, &parsed, err));
    PP_TRY(pp_request_open(arena, &parsed, &request, err));
    PP_TRY(pp_model_take(arena, &request, "gpt3-175b", model, err));
    pp_model_take_mtp(arena, &request, model);
    return pp_model_take_experts(arena, &request, model, err);
}

/* A dense model given experts, a mixture made dense, and what needs experts. */
Test(model_options, experts)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model dense, model;
    struct pp_error err;

    cr_assert(take(arena, "--model llama2-7b", &dense, &err) == PP_OK);
    cr_assert(take(arena,
                   "--model llama2-7b --experts 8 --top-k 3 --moe-ffn 500 --shared-ffn 700 "
                   "--dense-layers 2 --mtp 1",
                   &model, &err) == PP_OK);
    const double h = 4096, mixture = 8 * h + 3 * h * (8 * 500 + 700),
                 block = pp_model_layer_params(&dense, PP_LAYER_BLOCK), plain = 3.0 * h * 11008;
    cr_assert(eq(dbl, pp_model_params(&model) - pp_model_params(&dense),
                 30 * (mixture - plain) + (block - plain + mixture + 2 * h * h + 3 * h)));
    cr_assert(eq(str, (char *)model.name, (char *)"llama2-7b-like"));
    cr_assert(take(arena, "--model llama2-7b --experts 4", &model, &err) == PP_OK);
    cr_assert(eq(int, model.experts.top_k, 2));
    cr_assert(eq(int, model.experts.ffn, 11008));
    cr_assert(take(arena, "--model mixtral-8x7b --experts 1", &model, &err) == PP_OK);
    cr_assert(eq(int, model.experts.count, 0));
    cr_assert(take(arena, "--model mixtral-8x7b --hidden 8192", &model, &err) == PP_OK);
    cr_assert(eq(int, model.experts.ffn, 2 * 14336));
    cr_assert(take(arena, "--model llama2-7b --top-k 2", &model, &err) == PP_EINVAL);
    cr_assert(strstr(err.message, "--top-k 2: the model has no experts") != NULL);
    cr_assert(take(arena, "--model mixtral-8x7b --top-k 9", &model, &err) == PP_EINVAL);
}

Test(model_options, grouped_gated_untied)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_error err;
    const double l = 4, h = 1024, kv = 2 * 128, f = 3000, v = 1000;

    cr_assert(take(arena,
                   "--model llama2-7b --layers 4 --hidden 1024 --heads 8 --kv-heads 2 --ffn 3000 "
                   "--vocab 1000 --embedding untied",
                   &model, &err) == PP_OK);
    cr_assert(eq(dbl, pp_model_params(&model),
                 l * (2 * h * h + 2 * h * kv + 3 * h * f + 2 * h) + 2 * v * h + h));
    cr_assert(take(arena,
                   "--model llama2-7b --layers 4 --hidden 1024 --heads 8 --kv-heads 2 --ffn 3000 "
                   "--vocab 1000 --mlp plain --embedding tied",
                   &model, &err) == PP_OK);
    cr_assert(eq(dbl, pp_model_params(&model),
                 l * (2 * h * h + 2 * h * kv + 2 * h * f + 2 * h) + v * h + h));
}

/* Gemma's embedding is multiplied by the square root of its width. */
Test(model_options, the_factor_on_the_embedding_follows_the_width)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_error err;

    cr_assert(take(arena, "--model gemma-2b --hidden 64 --heads 4", &model, &err) == PP_OK);
    cr_assert(eq(dbl, model.numerics.embedding_scale, 8));
    cr_assert(take(arena, "--model llama2-7b --hidden 64 --heads 4", &model, &err) == PP_OK);
    cr_assert(eq(dbl, model.numerics.embedding_scale, 0));
}

Test(model_options, what_is_not_given_is_kept)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model before, after;
    struct pp_error err;

    cr_assert(pp_model_load(arena, "llama3-8b", &before, &err) == PP_OK);
    cr_assert(take(arena, "--model llama3-8b --mlp gated --embedding untied --ffn 14336", &after,
                   &err) == PP_OK);
    cr_assert(eq(str, (char *)(uintptr_t)after.name, "llama3-8b"));
    cr_assert(eq(dbl, pp_model_params(&after), pp_model_params(&before)));
    cr_assert(take(arena, "--model llama3-8b --hidden 8192 --heads 64", &after, &err) == PP_OK);
    cr_assert(eq(int, after.kv_heads, before.kv_heads));
    cr_assert(eq(int, after.ffn, 2 * before.ffn));
}

/* A preset's table is what it is; a model of other dimensions has one for its samples. */
Test(model_options, positions_follow_samples)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_error err;

    cr_assert(take(arena, "--model gpt3-175b --seq 4096", &model, &err) == PP_OK);
    cr_assert(eq(int, model.positions, 2048));
    cr_assert(take(arena, "--model gpt3-175b --layers 8 --seq 4096", &model, &err) == PP_OK);
    cr_assert(eq(int, model.positions, 4096));
    cr_assert(take(arena, "--model gpt3-175b --layers 8 --seq 4096 --positions 3000", &model,
                   &err) == PP_OK);
    cr_assert(eq(int, model.positions, 3000));
    cr_assert(take(arena, "--model gpt3-175b --positions 0", &model, &err) == PP_OK);
    cr_assert(eq(int, model.positions, 0));
    cr_assert(take(arena, "--model gpt3-175b --layers 8 --seq 512", &model, &err) == PP_OK);
    cr_assert(eq(int, model.positions, 2048));
}

Test(model_options, refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_error err;

    cr_assert(take(arena, "--heads 12 --kv-heads 5", &model, &err) == PP_EINVAL);
    cr_assert(strstr(err.message, "12 heads are not a multiple of 5 key-value heads") != NULL);
    cr_assert(take(arena, "--mlp three", &model, &err) == PP_EINVAL);
}
