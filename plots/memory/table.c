/* A sweep as bars of bytes: a bar for each row. */
#include "plots/curves/chart.h"

#include <math.h>
#include <string.h>

enum { MAX_BARS = 256 };

/* ---- labels ---------------------------------------------------------------------------------- */

/* Is true if the column tells rows apart that the chosen columns do not. */
static bool tells_more(const struct pp_chart *c, int column)
{
    for (int i = 0; i < c->row_count; i++)
        for (int k = i + 1; k < c->row_count; k++)
            if (pp_chart_is_same_series(c, c->rows[i], c->rows[k]) &&
                strcmp(pp_chart_cell(c, c->rows[i], column),
                       pp_chart_cell(c, c->rows[k], column)) != 0)
                return true;
    return false;
}

static enum pp_status choose_by(struct pp_chart *c, struct pp_error *err)
{
    if (c->curves->by)
        return pp_chart_read_by(c, err);
    for (int follows = 0; follows < 2; follows++) /* only if others do not suffice */
        for (int k = 0; k < c->table.column_count && c->by_count < PP_BY_MAX; k++)
            if (pp_chart_is_input(c, k) && pp_chart_follows(c, k) == follows && tells_more(c, k))
                c->by[c->by_count++] = k;
    return PP_OK;
}

/* "2" if the axis is called "sequences per micro-batch"; of several columns "mbs 2, zero 0". */
static const char *label_of(const struct pp_chart *c, int row)
{
    const char *text = "";

    if (c->by_count == 1)
        return pp_chart_cell(c, row, c->by[0]);
    for (int k = 0; k < c->by_count; k++)
        text = pp_arena_printf(c->arena, "%s%s%s", text, k ? ", " : "",
                               pp_column_value(c->arena, &c->table, c->table.columns[c->by[k]],
                                               pp_chart_cell(c, row, c->by[k])));
    return text;
}

static const char *axis_of(const struct pp_chart *c)
{
    return c->by_count == 1 ? pp_column_name(c->arena, &c->table, c->by[0]).text : "";
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Reads a number of at least 0; NAN if the cell is empty. */
static enum pp_status number(const struct pp_chart *c, int row, const char *column, double *value,
                             struct pp_error *err)
{
    const int at = pp_table_find(&c->table, column);
    bool is_number;

    if (at < 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no column %s: memory is drawn from files of pipesim sweep",
                            c->table.name, column);
    *value = pp_table_number(&c->table, row, at, &is_number);
    if (!is_number || *value < 0 || isinf(*value))
        return pp_error_set(err, PP_EINVAL, "%s:%d: %s '%.40s' is not a number of at least 0",
                            c->table.name, c->table.lines[row], column, pp_chart_cell(c, row, at));
    return PP_OK;
}

/* Reads the bar of a row. Bytes are NAN in unit mode; activations are micro-batches of a rank. */
static enum pp_status read_bar(const struct pp_chart *c, int row, struct pp_plot_bar *bar,
                               bool *is_unit, struct pp_error *err)
{
    const int fits = pp_table_find(&c->table, "fits");
    const bool has_vp = pp_table_find(&c->table, "vp") >= 0;
    double vp = 1;

    *is_unit = false;
    for (int k = 0; k < PP_PLOT_MEMORY_PARTS; k++) {
        const struct pp_plot_memory_part *part = &pp_plot_memory_parts[k];
        if (part->is_rare && pp_table_find(&c->table, part->key) < 0)
            continue;
        PP_TRY(number(c, row, part->key, &bar->part_bytes[k], err));
        *is_unit |= isnan(bar->part_bytes[k]);
    }
    PP_TRY(number(c, row, "peak_activations", &bar->activations, err));
    if (has_vp)
        PP_TRY(number(c, row, "vp", &vp, err));
    bar->activations = isnan(bar->activations) ? 0 : bar->activations / (vp > 1 ? vp : 1);
    bar->label = label_of(c, row);
    bar->is_over = fits >= 0 && !strcmp(pp_chart_cell(c, row, fits), "false");
    return PP_OK;
}

static enum pp_status fill(const struct pp_chart *c, struct pp_plot_memory *memory,
                           struct pp_error *err)
{
    const bool has_device = pp_table_find(&c->table, "device_mem_bytes") >= 0;
    bool is_unit = false, is_first_unit = false;
    double capacity = 0, of_row = 0;

    *memory = (struct pp_plot_memory){.bars = PP_ARRAY(c->arena, struct pp_plot_bar, c->row_count),
                                      .count = c->row_count,
                                      .axis = axis_of(c),
                                      .has_fits = true};
    for (int i = 0; i < c->row_count; i++) {
        PP_TRY(read_bar(c, c->rows[i], &memory->bars[i], &is_unit, err));
        if (has_device)
            PP_TRY(number(c, c->rows[i], "device_mem_bytes", &of_row, err));
        is_first_unit = i == 0 ? is_unit : is_first_unit;
        if (is_unit != is_first_unit)
            return pp_error_set(err, PP_EINVAL,
                                "%s:%d: some rows have bytes and others, in unit mode, have none",
                                c->table.name, c->table.lines[c->rows[i]]);
        capacity = i == 0 || capacity == of_row ? of_row : 0; /* equal in all rows */
    }
    memory->has_bytes = !is_unit;
    memory->is_of_ranks = pp_table_find(&c->table, "vp") >= 0;
    memory->title = pp_plot_memory_title(c->arena, NULL, is_unit);
    memory->capacity_bytes = isnan(capacity) ? 0 : capacity;
    return PP_OK;
}

enum pp_status pp_plot_memory_table(struct pp_arena *arena, const struct pp_table *table,
                                    const struct pp_curves *options, struct pp_plot_memory *memory,
                                    struct pp_error *err)
{
    struct pp_chart chart = {.arena = arena,
                             .table = *table,
                             .curves = options,
                             .notes = options->notes,
                             .x = -1,
                             .y = -1};

    PP_TRY(pp_chart_select(&chart, err));
    if (chart.row_count > MAX_BARS)
        return pp_error_set(err, PP_EINVAL,
                            "%s has %d rows, a bar for each is too much: at most %d; choose some "
                            "with --where COLUMN=VALUE",
                            table->name, chart.row_count, MAX_BARS);
    PP_TRY(choose_by(&chart, err));
    return fill(&chart, memory, err);
}
