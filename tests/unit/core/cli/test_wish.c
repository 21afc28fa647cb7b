/* Fields that rows declare: values of flags, of a preset, and defaults. */
#include "core/cli/wish.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

enum { RUN = 1 << 0, TRY = 1 << 1 };

struct wish {
    struct pp_request request;
#define PP_ROW       PP_ROW_FIELD
#define PP_ROW_AGAIN PP_ROW_NOTHING
#include "tests/unit/core/cli/test_wish_rows.h"
    struct {
#define PP_ROW       PP_ROW_GIVEN
#define PP_ROW_AGAIN PP_ROW_NOTHING
#include "tests/unit/core/cli/test_wish_rows.h"
    } given;
};

#define PP_WISH      struct wish
#define PP_ROW       PP_ROW_ENTRY
#define PP_ROW_AGAIN PP_ROW_ENTRY
static struct pp_option rows[] = {
#include "tests/unit/core/cli/test_wish_rows.h"
};
static const struct pp_command commands[] = {{"run", "run", "", 0, 0}, {"try", "try", "", 0, 0}};
static const char *const arguments[] = {"--slots", "3", "--micro-batches", "4", "--no-fold", NULL};
static const struct pp_preset presets[] = {{.name = "small", .arguments = arguments}, {NULL}};
static const struct pp_cli cli = {.program = "test",
                                  .commands = commands,
                                  .command_count = 2,
                                  .options = rows,
                                  .option_count = sizeof(rows) / sizeof(*rows),
                                  .presets = presets};

static struct pp_arena *arena;

static void setup(void)
{
    arena = pp_arena_create();
    pp_wish_table(arena, rows, cli.option_count);
}

static void teardown(void)
{
    pp_arena_destroy(arena);
}

TestSuite(wish, .init = setup, .fini = teardown);

/* What a command line of words asks for. */
static struct wish ask(const char *line)
{
    char *argv[16] = {(char *)"test"}, *rest = pp_arena_strdup(arena, line), *word;
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_error err;
    struct wish wish;
    int argc = 1;

    while ((word = strsep(&rest, " ")))
        argv[argc++] = word;
    cr_assert_eq(pp_options_parse(arena, &cli, argc, argv, parsed, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_request_open(arena, parsed, &wish.request, &err), PP_OK, "%s", err.message);
    pp_wish_bind(arena, &wish.request);
    return wish;
}

Test(wish, names_have_dashes)
{
    cr_assert_str_eq(rows[1].name, "micro-batches");
    cr_assert_str_eq(rows[1].dashed, "--micro-batches");
}

Test(wish, an_option_that_is_not_given_has_its_default_where_that_is_a_value)
{
    const struct wish wish = ask("run");

    cr_assert_eq(wish.micro_batches, 0);
    cr_assert_eq(wish.slots, 2);
    cr_assert_eq(wish.seed, 0);
    cr_assert(ieee_ulp_eq(dbl, wish.rate, 1e-3, 1));
    cr_assert_eq(wish.clock, 1);
    cr_assert_eq(wish.no_fold, false);
    cr_assert_null(wish.order); /* the default of a text is prose */
    cr_assert_str_eq(wish.map, "tp,pp");
    cr_assert_str_eq(wish.given.clock.text, "wall");
    cr_assert_eq(wish.given.slots.origin, PP_FROM_NOTHING);
    cr_assert_eq(wish.given.slots.count, 0);
    cr_assert_str_eq(wish.given.slots.typed, "--slots");
}

Test(wish, flags_are_values_with_their_words)
{
    const struct wish wish =
        ask("run --micro_batches=12 --seed 5000000000 --share 5% --clock virtual --slow 1=2 "
            "--slow 2=3 --order eager");

    cr_assert_eq(wish.micro_batches, 12);
    cr_assert_eq(wish.seed, 5000000000);
    cr_assert(ieee_ulp_eq(dbl, wish.share, 0.05, 1));
    cr_assert_eq(wish.clock, 0);
    cr_assert_str_eq(wish.order, "eager");
    cr_assert_eq(wish.given.micro_batches.origin, PP_FROM_FLAG);
    cr_assert_str_eq(wish.given.micro_batches.spelled, "--micro_batches");
    cr_assert_str_eq(wish.given.micro_batches.typed, "--micro_batches 12");
    cr_assert_str_eq(wish.given.micro_batches.option->name, "micro-batches");
    cr_assert_eq(wish.given.slow.count, 2);
    cr_assert_str_eq(wish.given.slow.all[0], "1=2");
    cr_assert_str_eq(wish.slow, "2=3");
}

Test(wish, flags_win_over_a_preset)
{
    const struct wish wish = ask("run --preset small --slots 9");

    cr_assert_eq(wish.slots, 9);
    cr_assert_eq(wish.given.slots.origin, PP_FROM_FLAG);
    cr_assert_eq(wish.micro_batches, 4);
    cr_assert_eq(wish.given.micro_batches.origin, PP_FROM_PRESET);
    cr_assert_eq(wish.no_fold, true);
}

/* A row of another command has bounds and a default of its own, and the same field. */
Test(wish, commands_share_a_field)
{
    cr_assert_eq(ask("run").worst, 5);
    cr_assert_eq(ask("try").worst, 7);
    cr_assert_eq(ask("run --worst 50").worst, 50);
    cr_assert_eq(ask("try --worst 9").worst, 9);
}
