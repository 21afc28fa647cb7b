/* An existing file is refused and left as it is, or continued. A continued file is in order and
 * complete, and a second run finds nothing to do. */
#include "sim/sweep/read.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/sim/sweep/file/fake_grid.h"

#include <unistd.h>

enum { POINTS = 5 };

static char path[] = "/tmp/fuzz_sweep_file_XXXXXX";

static void put_file(const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    FUZZ_CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static char *get_file(struct pp_arena *arena, size_t *size)
{
    char *text = pp_arena_alloc_raw(arena, 1 << 21);
    FILE *file = fopen(path, "rb");

    FUZZ_CHECK(file != NULL);
    *size = fread(text, 1, 1 << 21, file);
    fclose(file);
    return text;
}

static void check_complete(struct pp_arena *arena)
{
    struct pp_sweep_lines lines;
    struct pp_error err;
    size_t size;
    const char *text = get_file(arena, &size);

    FUZZ_CHECK(pp_sweep_read(arena, "f", text, size, &lines, &err) == PP_OK);
    FUZZ_CHECK(lines.count == POINTS && lines.torn_line == 0);
    for (int64_t i = 0; i < POINTS; i++)
        FUZZ_CHECK(lines.rows[i].point == i && lines.rows[i].points == POINTS);
}

/* Returns how many points are left to do, -1 for a refused file. */
static int session(struct pp_arena *arena)
{
    const struct pp_grid grid = {.points = POINTS};
    bool wanted[POINTS] = {true, true, true, true, true};
    char key[PP_SWEEP_KEY_BYTES];
    struct pp_sweep_file *file;
    struct pp_error err;
    int added = 0;

    const enum pp_status status =
        pp_sweep_file_open(arena, path, NULL, &grid, false, wanted, &file, &err);
    if (status != PP_OK) {
        FUZZ_CHECK(status == PP_EINVAL && !strncmp(err.message, path, sizeof(path) - 1));
        return -1;
    }
    for (int64_t i = POINTS - 1; i >= 0; i--) {
        if (!wanted[i])
            continue;
        const char *row = pp_arena_printf(arena, "%d,0,,,ok,,%d,%s\n", (int)i, POINTS,
                                          pp_grid_key(&grid, i, key));
        FUZZ_CHECK(pp_sweep_file_add(file, i, row, strlen(row), &err) == PP_OK);
        added++;
    }
    FUZZ_CHECK(pp_sweep_file_counts(file).rows == POINTS);
    FUZZ_CHECK(pp_sweep_file_close(file, &err) == PP_OK);
    return added;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();

    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
    const int fd = mkstemp(path);
    FUZZ_CHECK(fd >= 0 && close(fd) == 0);
    put_file(data, size);
    if (session(arena) < 0) {
        size_t left;
        const char *text = get_file(arena, &left);
        FUZZ_CHECK(left == size && (size == 0 || memcmp(text, data, size) == 0));
    } else {
        check_complete(arena);
        FUZZ_CHECK(session(arena) == 0);
    }
    unlink(path);
    pp_arena_destroy(arena);
    return 0;
}
