/* Files of a sweep: their contents are part of the key, and stay what they were. */
#include "sim/sweep/check.h"
#include "tests/unit/sim/sweep/sweep_case.h"

#include <stdlib.h>
#include <unistd.h>

static struct pp_arena *arena;
static char folder[64];
static struct pp_error err;

static void start(void)
{
    arena = pp_arena_create();
    snprintf(folder, sizeof(folder), "/tmp/sweep_inputs.XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
}

static void stop(void)
{
    cr_assert(system(pp_arena_printf(arena, "rm -r %s", folder)) == 0);
    pp_arena_destroy(arena);
}

TestSuite(sweep_inputs, .init = start, .fini = stop);

static const char *put(const char *name, const char *text)
{
    const char *path = pp_arena_printf(arena, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");

    cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

static const char *put_model(int layers)
{
    return put(
        "m.json",
        pp_arena_printf(arena,
                        "{\"model_type\": \"gpt2\", \"n_layer\": %d, \"n_embd\": 64, \"n_head\": 4,"
                        " \"n_positions\": 128, \"vocab_size\": 1000}\n",
                        layers));
}

static const char *row_at(const struct pp_grid *grid, int64_t point)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    pp_sweep_run_point(arena, grid, point, out);
    fclose(out);
    const char *row = pp_arena_strdup(arena, text);
    free(text);
    return row;
}

Test(sweep_inputs, a_model_file_that_changes_fails_its_points_only)
{
    const char *path = put_model(8);
    const struct pp_grid grid = sc_grid(
        arena, pp_arena_printf(arena,
                               "--schedule 1f1b --model %s --model llama3-8b --gpus 4 --pp 4 "
                               "--micro-batches 8 --engine dag",
                               path));

    cr_assert_eq(grid.points, 2);
    cr_expect(strstr(row_at(&grid, 0), ",ok,"), "%s", row_at(&grid, 0));
    put_model(16);
    cr_expect(strstr(row_at(&grid, 0), pp_arena_printf(arena,
                                                       ",failed,%s has changed since the sweep "
                                                       "began,",
                                                       path)),
              "%s", row_at(&grid, 0));
    cr_expect(strstr(row_at(&grid, 1), ",ok,"), "%s", row_at(&grid, 1));
    cr_assert(unlink(path) == 0);
    cr_expect(strstr(row_at(&grid, 0), ",failed,"));
}

Test(sweep_inputs, a_program_in_memory_may_change_and_one_that_is_read_again_may_not)
{
    const char *path = put("p.csv", "0F0,0B0\n");
    const char *line = pp_arena_printf(arena, "--schedule %s --unit F=1", path);
    const struct pp_grid once = sc_grid(arena, line);
    const struct pp_grid again =
        sc_grid(arena, pp_arena_printf(arena, "%s --dialect 2025 --dialect 2024", line));

    cr_expect(strstr(row_at(&again, 0), ",ok,"), "%s", row_at(&again, 0));
    put("p.csv", "0F0,0F1,0B0,0B1\n");
    cr_expect(strstr(row_at(&once, 0), ",ok,"));
    cr_expect(strstr(row_at(&again, 0), "p.csv has changed since the sweep began"));
}

Test(sweep_inputs, pipes_are_refused)
{
    struct pp_grid grid;
    int ends[2];

    cr_assert(pipe(ends) == 0);
    cr_expect_eq(sc_open(arena,
                         pp_arena_printf(arena, "--schedule 1f1b --model /dev/fd/%d", ends[0]),
                         &grid, &err),
                 PP_EINVAL);
    cr_expect(strstr(err.message, "give a file"), "%s", err.message);
}

/* ---- platforms ------------------------------------------------------------------------------- */

static const char *platform_key(const char *path, struct pp_grid *grid)
{
    const char *values[] = {path}, *key = path;
    struct pp_grid_axis axis = {.values = values, .count = 1};

    while (strcmp(pp_sim_cli.options[axis.option].name, "cluster") != 0)
        axis.option++;
    *grid = (struct pp_grid){.axes = &axis, .axis_count = 1};
    cr_assert_eq(pp_sweep_inputs_open(arena, grid, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_sweep_input_key(arena, grid, 0, 0, &key, &err), PP_OK, "%s", err.message);
    return key;
}

Test(sweep_inputs, what_a_platform_names_belongs_to_it)
{
    struct pp_grid grid;

    put("slow.trace", "0 1e9\n");
    const char *path = put("p.xml", "<link id=\"l\" bandwidth_file = 'slow.trace'"
                                    " latency_file=\"nowhere\" profile=\"p.xml\"/>\n");
    const char *before = platform_key(path, &grid);

    cr_assert_eq(grid.file_count, 2);
    cr_assert_str_eq(strrchr(grid.files[1].path, '/'), "/slow.trace");
    cr_assert_eq(pp_sweep_inputs_check(&grid, &err), PP_OK);
    put("slow.trace", "0 2e9\n5 1e9\n");
    cr_assert_eq(pp_sweep_inputs_check(&grid, &err), PP_EFAIL);
    cr_assert(strstr(err.message, "slow.trace has changed while it was read"));
    cr_assert_str_neq(platform_key(path, &grid), before);
    put("slow.trace", "0 1e9\n");
    cr_assert_str_eq(platform_key(path, &grid), before);
}

Test(sweep_inputs, an_input_is_known_by_any_of_its_names)
{
    const char *path = put_model(8), *option = NULL;
    const struct pp_grid grid =
        sc_grid(arena, pp_arena_printf(arena, "--schedule 1f1b --model %s", path));
    const char *twin = pp_arena_printf(arena, "%s/twin", folder);

    cr_assert(link(path, twin) == 0);
    cr_expect_str_eq(pp_sweep_inputs_find(&grid, twin, &option), path);
    cr_expect_str_eq(option, "model");
    cr_expect_null(pp_sweep_inputs_find(&grid, put("other", ""), &option));
}
