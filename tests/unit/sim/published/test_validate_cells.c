/* Cells of published rows that are filled with something else than they should be. */
#include "core/printable.h"
#include "tests/unit/sim/published/measurement.h"

#include <limits.h>
#include <math.h>

/* A row of 1.3 B whose pipeline has two stages. */
static const char *row_with(struct pp_arena *arena, const char *params, const char *schedule,
                            const char *zero, const char *year)
{
    return pp_arena_printf(arena,
                           "a,b,%s,GPT,%s,24,2048,16,,51200,2048,A100,16,8,bf16,1,2,8,1,%s,1,1,16,"
                           "%s,none,0,1,,,",
                           year, params, schedule, zero);
}

static void check_refused(struct pp_arena *arena, const char *line, const char *message)
{
    struct pp_measure_command command;
    struct pp_error err = {0};

    cr_assert(pp_measure_command(arena, read_row(arena, line), &command, &err) == PP_EINVAL, "%s",
              line);
    cr_assert(eq(str, err.message, (char *)(uintptr_t)message));
}

Test(validate, numbers_that_are_none)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    check_refused(arena, row_with(arena, "1.3", "1f1b", "0", "foo"),
                  "year \"foo\" is no number from 1990 to 2100");
    check_refused(arena, row_with(arena, "1.3B", "1f1b", "0", "2024"),
                  "params_b \"1.3B\" is no number from 1e-06 to 1e+06");
    check_refused(arena, row_with(arena, "0x1", "1f1b", "0", "2024"),
                  "params_b \"0x1\" is no number from 1e-06 to 1e+06");
    check_word(arena, row_with(arena, "1.3", "1f1b", "0", "2021-06"), "--framework", "megatron-v2");
}

/* Names and aliases alone: a cell is no path. */
Test(validate, schedules_are_names)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    check_refused(arena, row_with(arena, "1.3", "/etc/passwd", "0", "2024"),
                  "schedule \"/etc/passwd\" is not known");
    check_refused(arena, row_with(arena, "1.3", "hanay", "0", "2024"),
                  "schedule \"hanay\" is not known; nearest: hanayo");
    check_refused(arena, row_with(arena, "1.3", "./a.csv", "0", "2024"),
                  "schedule \"./a.csv\" is not known");
}

Test(validate, factors_out_of_range)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char *const cases[] = {
        "1/2147483647/1", "1/1/99999999999999999999999999999", "0/1/1", "1/1", "1//1", "-1/1/1"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *cell = pp_arena_printf(arena, "custom P/G/OS (1.3B:%s)", cases[i]);
        check_refused(
            arena, row_with(arena, "1.3", "1f1b", cell, "2024"),
            pp_arena_printf(arena,
                            "zero_stage_or_fsdp \"%.60s\": factors are three numbers from 1 to "
                            "1048576 such as 7B:1/1/8",
                            cell));
    }
    check_word(arena, row_with(arena, "1.3", "1f1b", "custom P/G/OS (1.3B:1/2/1048576)", "2024"),
               "--shard", "p=1x1,g=2x1,os=8x131072");
}

/* Is there a conclusion with these words? */
static bool is_noted(struct pp_arena *arena, const char *line, const char *words)
{
    struct pp_measure_command command;
    struct pp_error err = {0};
    bool is_there = false;

    cr_assert(pp_measure_command(arena, read_row(arena, line), &command, &err) == PP_OK, "%s",
              err.message);
    for (int i = 0; i < command.note_count; i++)
        is_there = is_there || strstr(command.notes[i], words);
    return is_there;
}

/* 24 layers of 2048 have 1.31 B. */
Test(validate, numbers_of_parameters_far_from_the_sizes_are_said)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    cr_assert(is_noted(arena, row_with(arena, "9999", "1f1b", "0", "2024"),
                       "params_b \"9999\" contradicts them, they give 1.3"));
    cr_assert(is_noted(arena, row_with(arena, "0.8", "1f1b", "0", "2024"), "contradicts"));
    cr_assert_not(is_noted(arena, row_with(arena, "1.9", "1f1b", "0", "2024"), "contradicts"));
    cr_assert_not(is_noted(arena, row_with(arena, "", "1f1b", "0", "2024"), "contradicts"));
}

/* In 40 columns; joined again it is the command on one line. */
Test(validate, commands_in_lines)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_measure_command command;
    struct pp_error err = {0};
    char joined[2048];
    size_t length = 0, column = 4, widest = 0;

    cr_assert(pp_measure_command(arena, read_row(arena, row_with(arena, "", "1f1b", "0", "2024")),
                                 &command, &err) == PP_OK);
    const char *lines = pp_measure_command_lines(arena, &command, 40, 4);
    for (const char *at = lines; *at; at++, column++) {
        if (!strncmp(at, "\\\n", 2)) {
            at += 1 + strspn(at + 2, " ");
            widest = column + 1 > widest ? column + 1 : widest;
            column = 3;
            continue;
        }
        joined[length++] = *at;
    }
    joined[length] = '\0';
    cr_assert(widest > 20 && widest <= 40);
    cr_assert(eq(str, joined,
                 (char *)(uintptr_t)pp_measure_command_lines(arena, &command, INT_MAX / 2, 0)));
}

Test(validate, text_of_any_encoding)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char *const cases[][2] = {
        {"plain", "plain"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"caf\xe9", "caf\\xe9"},
        {"\xc3", "\\xc3"},
        {"\xe2\x82", "\\xe2\\x82"},
        {"\xc0\xaf", "\\xc0\\xaf"},                   /* overlong */
        {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},          /* overlong */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond U+10FFFF */
        {"a\x1b[31m\x7f", "a\\x1b[31m\\x7f"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        cr_assert(eq(str, (char *)(uintptr_t)pp_printable(arena, cases[i][0]),
                     (char *)(uintptr_t)cases[i][1]));
}

/* A cell that holds no measurement is refused by name, and the row predicted all the same. */
Test(validate, metrics_that_are_none)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char *const cells[] = {"-1", "0", "nan", "inf", "3.5s", "1e308", "0x3", "OOM"};

    for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++) {
        const char *line = pp_arena_printf(
            arena,
            "a,b,2024,GPT,,24,2048,16,,100,2048,A100,32,8,bf16,1,1,32,1,none,1,1,64,0,full,0,"
            "%s,,%s,",
            cells[i], cells[i]);
        const struct pp_measurement *row = read_row(arena, line);
        struct pp_measure_case open;
        const char *refused =
            pp_arena_printf(arena,
                            "metric_step_time_s \"%s\" is no number from 1e-06 to 1e+08; "
                            "metric_mem_gib \"%s\" is no number from 0.001 to 1e+06",
                            cells[i], cells[i]);
        cr_assert(isnan(row->step_s) && isnan(row->mem_bytes));
        cr_assert(row->refused && !strcmp(row->refused, refused), "%s", row->refused);
        pp_measure_case_open(arena, row, &open);
        cr_assert(open.skipped == NULL, "%s", open.skipped);
    }
    cr_assert(read_row(arena, row_with(arena, "", "1f1b", "0", "2024"))->refused == NULL);
}
