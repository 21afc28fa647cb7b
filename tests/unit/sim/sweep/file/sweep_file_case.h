/* A result file in a folder of its own, and rows of a grid that needs no simulator. */
#ifndef PP_TESTS_UNIT_SWEEP_FILE_CASE_H
#define PP_TESTS_UNIT_SWEEP_FILE_CASE_H

#include "sim/sweep/read.h"
#include "tests/unit/sim/sweep/file/fake_grid.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POINTS_MAX = 64, ROW_BYTES = 256 };

static struct pp_arena *arena;
static struct pp_error err;
static char folder[64], path[128];

static inline void start(void)
{
    arena = pp_arena_create();
    snprintf(folder, sizeof(folder), "/tmp/test_sweep_file_XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/sweep.csv", folder);
    fake_base = 0;
    fake_stride = 1;
}

static inline void finish(void)
{
    char command[128];

    pp_arena_destroy(arena);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert(system(command) == 0);
}

/* ---- rows and files -------------------------------------------------------------------------- */

static inline struct pp_grid grid_of(int64_t points)
{
    return (struct pp_grid){.points = points};
}

/* Some are refused, with a reason of several lines, some do not fit. */
static inline const char *row_of(int64_t point, int64_t points, bool is_failed)
{
    static char row[ROW_BYTES];
    char key[PP_SWEEP_KEY_BYTES];
    const int64_t value = fake_value(point);
    const struct pp_grid grid = grid_of(points);

    pp_grid_key(&grid, point, key);
    if (is_failed)
        snprintf(row, sizeof(row), "%d,%d,,,failed,ended by signal 9,%d,%s\n", (int)point,
                 (int)value, (int)points, key);
    else if (value % 5 == 3)
        snprintf(row, sizeof(row), "%d,%d,,,refused,\"value %d is odd,\n\"\"very\"\" odd\",%d,%s\n",
                 (int)point, (int)value, (int)value, (int)points, key);
    else
        snprintf(row, sizeof(row), "%d,%d,\"a, %*s\",%s,ok,,%d,%s\n", (int)point, (int)value,
                 (int)(value % 60), "b", value % 4 == 1 ? "false" : "true", (int)points, key);
    return row;
}

static inline const char *all_rows(int64_t points)
{
    const char *text = FAKE_HEADER "\n";

    for (int64_t i = 0; i < points; i++)
        text = pp_arena_printf(arena, "%s%s", text, row_of(i, points, false));
    return text;
}

static inline char *contents(const char *name, size_t *length)
{
    char *text = pp_arena_alloc(arena, 1 << 20);
    FILE *file = fopen(name, "rb");

    cr_assert(file != NULL, "%s", name);
    *length = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

static inline void check_contents(const char *name, const char *expected)
{
    size_t length;
    const char *text = contents(name, &length);

    cr_assert_str_eq(text, expected);
}

static inline void put_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");

    cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static inline void want(bool wanted[POINTS_MAX], int64_t points)
{
    for (int64_t i = 0; i < POINTS_MAX; i++)
        wanted[i] = i < points;
}

static inline struct pp_sweep_file *opened(const struct pp_grid *grid, bool *wanted)
{
    struct pp_sweep_file *file = NULL;

    cr_assert(pp_sweep_file_open(arena, path, NULL, grid, false, wanted, &file, &err) == PP_OK,
              "%s", err.message);
    return file;
}

static inline void add(struct pp_sweep_file *file, int64_t point, int64_t points, bool is_failed)
{
    const char *row = row_of(point, points, is_failed);

    cr_assert(pp_sweep_file_add(file, point, row, strlen(row), &err) == PP_OK, "%s", err.message);
}

static inline void close_file(struct pp_sweep_file *file)
{
    cr_assert(pp_sweep_file_close(file, &err) == PP_OK, "%s", err.message);
}

/* No temporary file next to it. */
static inline void check_alone(void)
{
    char command[128];

    snprintf(command, sizeof(command), "test \"$(ls -A %s)\" = sweep.csv", folder);
    cr_assert(system(command) == 0);
}

static inline int64_t count_wanted(const bool *wanted)
{
    int64_t count = 0;

    for (int i = 0; i < POINTS_MAX; i++)
        count += wanted[i];
    return count;
}

static inline void check_fails(const char *name, enum pp_status status, const char *message)
{
    const struct pp_grid grid = grid_of(2);
    struct pp_sweep_file *file;
    bool wanted[POINTS_MAX];

    want(wanted, 2);
    cr_assert(pp_sweep_file_open(arena, name, NULL, &grid, false, wanted, &file, &err) == status);
    cr_assert(strstr(err.message, message) != NULL, "%s", err.message);
}

/* ---- by chance ------------------------------------------------------------------------------- */

static uint64_t state;

static inline int64_t below(int64_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)limit);
}

/* Add some of what is wanted, in any order. Some fail: they remain to be done. */
static inline void add_some(struct pp_sweep_file *file, bool *wanted, int64_t points, int64_t count,
                            bool may_fail)
{
    bool is_left[POINTS_MAX];

    memcpy(is_left, wanted, sizeof(is_left));
    for (int64_t left = count_wanted(is_left); left > 0 && count > 0; left--, count--) {
        int64_t turn = below(left), point = 0;
        for (;; point++)
            if (is_left[point] && turn-- == 0)
                break;
        is_left[point] = false;
        add(file, point, points, may_fail && below(6) == 0);
    }
}

#endif
