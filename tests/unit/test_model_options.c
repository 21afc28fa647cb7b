/* Dimensions of a model on the command line: parameters against the formula written out. */
#include "core/model_options.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const struct pp_option options[] = {
    {.name = "model", .type = PP_OPTION_STRING, .argument = "NAME", .help = "", .commands = 1},
    {.name = "seq",
     .type = PP_OPTION_INT,
     .argument = "S",
     .help = "",
     .min = 1,
     .max = 1 << 24,
     .commands = 1},
    {.name = "preset", .type = PP_OPTION_STRING, .argument = "P", .help = "", .commands = 1},
    PP_OPTIONS_DIMENSIONS("Model", 1),
};
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
    int argc = 1;

    while ((word = strsep(&rest, " ")))
        argv[argc++] = word;
    PP_TRY(pp_options_parse(arena, &cli, argc, argv, &parsed, err));
    PP_TRY(pp_request_open(arena, &cli, NULL, &parsed, &request, err));
    return pp_model_take(arena, &request, "gpt3-175b", model, err);
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
