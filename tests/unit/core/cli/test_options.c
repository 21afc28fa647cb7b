#include "core/cli/options.h"

#include <criterion/criterion.h>
#include <string.h>

enum { RUN = 1, SWEEP = 2, VERIFY = 4 };

static const struct pp_command commands[] = {
    {.name = "run", .usage = "toy [run] --pp D [--seed S]", .summary = "Run it."},
    {.name = "sweep", .usage = "toy sweep -o FILE", .summary = "Run many.", .takes_lists = true},
    {.name = "verify",
     .usage = "toy verify FILE...",
     .summary = "Check files.",
     .min_operands = 1,
     .max_operands = 2},
};
static const char *const pp_aliases[] = {"pipeline-model-parallel-size", "np", NULL};
static const char *const level_aliases[] = {"level-words", NULL};
static const struct pp_option options[] = {
    {.name = "pp",
     .aliases = pp_aliases,
     .type = PP_OPTION_INT,
     .argument = "D",
     .min = 1,
     .max = 64,
     .commands = RUN | SWEEP},
    {.name = "seed", .type = PP_OPTION_LONG, .argument = "S", .commands = RUN | SWEEP},
    {.name = "depth", .type = PP_OPTION_INT, .argument = "N", .commands = RUN},
    {.name = "output", .type = PP_OPTION_STRING, .argument = "FILE", .commands = RUN | SWEEP},
    {.name = "grad-sync",
     .type = PP_OPTION_CHOICE,
     .choices = "end|eager|eager-opt",
     .argument = "WHEN",
     .commands = RUN},
    {.name = "params", .type = PP_OPTION_COUNT, .argument = "N", .commands = RUN},
    {.name = "jitter", .type = PP_OPTION_FRAC, .argument = "X", .commands = RUN | SWEEP},
    {.name = "slow",
     .type = PP_OPTION_STRING,
     .argument = "RANK=F",
     .commands = RUN,
     .is_repeatable = true},
    {.name = "json", .type = PP_OPTION_FLAG, .commands = RUN | VERIFY},
    {.name = "x", .type = PP_OPTION_STRING, .argument = "COL", .commands = SWEEP},
    {.name = "part", .type = PP_OPTION_STRING, .argument = "I/N", .commands = SWEEP},
    {.name = "limit", .type = PP_OPTION_INT, .argument = "N", .max = 4, .commands = VERIFY},
    {.name = "limit", .type = PP_OPTION_STRING, .argument = "T", .commands = RUN},
    {.name = "level",
     .aliases = level_aliases,
     .type = PP_OPTION_STRING,
     .argument = "HOW",
     .commands = RUN | SWEEP,
     .words_name = "level-words",
     .words_of = "some"},
};
static const struct pp_cli cli = {
    .program = "toy",
    .summary = "A toy.",
    .commands = commands,
    .command_count = 3,
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
};

static struct pp_arena *arena;
static struct pp_parsed parsed;
static struct pp_error err;

/* `line` is cut at blanks; '' stands for an empty argument. */
static enum pp_status parse(const char *line)
{
    char *argv[40] = {(char *)"toy"};
    int argc = 1;

    for (char *place = pp_arena_strdup(arena, line); place && *place; argc++) {
        argv[argc] = strsep(&place, " ");
        if (!strcmp(argv[argc], "''"))
            argv[argc] = (char *)"";
    }
    err = (struct pp_error){0};
    return pp_options_parse(arena, &cli, argc, argv, &parsed, &err);
}

static const struct pp_option_value *get(const char *name)
{
    return pp_options_get(&parsed, name);
}

static void set_up(void)
{
    arena = pp_arena_create();
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
}

TestSuite(options, .init = set_up, .fini = tear_down);

Test(options, every_spelling_of_an_option_is_the_same)
{
    static const char *const lines[] = {
        "--pp 8",    "--pp=8",          "-pp 8",
        "-pp=8",     "run --pp 8",      "--pipeline-model-parallel-size 8",
        "-np 8",     "--pp 8 --np=008", "--pipeline_model_parallel_size=8",
        "--pp 8 --",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        cr_assert_eq(parse(lines[i]), PP_OK, "%s: %s", lines[i], err.message);
        cr_assert_eq(parsed.command, 0);
        cr_assert_eq(get("pp")->integer, 8);
        cr_assert_eq(get("seed")->count, 0);
        cr_assert_eq(parsed.operand_count, 0);
    }
    cr_assert_eq(parse("-o a --json -json"), PP_OK, "%s", err.message);
    cr_assert_str_eq(get("output")->text, "a");
    cr_assert_str_eq(get("output")->typed, "-o");
    cr_assert_eq(get("json")->integer, 1);
    cr_assert_eq(parse("-o=b"), PP_OK);
    cr_assert_str_eq(get("output")->text, "b");
    cr_assert_eq(parse("-o4 --pp 2"), PP_OK, "%s", err.message);
    cr_assert_str_eq(get("output")->text, "4");
    cr_assert_str_eq(get("output")->typed, "-o");
    cr_assert_eq(get("pp")->integer, 2);
    cr_assert_eq(parse("-ox"), PP_EINVAL);
    cr_assert_eq(parse("-x4"), PP_EINVAL);
}

