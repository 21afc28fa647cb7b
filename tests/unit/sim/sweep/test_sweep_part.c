/* --part, the launcher instead of it, and the names of the parts' files. */
#include "sim/sweep/sweep.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct pp_arena *arena;

static void start(void)
{
    arena = pp_arena_create();
    unsetenv("RANK"); /* torchrun's; the other launchers are set where they are tested */
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "4", 1);
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("MV2_COMM_WORLD_RANK");
    unsetenv("SLURM_ARRAY_TASK_ID");
    unsetenv("PBS_ARRAY_INDEX");
}

static void finish(void)
{
    pp_arena_destroy(arena);
}

TestSuite(sweep_part, .init = start, .fini = finish);

Test(sweep_part, option_wins_over_launcher)
{
    static const struct {
        const char *option;
        int index, count;
    } GOOD[] = {{"2/4", 2, 4},
                {"1/1", 1, 1},
                {"all", 1, 1},
                {"4/4", 4, 4},
                {"1/2147483647", 1, 2147483647}};

    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        struct pp_sweep_part part;
        struct pp_error err = {0};

        cr_assert_eq(pp_sweep_part(arena, GOOD[i].option, &part, &err), PP_OK, "%s", err.message);
        cr_expect(part.index == GOOD[i].index && part.count == GOOD[i].count, "%s", GOOD[i].option);
        cr_expect_null(part.source);
    }
}

Test(sweep_part, refusals)
{
    static const char *const BAD[][2] = {{"0/4", "--part 0/4: parts are 1/4 to 4/4"},
                                         {"5/4", "--part 5/4: parts are 1/4 to 4/4"},
                                         {"1/0", "--part 1/0: there is at least one part"},
                                         {"x", "--part x: expected i/n"},
                                         {"", "expected i/n"},
                                         {"/", "expected i/n"},
                                         {"1/", "expected i/n"},
                                         {"/4", "expected i/n"},
                                         {"-1/4", "expected i/n"},
                                         {"1/-4", "expected i/n"},
                                         {"1/4/2", "expected i/n"},
                                         {"+1/4", "expected i/n"},
                                         {" 1/4", "expected i/n"},
                                         {"1/4 ", "expected i/n"},
                                         {"1.0/4", "expected i/n"},
                                         {"All", "expected i/n"},
                                         {"1/2147483648", "expected i/n"},
                                         {"1/99999999999999999999", "expected i/n"}};

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct pp_sweep_part part;
        struct pp_error err = {0};

        cr_assert_eq(pp_sweep_part(arena, BAD[i][0], &part, &err), PP_EINVAL, "%s", BAD[i][0]);
        cr_expect_not_null(strstr(err.message, BAD[i][1]), "%s", err.message);
    }
}

Test(sweep_part, launcher)
{
    struct pp_sweep_part part;
    struct pp_error err = {0};

    cr_assert_eq(pp_sweep_part(arena, NULL, &part, &err), PP_OK, "%s", err.message);
    cr_expect(part.index == 2 && part.count == 4);
    cr_expect_str_eq(part.source, "PMI_RANK");
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "1", 1); /* one process is the whole sweep */
    cr_assert_eq(pp_sweep_part(arena, NULL, &part, &err), PP_OK, "%s", err.message);
    cr_expect(part.index == 1 && part.count == 1 && part.source == NULL);
}

Test(sweep_part, launcher_that_cannot_be_read_says_what_to_type)
{
    struct pp_sweep_part part;
    struct pp_error err = {0};

    setenv("PBS_ARRAY_INDEX", "3", 1);
    cr_assert_eq(pp_sweep_part(arena, NULL, &part, &err), PP_EINVAL);
    cr_expect_str_eq(err.message, "PBS_ARRAY_INDEX=3 does not say of how many tasks; say which "
                                  "part this is with --part i/n, or --part all");
    cr_expect_eq(pp_sweep_part(arena, "3/8", &part, &err), PP_OK);
}

Test(sweep_part, paths)
{
    static const char *const PATHS[][2] = {
        {"sweep.csv", "sweep.part-2-of-4.csv"},   {"sweep", "sweep.part-2-of-4"},
        {"a.b/sweep", "a.b/sweep.part-2-of-4"},   {"a.b/.sweep", "a.b/.sweep.part-2-of-4"},
        {"./x.y.csv", "./x.y.part-2-of-4.csv"},   {".csv", ".csv.part-2-of-4"},
        {"dir/sweep.", "dir/sweep.part-2-of-4."}, {"100%s.csv", "100%s.part-2-of-4.csv"}};

    for (size_t i = 0; i < sizeof PATHS / sizeof *PATHS; i++)
        cr_expect_str_eq(
            pp_sweep_part_path(arena, PATHS[i][0], (struct pp_sweep_part){.index = 2, .count = 4}),
            PATHS[i][1]);
}
