/* The file of a sweep as rows: what is in them, what is torn, what is refused. */
#include "sim/sweep/read.h"

#include <criterion/criterion.h>

#define HEADER "point,schedule,reason,points,key\n"
#define KEY    "0123456789abcdef"

static struct pp_arena *arena;

static void start(void)
{
    arena = pp_arena_create();
}

static void finish(void)
{
    pp_arena_destroy(arena);
}

TestSuite(sweep_read, .init = start, .fini = finish);

static struct pp_sweep_lines read_good(const char *text)
{
    struct pp_sweep_lines lines;
    struct pp_error err = {0};

    cr_assert_eq(pp_sweep_read(arena, "f.csv", text, strlen(text), &lines, &err), PP_OK, "%s",
                 err.message);
    return lines;
}

static const char *string(struct pp_sweep_text text)
{
    return pp_arena_printf(arena, "%.*s", (int)text.length, text.data);
}

Test(sweep_read, rows)
{
    const struct pp_sweep_lines lines =
        read_good(HEADER "4,1f1b,,9," KEY "\n"
                         "0,zbv,\"too \"\"few\"\",\nreally\",9,ffffffffffffffff\n"
                         "8,\"\",x,9," KEY "\n");

    cr_expect_str_eq(string(lines.header), "point,schedule,reason,points,key");
    cr_assert_eq(lines.count, 3);
    cr_expect_eq(lines.torn_line, 0);
    cr_expect(lines.rows[0].point == 4 && lines.rows[0].points == 9 && lines.rows[0].line == 2);
    cr_expect_str_eq(lines.rows[0].key, KEY);
    cr_expect_str_eq(string(lines.rows[0].row), "4,1f1b,,9," KEY);
    cr_expect_str_eq(string(lines.rows[0].values), "1f1b,");
    cr_expect(lines.rows[1].point == 0 && lines.rows[1].line == 3);
    cr_expect_str_eq(string(lines.rows[1].values), "zbv,\"too \"\"few\"\",\nreally\"");
    cr_expect_eq(lines.rows[2].line, 5, "after a row of two lines");
    cr_expect_str_eq(string(pp_sweep_field(lines.rows[2].row, 1)), "\"\"");
    cr_expect_str_eq(string(pp_sweep_field(lines.rows[2].row, 4)), KEY);
    cr_expect_null(pp_sweep_field(lines.rows[2].row, 5).data);
}

/* Cut anywhere, a file gives the rows that are whole. */
Test(sweep_read, torn_anywhere)
{
    static const char TEXT[] = HEADER "0,a,,3," KEY "\n1,b,\"x\ny\",3," KEY "\n2,c,,3," KEY "\n";
    const size_t header_length = strlen(HEADER), whole = strlen(TEXT);

    for (size_t length = 0; length <= whole; length++) {
        struct pp_sweep_lines lines;
        struct pp_error err = {0};

        cr_assert_eq(pp_sweep_read(arena, "f.csv", TEXT, length, &lines, &err), PP_OK, "%zu: %s",
                     length, err.message);
        cr_expect_eq(lines.torn_line > 0, lines.whole_bytes < length, "%zu", length);
        cr_expect_eq(lines.header.data != NULL, length >= header_length, "%zu", length);
        if (length == whole)
            cr_expect_eq(lines.count, 3);
        if (length == whole - 1)
            cr_expect(lines.count == 2 && lines.torn_line == 5);
    }
}

Test(sweep_read, refusals)
{
    static const char *const BAD[][2] = {
        {"schedule,pp\n", "f.csv:1: not the result of a sweep"},
        {"point,schedule\n", "f.csv:1: not the result of a sweep"},
        {"{\"schema\": 1}", "f.csv:1: not the result of a sweep"},
        {"point,schedule,reason,points,key\r\n", "f.csv:1: not"},
        {HEADER "0,a,,3\n", "f.csv:2: 4 fields, but there are 5 columns"},
        {HEADER "\n", "f.csv:2: 1 fields"},
        {HEADER "# hand-made\n", "f.csv:2: 1 fields"},
        {HEADER "3,a,,3," KEY "\n", "f.csv:2: point \"3\": expected 0 to 2"},
        {HEADER "-1,a,,3," KEY "\n", "f.csv:2: point \"-1\""},
        {HEADER "01,a,,3," KEY "\n", "f.csv:2: point \"01\""},
        {HEADER "0x1,a,,3," KEY "\n", "f.csv:2: point \"0x1\""},
        {HEADER ",a,,3," KEY "\n", "f.csv:2: point \"\""},
        {HEADER "1,a,,0," KEY "\n", "f.csv:2: points \"0\""},
        {HEADER "1,a,,99999999999999999999," KEY "\n", "f.csv:2: points \"9999"},
        {HEADER "0,a,,1,0123\n", "f.csv:2: the key at the end"},
        {HEADER "0,a,,1,0123456789ABCDEF\n", "f.csv:2: the key at the end"},
        {HEADER "0,a,,1," KEY "\n0,a\"b\",,1," KEY "\n", "f.csv:3: a quote where none belongs"},
        {HEADER "0,\"a\"b,,1," KEY "\n", "f.csv:2: a quote where none belongs"},
    };

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct pp_sweep_lines lines;
        struct pp_error err = {0};

        cr_assert_eq(pp_sweep_read(arena, "f.csv", BAD[i][0], strlen(BAD[i][0]), &lines, &err),
                     PP_EINVAL, "%s", BAD[i][0]);
        cr_expect_not_null(strstr(err.message, BAD[i][1]), "%s", err.message);
    }
}
