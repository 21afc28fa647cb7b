/* The rows of a sweep that is read do not differ from themselves, and can be compared with fewer of
 * them. A file that is no sweep is refused with its name. */
#include "sim/check/baseline.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void check_rows(struct pp_arena *arena, struct pp_table *table, json_t *rows)
{
    struct pp_changes same, fewer;
    struct pp_error err = {0};
    json_t *rest;

    FUZZ_CHECK(json_array_size(json_object_get(rows, "runs")) == (size_t)table->rows);
    pp_baseline_diff(arena, rows, rows, 0, &same);
    FUZZ_CHECK(same.count == 0 && same.words == 0 && same.added == 0);
    if (table->rows == 0)
        return;
    table->rows--;
    FUZZ_CHECK(pp_baseline_sweep(arena, table, &rest, &err) == PP_OK);
    pp_baseline_diff(arena, rows, rest, 0, &fewer);
    FUZZ_CHECK(fewer.count <= fewer.figures);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_table table;
    struct pp_error err = {0};
    json_t *rows;
    enum pp_status status = pp_table_parse(arena, "f", (const char *)data, size, &table, &err);

    if (status == PP_OK)
        status = pp_baseline_sweep(arena, &table, &rows, &err);
    if (status != PP_OK)
        FUZZ_CHECK(status == PP_EINVAL && err.status == status && !strncmp(err.message, "f:", 2));
    else
        check_rows(arena, &table, rows);
    pp_arena_destroy(arena);
    return 0;
}