Test(options, values_are_typed)
{
    cr_assert_eq(parse("--seed -5 --depth -3 --grad-sync EAGER-Opt --params 7.5B --jitter 5%"),
                 PP_OK, "%s", err.message);
    cr_assert_eq(get("seed")->integer, -5);
    cr_assert_eq(get("depth")->integer, -3);
    cr_assert_eq(get("grad-sync")->integer, 2);
    cr_assert_str_eq(get("grad-sync")->text, "EAGER-Opt");
    cr_assert_float_eq(get("params")->number, 7.5e9, 1);
    cr_assert_float_eq(get("jitter")->number, 0.05, 1e-12);
    cr_assert_eq(parse("--output=--json --slow - --output=--json"), PP_OK, "%s", err.message);
    cr_assert_str_eq(get("output")->text, "--json");
    cr_assert_str_eq(get("slow")->text, "-");
    cr_assert_eq(get("json")->count, 0);
}

Test(options, repeatable_options_collect)
{
    cr_assert_eq(parse("--slow 1=2 --slow 3=4 --slow 1=2"), PP_OK, "%s", err.message);
    cr_assert_eq(get("slow")->count, 3);
    cr_assert_str_eq(get("slow")->all[0], "1=2");
    cr_assert_str_eq(get("slow")->all[1], "3=4");
    cr_assert_str_eq(get("slow")->text, "1=2");
}

Test(options, a_command_with_lists_keeps_texts)
{
    cr_assert_eq(parse("sweep --pp 1:8:x2 --pp 3,5 -x a --jitter 1%,2%"), PP_OK, "%s", err.message);
    cr_assert_eq(parsed.command, 1);
    cr_assert(parsed.has_command);
    cr_assert_eq(get("pp")->count, 2);
    cr_assert_str_eq(get("pp")->all[0], "1:8:x2");
    cr_assert_str_eq(get("pp")->all[1], "3,5");
    cr_assert_str_eq(get("x")->text, "a");
    cr_assert_eq(parse("sweep --pp="), PP_EINVAL);
}

Test(options, commands_and_operands)
{
    cr_assert_eq(parse("verify a.csv --limit 4 -"), PP_OK, "%s", err.message);
    cr_assert_eq(parsed.command, 2);
    cr_assert_eq(parsed.operand_count, 2);
    cr_assert_str_eq(parsed.operands[0], "a.csv");
    cr_assert_str_eq(parsed.operands[1], "-");
    cr_assert_eq(get("limit")->integer, 4);
    cr_assert_eq(parse("verify -- --json -5"), PP_OK);
    cr_assert_str_eq(parsed.operands[0], "--json");
    cr_assert_str_eq(parsed.operands[1], "-5");
    cr_assert_eq(get("json")->count, 0);
    cr_assert_eq(parse("--limit 4x"), PP_OK, "one name, two commands: %s", err.message);
    cr_assert_str_eq(get("limit")->text, "4x");
    cr_assert_eq(parse(""), PP_OK);
    cr_assert(!parsed.has_command);
}

Test(options, help_wins_over_what_follows)
{
    cr_assert_eq(parse("--help --nonsense"), PP_OK);
    cr_assert(parsed.wants_help && !parsed.has_command);
    cr_assert_eq(parse("sweep -h"), PP_OK);
    cr_assert(parsed.wants_short_help && parsed.command == 1);
    cr_assert_eq(parse("--help verify"), PP_OK);
    cr_assert(parsed.wants_help && parsed.has_command && parsed.command == 2);
    cr_assert_eq(parse("verify -version"), PP_OK);
    cr_assert(parsed.wants_version);
    cr_assert_eq(parse("--nonsense --help"), PP_EINVAL);
}

