/* Keys of points: equal for what means the same, and for nothing else. */
#include "tests/unit/sim/sweep/sweep_case.h"

#include <stdlib.h>

static const char *key_at(struct pp_arena *arena, const char *line, int64_t point)
{
    const struct pp_grid grid = sc_grid(arena, line);
    char key[PP_SWEEP_KEY_BYTES];

    pp_grid_key(&grid, point, key);
    cr_assert_eq(strlen(key), PP_SWEEP_KEY_BYTES - 1);
    cr_assert_eq(strspn(key, "0123456789abcdef"), PP_SWEEP_KEY_BYTES - 1);
    return pp_arena_strdup(arena, key);
}

Test(sweep_keys, keys_are_of_what_is_meant)
{
    static const struct {
        const char *a;
        int64_t at;
        const char *b;
        bool is_same;
    } cases[] = {
        {"--schedule zbv --pp 8", 0, "--np 8 --schedule ZB-V", true},
        {"--schedule zbv --pp 4,8", 1, "--schedule zbv --pp 08", true},
        {"--schedule zbv --jitter 5%", 0, "--schedule zbv --jitter 0.05", true},
        {"--schedule zbv --jitter 0:10%:+5%", 1, "--schedule zbv --jitter 0.05", true},
        {"--schedule zbv --params 7B", 0, "--schedule zbv --params 7e9", true},
        {"--schedule zbv --post JIT", 0, "--schedule zbv --post early,jit --pp 8", false},
        {"--schedule zbv --post JIT", 0, "--schedule zbv --post jit,early", true},
        {"--preset Chimera-SC21", 0, "--preset chimera-sc21", true},
        /* One more schedule, but nothing that one of them might drop. */
        {"--schedule 1f1b,zbv --pp 8", 0, "--schedule 1f1b --pp 8", true},
        {"--schedule 1f1b,zbv --pp 8 --vp 2", 0, "--schedule 1f1b --pp 8 --vp 2", false},
        {"--schedule bfs,zbv --pp 8 --vp 2", 0, "--schedule bfs --pp 8 --vp 2", true},
        {"--preset bfs-52b --preset chimera-sc21 --vp 4", 0, "--preset bfs-52b --vp 4", true},
        {"--preset bfs-52b --preset chimera-sc21 --vp 4", 1, "--preset chimera-sc21 --vp 4", false},
        {"--preset bfs-52b --preset chimera-sc21 --pp 4", 1, "--preset chimera-sc21 --pp 4", true},
        {"--schedule 1f1b --pp 8", 0, "--schedule 1f1b --tp 8", false},
        {"--schedule 1f1b --pp 8", 0, "--schedule 1f1b --pp 8 --no-fold", false},
        {"--schedule 1f1b --pp 8", 0, "--schedule 1f1b --pp 8 --unit F=1", false},
        {"--schedule 1f1b --slow 0=0.5", 0, "--schedule 1f1b --slow 0=0.50", true},
        {"--schedule 1f1b --slow 0=0.5", 0, "--schedule 1f1b --slow 0.0=0.5", false},
        {"--schedule 1f1b --unit F=1,B=2", 0, "--schedule 1f1b --unit B=2,F=1.0", true},
        {"--schedule 1f1b --unit F=1,B=2", 0, "--schedule 1f1b --unit F=1,B=2,C=1", false},
        {"--schedule 1f1b --model llama3-8b", 0, "--schedule 1f1b --model Llama3-8B", true},
        {"--schedule 1f1b --slow 1=1~2=1", 0, "--schedule 1f1b --slow 1=1", false},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        cr_expect_eq(!strcmp(key_at(arena, cases[i].a, cases[i].at), key_at(arena, cases[i].b, 0)),
                     cases[i].is_same, "%s | %s", cases[i].a, cases[i].b);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

Test(sweep_keys, keys_of_a_sweep_differ)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid grid =
        sc_grid(arena, "--schedule all --pp 1:32:+1 --micro-batches 1:64:x2 --seed 0:3:+1");
    char(*keys)[PP_SWEEP_KEY_BYTES] = pp_arena_alloc(arena, sizeof(*keys) * (size_t)grid.points);

    cr_assert_gt(grid.points, 10000);
    for (int64_t i = 0; i < grid.points; i++)
        pp_grid_key(&grid, i, keys[i]);
    qsort(keys, (size_t)grid.points, sizeof(*keys), by_text);
    for (int64_t i = 1; i < grid.points; i++)
        cr_assert_str_neq(keys[i - 1], keys[i]);
}

Test(sweep_keys, contents_of_a_program_file_are_part_of_its_key)
{
    static const char *const programs[] = {"0F0,0B0\n", "0F0,0F1,0B0,0B1\n"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char folder[] = "/tmp/sweep_grid.XXXXXX";
    const char *keys[3];

    cr_assert_not_null(mkdtemp(folder));
    const char *path = pp_arena_printf(arena, "%s/p.csv", folder);
    for (int i = 0; i < 3; i++) {
        FILE *file = fopen(path, "w");
        fputs(programs[i % 2], file);
        fclose(file);
        keys[i] = key_at(arena, pp_arena_printf(arena, "--schedule %s --unit F=1", path), 0);
    }
    remove(path);
    remove(folder);
    cr_assert_str_neq(keys[0], keys[1]);
    cr_assert_str_eq(keys[0], keys[2]);
}
