/* A sweep as bars of bytes: a bar for each row. */
#include "plots/curves/chart.h"

#include <math.h>
#include <string.h>

enum { MAX_BARS = 256 };
static const char *const PART_COLUMNS[PP_PLOT_MEMORY_PARTS] = {
    "params_bytes",      "grads_bytes",   "optimizer_bytes",
    "activations_bytes", "buffers_bytes", "other_bytes"};

/* ---- labels ---------------------------------------------------------------------------------- */

static bool is_like(const struct pp_chart *c, int a, int b)
{
    for (int k = 0; k < c->by_count; k++)
        if (strcmp(pp_chart_cell(c, a, c->by[k]), pp_chart_cell(c, b, c->by[k])) != 0)
            return false;
    return true;
}

/* Does the column tell rows apart that the ones before do not? */
static bool tells_more(const struct pp_chart *c, int column)
{
    for (int i = 0; i < c->row_count; i++)
        for (int k = i + 1; k < c->row_count; k++)
            if (is_like(c, c->rows[i], c->rows[k]) &&
                strcmp(pp_chart_cell(c, c->rows[i], column),
                       pp_chart_cell(c, c->rows[k], column)) != 0)
                return true;
    return false;
}

static enum pp_status choose_by(struct pp_chart *c, struct pp_error *err)
{
    const char *by = c->curves->by;

    if (!by) { /* what follows from others only where they do not suffice */
        for (int follows = 0; follows < 2; follows++)
            for (int k = 0; k < c->table.column_count && c->by_count < PP_BY_MAX; k++)
                if (pp_chart_is_input(c, k) && pp_chart_follows(c, k) == follows &&
                    tells_more(c, k))
                    c->by[c->by_count++] = k;
        return PP_OK;
    }
    char *list = pp_arena_strdup(c->arena, by);
    for (char *name; (name = strsep(&list, ","));) {
        if (c->by_count == PP_BY_MAX)
            return pp_error_set(err, PP_EINVAL, "--by %s: at most %d columns", by, PP_BY_MAX);
        if (*name)
            PP_TRY(pp_table_column(&c->table, "--by", name, &c->by[c->by_count++], err));
    }
    return PP_OK;
}

/* "2" where the axis is called "sequences per micro-batch"; of several columns "mbs 2, zero 0". */
static const char *label_of(const struct pp_chart *c, int row)
{
    const char *text = "";

    if (c->by_count == 1)
        return pp_chart_cell(c, row, c->by[0]);
    for (int k = 0; k < c->by_count; k++)
        text = pp_arena_printf(
            c->arena, "%s%s%s", text, k ? ", " : "",
            pp_column_value(c->arena, c->table.columns[c->by[k]], pp_chart_cell(c, row, c->by[k])));
    return text;
}

static const char *axis_of(const struct pp_chart *c)
{
    return c->by_count == 1 ? pp_column_name(c->arena, c->table.columns[c->by[0]]).text : "";
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* NAN where the cell is empty. */
static enum pp_status number(const struct pp_chart *c, int row, const char *column, double *value,
                             struct pp_error *err)
{
    const int at = pp_table_find(&c->table, column);
    bool is_number;

    if (at < 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no column %s: memory is drawn from what pipesim sweep writes",
                            c->table.name, column);
    *value = pp_table_number(&c->table, row, at, &is_number);
    if (!is_number || *value < 0 || isinf(*value))
        return pp_error_set(err, PP_EINVAL, "%s:%d: %s '%.40s' is not a number of at least 0",
                            c->table.name, c->table.lines[row], column, pp_chart_cell(c, row, at));
    return PP_OK;
}

struct row {
    double parts[PP_PLOT_MEMORY_PARTS], activations, capacity;
    bool is_unit; /* no bytes are known */
};

static enum pp_status read_row(const struct pp_chart *c, int row, struct row *r,
                               struct pp_error *err)
{
    *r = (struct row){0};
    for (int k = 0; k < PP_PLOT_MEMORY_PARTS; k++) {
        PP_TRY(number(c, row, PART_COLUMNS[k], &r->parts[k], err));
        r->is_unit = r->is_unit || isnan(r->parts[k]);
    }
    PP_TRY(number(c, row, "peak_activations", &r->activations, err));
    if (pp_table_find(&c->table, "device_mem_bytes") >= 0)
        PP_TRY(number(c, row, "device_mem_bytes", &r->capacity, err));
    return PP_OK;
}

static bool does_not_fit(const struct pp_chart *c, int row)
{
    const int fits = pp_table_find(&c->table, "fits");

    return fits >= 0 && !strcmp(pp_chart_cell(c, row, fits), "false");
}

static enum pp_status fill(const struct pp_chart *c, struct pp_plot_memory *memory,
                           struct pp_error *err)
{
    const int bars = c->row_count;
    const char **labels = PP_ARRAY(c->arena, const char *, bars);
    double(*bytes)[PP_PLOT_MEMORY_PARTS] = pp_arena_alloc(c->arena, sizeof(*bytes) * (size_t)bars);
    double *activations = PP_ARRAY(c->arena, double, bars), capacity = 0;
    bool *is_over = PP_ARRAY(c->arena, bool, bars), is_unit = false;

    for (int i = 0; i < bars; i++) {
        struct row row;
        PP_TRY(read_row(c, c->rows[i], &row, err));
        if (i > 0 && row.is_unit != is_unit)
            return pp_error_set(err, PP_EINVAL,
                                "%s:%d: some rows have bytes and others, in unit mode, have none",
                                c->table.name, c->table.lines[c->rows[i]]);
        is_unit = row.is_unit;
        labels[i] = label_of(c, c->rows[i]);
        memcpy(bytes[i], row.parts, sizeof(row.parts));
        activations[i] = isnan(row.activations) ? 0 : row.activations;
        is_over[i] = does_not_fit(c, c->rows[i]);
        capacity = i == 0 || capacity == row.capacity ? row.capacity : 0; /* one line for all */
    }
    *memory = (struct pp_plot_memory){
        .title = pp_plot_memory_title(c->arena, NULL, is_unit),
        .labels = labels,
        .axis = axis_of(c),
        .part_bytes = is_unit ? NULL : (const double(*)[PP_PLOT_MEMORY_PARTS])bytes,
        .activations = activations,
        .is_over = is_over,
        .bars = bars,
        .capacity_bytes = isnan(capacity) ? 0 : capacity};
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
