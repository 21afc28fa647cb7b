/* A table is read or refused with its line; every kind of curves draws it or says why not. The
 * first byte chooses the kind, its logarithms, and whether the table is that of the points, too. */
#include "plots/plot.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <unistd.h>

static void check_table(const struct pp_table *table)
{
    for (int i = 0; i < table->column_count; i++) {
        const int found = pp_table_find(table, table->columns[i]);
        FUZZ_CHECK(found == i);
    }
    for (int row = 0; row < table->rows; row++)
        FUZZ_CHECK(table->lines[row] > (row ? table->lines[row - 1] : 1));
}

static void draw(struct pp_arena *arena, const struct pp_table *table, unsigned choice)
{
    enum { KINDS = 6 };
    const char *path = pp_arena_printf(arena, "/tmp/fuzz_table.%d.gp", (int)getpid());
    const struct pp_plot_target target = {
        .format = PP_PLOT_SCRIPT, .path = path, .is_paper = choice & 64};
    const struct pp_curves curves = {.kind = &pp_curve_kinds[choice % KINDS],
                                     .by = choice & 8 ? "schedule" : NULL,
                                     .points = choice & 128 ? table : NULL,
                                     .has_log_x = choice & 16,
                                     .has_log_y = choice & 32,
                                     .x_range = choice & 64 ? ":7" : NULL,
                                     .y_range = choice & 128 ? "0:50%" : NULL};
    struct pp_error err = {0};

    const enum pp_status status = pp_plot_curves(arena, table, &curves, &target, &err);
    FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && *err.message));
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_table table;

    if (size > 0) {
        const enum pp_status status =
            pp_table_parse(arena, "f", (const char *)data + 1, size - 1, &table, &err);
        FUZZ_CHECK(status == PP_OK || (status == PP_EINVAL && !strncmp(err.message, "f:", 2)));
        if (status == PP_OK) {
            check_table(&table);
            draw(arena, &table, data[0]);
        }
    }
    pp_arena_destroy(arena);
    return 0;
}
