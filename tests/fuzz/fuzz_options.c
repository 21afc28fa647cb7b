/* A command line, one argument a line. What is accepted lies within the table's bounds. */
#include "core/cli/options.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static const struct pp_command commands[] = {
    {.name = "run", .usage = "toy run"},
    {.name = "sweep", .usage = "toy sweep", .takes_lists = true},
    {.name = "verify", .usage = "toy verify", .min_operands = 1, .max_operands = 3},
};
static const char *const aliases[] = {"np", "stages", NULL};
static const struct pp_option options[] = {
    {.name = "pp", .aliases = aliases, .type = PP_OPTION_INT, .min = 1, .max = 9, .commands = 3},
    {.name = "seed", .type = PP_OPTION_LONG, .commands = 3},
    {.name = "output", .type = PP_OPTION_STRING, .commands = 7},
    {.name = "post", .type = PP_OPTION_CHOICE, .choices = "early|jit", .commands = 1},
    {.name = "params", .type = PP_OPTION_COUNT, .commands = 1},
    {.name = "jitter", .type = PP_OPTION_FRAC, .commands = 1},
    {.name = "slow", .type = PP_OPTION_STRING, .commands = 1, .is_repeatable = true},
    {.name = "json", .type = PP_OPTION_FLAG, .commands = 5},
};
static const struct pp_cli cli = {
    .program = "toy",
    .summary = "Toy.",
    .commands = commands,
    .command_count = 3,
    .options = options,
    .option_count = 8,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    char *text = pp_arena_alloc(arena, size + 1), *argv[64] = {(char *)"toy"};
    struct pp_parsed parsed;
    struct pp_error err = {0};
    int argc = 1;

    if (size > 0)
        memcpy(text, data, size);
    for (char *place = text; place && argc < 63; argc++)
        argv[argc] = strsep(&place, "\n");
    const enum pp_status status = pp_options_parse(arena, &cli, argc, argv, &parsed, &err);
    FUZZ_CHECK(parsed.command >= 0 && parsed.command < 3);
    if (status != PP_OK) {
        FUZZ_CHECK(status == PP_EINVAL && err.status == status && err.message[0]);
    } else {
        for (int i = 0; i < cli.option_count; i++) {
            const struct pp_option_value *value = &parsed.values[i];
            const bool is_in = options[i].commands >> parsed.command & 1u;
            FUZZ_CHECK(value->count == 0 || (value->text && value->typed[0] == '-'));
            FUZZ_CHECK(value->count == 0 || is_in || parsed.wants_help || parsed.wants_version ||
                       parsed.wants_short_help);
        }
        const struct pp_option_value *pp = pp_options_get(&parsed, "pp");
        FUZZ_CHECK(pp->count == 0 || parsed.command == 1 || (pp->integer >= 1 && pp->integer <= 9));
        FUZZ_CHECK(parsed.operand_count < argc);
    }
    pp_arena_destroy(arena);
    return 0;
}