Test(options, words_are_parts_of_a_value)
{
    static const struct {
        const char *line, *text;
    } lines[] = {
        {"--level-words a", "some=a"},
        {"--level-words a b c --json", "some=a+b+c"},
        {"--level_words a,b c", "some=a+b+c"},
        {"--level-words=a b --pp 4", "some=a+b"},
        {"--level some --level-words a b", "some=a+b"},
        {"--level-words a b --level some", "some=a+b"},
        {"--level-words a b --level-words a b", "some=a+b"},
        {"--level-words a --level some=a", "some=a"},
        {"sweep --level some --level-words a b", "some=a+b"},
    };
    for (size_t i = 0; i < PP_COUNT(lines); i++) {
        cr_assert_eq(parse(lines[i].line), PP_OK, "%s: %s", lines[i].line, err.message);
        cr_assert_str_eq(get("level")->text, lines[i].text, "%s", lines[i].line);
    }
    cr_assert_eq(get("level")->count, 1);
    cr_assert_eq(parse("sweep --level all --level some --level-words a"), PP_OK, "%s", err.message);
    cr_assert_eq(get("level")->count, 2);
    cr_assert_str_eq(get("level")->all[0], "all");
    cr_assert_str_eq(get("level")->all[1], "some=a");
}

Test(options, the_command_stands_anywhere_before_operands)
{
    static const char *const lines[] = {
        "sweep --pp 8 --part 1/2", "--pp 8 sweep --part 1/2",
        "--pp 8 --part 1/2 sweep", "-np=8 --jitter 5% sweep",
        "-np 8 -o verify sweep",   "--pp 8 --level-words a b --x c sweep",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        cr_assert_eq(parse(lines[i]), PP_OK, "%s: %s", lines[i], err.message);
        cr_assert_eq(parsed.command, 1, "%s", lines[i]);
        cr_assert(parsed.has_command);
        cr_assert_eq(parsed.operand_count, 0);
        cr_assert_str_eq(get("pp")->text, "8");
    }
    cr_assert_eq(parse("--json verify a sweep"), PP_OK, "%s", err.message);
    cr_assert_eq(parsed.command, 2);
    cr_assert_eq(parsed.operand_count, 2); /* the first one is the command */
    cr_assert_str_eq(parsed.operands[1], "sweep");
}

static const struct bad {
    const char *line, *says;
} bad[] = {
    {"--ppp 4", "did you mean --pp?"},
    {"--pipeline-model-paralel-size 4", "did you mean --pipeline-model-parallel-size?"},
    {"--gradsink end", "did you mean --grad-sync?"},
    {"--grad end", "did you mean --grad-sync?"},
    {"--zzzzzz 4", "unknown option --zzzzzz"},
    {"--zzzzzz", "try: toy run --help"},
    {"-z", "unknown option -z"},
    {"---pp 4", "unknown option"},
    {"--=4", "unknown option"},
    {"--part 1/2", "not an option of \"toy run\" but of \"sweep\""},
    {"verify f --pp 4", "but of \"run\", \"sweep\""},
    {"swep", "did you mean \"toy sweep\"?"},
    {"verfy a.csv", "did you mean \"toy verify\"?"},
    {"nonsense", "commands are run, sweep, verify"},
    {"-- verify a", "the command comes first: toy verify"},
    {"--json verify", "toy verify needs 1 operand, not 0"},
    {"--part 1/2 run", "not an option of \"toy run\" but of \"sweep\""},
    {"--pp verify", "--pp: \"verify\" is not a whole number"},
    {"--json a.csv", "one operand too many"},
    {"verify", "needs 1 operand, not 0"},
    {"verify a b c", "\"c\" is one operand too many"},
    {"--pp", "--pp needs its D"},
    {"--pp --json", "write --pp=--json"},
    {"--pp ''", "the argument is empty: D is expected"},
    {"--pp=", "the argument is empty"},
    {"--output=", "the argument is empty: FILE"},
    {"--pp 0", "1 to 64"},
    {"--pp 65", "1 to 64"},
    {"--pp -4", "1 to 64"},
    {"--pp 4x", "--pp: \"4x\" is not a whole number"},
    {"--pp 4.5", "not a whole number"},
    {"--pp 99999999999999999999", "1 to 64"},
    {"--depth 2147483648", "the largest is 2147483647"},
    {"--depth -2147483649", "the least is -2147483648"},
    {"--seed 9223372036854775808", "the largest is 9223372036854775807"},
    {"--grad-sync eagr", "did you mean \"eager\"?"},
    {"--grad-sync zzzzz", "is not one of end, eager and eager-opt"},
    {"--params 7.5X", "--params: \"7.5X\" is not a number such as"},
    {"--jitter -5%", "negative"},
    {"--json=1", "takes no argument"},
    {"--json=", "takes no argument"},
    {"--pp 4 --np 8", "--np 8 contradicts --pp 4"},
    {"-o a -o b", "-o b contradicts -o a"},
    {"--jitter 5% --jitter 6%", "contradicts"},
    {"--level-words", "--level-words needs its HOW"},
    {"--level-words --json", "needs its HOW but --json follows"},
    {"--level all --level-words a", "contradicts --level all"},
    {"--level-words a --level-words b", "contradicts --level-words some=a"},
    {"--level some a", "\"a\""},
};

