/* A CSV file as columns: what is refused and where, how columns are found, what a number is. */
#include "plots/table.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

static struct pp_arena *arena;

static void setup(void)
{
    arena = pp_arena_create();
}

static void teardown(void)
{
    pp_arena_destroy(arena);
}

TestSuite(table, .init = setup, .fini = teardown);

static enum pp_status parse(const char *text, struct pp_table *table, struct pp_error *err)
{
    return pp_table_parse(arena, "t.csv", text, strlen(text), table, err);
}

Test(table, rows_keep_their_lines)
{
    struct pp_table table;
    struct pp_error err = {0};

    cr_assert(parse("\n# a comment\na,b_c\n1,\"x,y\"\n\n,z\n", &table, &err) == PP_OK, "%s",
              err.message);
    cr_assert(eq(int, table.column_count, 2));
    cr_assert(eq(int, table.rows, 2));
    cr_assert(eq(str, (char *)table.columns[1], "b_c"));
    cr_assert(eq(str, (char *)table.cells[0][1], "x,y"));
    cr_assert(eq(str, (char *)table.cells[1][0], ""));
    cr_assert(eq(int, table.lines[0], 4));
    cr_assert(eq(int, table.lines[1], 6));
}

Test(table, what_is_wrong_is_told_with_its_line)
{
    static const struct {
        const char *text, *message;
    } CASES[] = {
        {"", "t.csv: the file is empty"},
        {"# nothing\n\n", "t.csv: the file is empty"},
        {"a,b\n1,2\n\n3\n", "t.csv:4: 1 fields, but the header has 2"},
        {"a\n1,2\n", "t.csv:2: 2 fields, but the header has 1"},
        {"a,,b\n", "t.csv:1: column 2 has no name"},
        {"\na,b,a\n", "t.csv:2: columns 1 and 3 are both named a"},
        {"a\n\"1\n", "t.csv:2: "},
    };
    struct pp_table table;

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct pp_error err = {0};
        cr_assert(parse(CASES[i].text, &table, &err) == PP_EINVAL, "%s", CASES[i].text);
        cr_assert(strstr(err.message, CASES[i].message) == err.message, "%s", err.message);
    }
}

Test(table, columns_are_found_by_any_spelling)
{
    struct pp_table table;
    struct pp_error err = {0};
    int column;

    cr_assert(parse("micro_batches,bubble_frac\n", &table, &err) == PP_OK);
    cr_assert(eq(int, pp_table_find(&table, "micro-batches"), 0));
    cr_assert(eq(int, pp_table_find(&table, "bubble"), -1));
    cr_assert(pp_table_column(&table, "-y", "Bubble-Frac", &column, &err) == PP_OK);
    cr_assert(eq(int, column, 1));
    cr_assert(pp_table_column(&table, "-y", "buble_frac", &column, &err) == PP_EINVAL);
    cr_assert(eq(str, err.message,
                 "-y: t.csv has no column \"buble_frac\"; did you mean bubble_frac?\n"
                 "  columns: micro_batches bubble_frac"));
}

Test(table, numbers_and_what_is_none)
{
    static const struct {
        const char *text;
        double value; /* NAN: none */
        bool is_number;
    } CASES[] = {{"8", 8, true},         {"-1.5e-3", -1.5e-3, true},
                 {"true", 1, true},      {"false", 0, true},
                 {"", NAN, true},        {"nan", NAN, true},
                 {"inf", NAN, true},     {"1e101", NAN, true},
                 {"1e-101", 0, true},    {"1f1b", NAN, false},
                 {"8 GPUs", NAN, false}, {"-", NAN, false}};
    struct pp_table table;
    struct pp_error err = {0};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        const char *text = pp_arena_printf(arena, "a,b\n%s,1\n", CASES[i].text);
        bool is_number;
        cr_assert(parse(text, &table, &err) == PP_OK, "%s", err.message);
        const double value = pp_table_number(&table, 0, 0, &is_number);
        cr_assert(is_number == CASES[i].is_number, "%s", CASES[i].text);
        if (isnan(CASES[i].value))
            cr_assert(isnan(value), "%s", CASES[i].text);
        else
            cr_assert(value >= CASES[i].value && value <= CASES[i].value, "%s", CASES[i].text);
    }
}

Test(table, a_ratio_is_one_more_column)
{
    struct pp_table table;
    struct pp_error err = {0};

    cr_assert(parse("gbs,gpus\n96,64\n8,0\nx,2\n,2\n", &table, &err) == PP_OK);
    pp_table_add_ratio(arena, &table, "gbs_per_gpu", 0, 1);
    cr_assert(eq(int, pp_table_find(&table, "gbs_per_gpu"), 2));
    cr_assert(eq(str, (char *)table.cells[0][2], "1.5"));
    for (int row = 1; row < 4; row++)
        cr_assert(eq(str, (char *)table.cells[row][2], ""));
    cr_assert(eq(str, (char *)table.cells[2][0], "x"));
}