Test(options, bad_lines_are_refused_with_the_way_out)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(parse(bad[i].line), PP_EINVAL, "%s", bad[i].line);
        cr_assert_eq(err.status, PP_EINVAL);
        cr_assert_not_null(strstr(err.message, bad[i].says), "%s: %s", bad[i].line, err.message);
    }
}

Test(options, the_same_value_twice_is_accepted)
{
    cr_assert_eq(parse("--pp 4 --pp 4 --jitter 5% --jitter 0.05 --grad-sync end --grad-sync END"),
                 PP_OK, "%s", err.message);
    cr_assert_eq(get("pp")->count, 2);
}

Test(options, long_and_odd_arguments_do_no_harm)
{
    char *text = pp_arena_alloc(arena, 100001);

    memset(text, 'x', 100000);
    memcpy(text, "--", 2);
    cr_assert_eq(parse(text), PP_EINVAL);
    memcpy(text, "xx", 2);
    cr_assert_eq(parse(text), PP_EINVAL);
    cr_assert_eq(parse("--\xff\xfe\x01 \x7f"), PP_EINVAL);
    char *argv[] = {(char *)"toy", (char *)"--pp", NULL};
    cr_assert_eq(pp_options_parse(arena, &cli, 2, argv, &parsed, NULL), PP_EINVAL);
    cr_assert_eq(pp_options_parse(arena, &cli, 0, argv, &parsed, NULL), PP_OK);
}

Test(options, suggestions_are_near_or_absent)
{
    static const char *const names[] = {"gpipe", "1f1b", "interleaved", "zb-h1", "chimera", NULL};

    cr_assert_str_eq(pp_suggest("gpip", names), "gpipe");
    cr_assert_str_eq(pp_suggest("1F1", names), "1f1b");
    cr_assert_str_eq(pp_suggest("zbh1", names), "zb-h1");
    cr_assert_str_eq(pp_suggest("ZB_H1", names), "zb-h1");
    cr_assert_str_eq(pp_suggest("chiemra", names), "chimera");
    cr_assert_str_eq(pp_suggest("inter", names), "interleaved");
    static const char *const models[] = {"llama-30b", "llama3-8b", NULL};
    cr_assert_str_eq(pp_suggest("llama3", models), "llama3-8b"); /* as it is typed, first */
    cr_assert_str_eq(pp_suggest("llama30", models), "llama-30b");
    cr_assert_str_eq(pp_suggest("llama3-8b-instruct", models), "llama3-8b");
    cr_assert_str_eq(pp_suggest("my_GPipe", names), "gpipe");
    cr_assert_null(pp_suggest("gpipeline", names));
    cr_assert_null(pp_suggest("zzzz", names));
    cr_assert_null(pp_suggest("", names));
    cr_assert_null(pp_suggest("-", names));
}

Test(options, where_nothing_is_near_all_names_are_listed)
{
    static const char *const names[] = {"gpipe", "1f1b", "zb-h1", NULL}, *const one[] = {"x", NULL},
                             *const none[] = {NULL};

    pp_error_set(&err, PP_EINVAL, "unknown");
    cr_assert_eq(pp_suggest_or_list(&err, "zzzz", names), PP_EINVAL);
    cr_assert_str_eq(err.message, "unknown; known are gpipe, 1f1b and zb-h1");
    pp_error_set(&err, PP_EFAIL, "unknown");
    cr_assert_eq(pp_suggest_or_list(&err, "gpip", names), PP_EFAIL);
    cr_assert_str_eq(err.message, "unknown; did you mean gpipe?");
    pp_error_set(&err, PP_EINVAL, "unknown");
    pp_suggest_or_list(&err, "zzzz", one);
    cr_assert_str_eq(err.message, "unknown; known are x");
    pp_error_set(&err, PP_EINVAL, "unknown");
    pp_suggest_or_list(&err, "zzzz", none);
    cr_assert_str_eq(err.message, "unknown");
}
