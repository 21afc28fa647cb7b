/* Any column of a table over any other, a curve for each series. */
#include "core/quantile.h"
#include "plots/curves/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Notes missing points: rows have the number of points of their sweep, merged sweeps several. */
static void tell_missing(const struct pp_chart *chart)
{
    const struct pp_table *table = &chart->table;
    const int column = pp_table_find(table, "points");
    double *counts = PP_ARRAY(chart->arena, double, table->rows), total = 0;

    if (!chart->notes || column < 0 || pp_table_find(table, "key") < 0)
        return;
    for (int i = 0; i < table->rows; i++) {
        counts[i] = pp_table_number(table, i, column, NULL);
        if (isnan(counts[i]))
            return;
    }
    qsort(counts, (size_t)table->rows, sizeof(*counts), pp_ascending);
    for (int i = 0; i < table->rows; i++)
        total += i == 0 || counts[i] > counts[i - 1] ? counts[i] : 0;
    if (table->rows < total)
        fprintf(chart->notes, "note: %d of %.0f points are there\n", table->rows, total);
}

static bool is_expected(const struct pp_chart *chart, int column)
{
    /* Products of other inputs, which do not describe the layout. */
    static const char *const PRODUCTS[] = {"gpus", "dp", "gbs", "micro_batches"};
    const char *name = chart->table.columns[column];
    bool is_found = column == chart->x || pp_chart_is_by(chart, column) ||
                    (pp_chart_is_abstract(chart) &&
                     !strcmp(chart->table.columns[chart->x], "gpus") && !strcmp(name, "pp"));

    if (pp_table_serves(&chart->table)) /* sizes of training, which no one gave */
        is_found |= pp_chart_follows(chart, column) || !strcmp(name, "batch");
    for (size_t i = 0; i < PP_COUNT(PRODUCTS); i++)
        is_found |= !strcmp(name, PRODUCTS[i]);
    return is_found;
}

static bool changes_along(const struct pp_chart *chart, int column)
{
    for (int s = 0; s < chart->series_count; s++) {
        const struct pp_curve *curve = &chart->series[s];
        for (int i = 1; i < curve->count; i++)
            if (strcmp(pp_chart_cell(chart, curve->points[i].row, column),
                       pp_chart_cell(chart, curve->points[0].row, column)) != 0)
                return true;
    }
    return false;
}

/* Notes inputs that change along the curves and are neither x nor in the names of series. */
static void tell_changes(const struct pp_chart *chart)
{
    const char *text = "";
    int count = 0;

    /* Inputs of other tables are not known. */
    if (!chart->notes || chart->kind->is_scatter || chart->is_categorical ||
        pp_table_find(&chart->table, "iteration_s") < 0)
        return;
    for (int c = 0; c < chart->table.column_count; c++)
        if (pp_chart_is_input(chart, c) && !is_expected(chart, c) && changes_along(chart, c))
            text = pp_arena_printf(chart->arena, "%s%s%s", text, count++ ? ", " : "",
                                   chart->table.columns[c]);
    if (count > 0)
        fprintf(chart->notes, "note: %s change%s along the curves, too\n", text,
                count > 1 ? "" : "s");
}

static void derive(struct pp_arena *arena, struct pp_table *table)
{
    static const struct {
        const char *name, *above, *below;
    } RATIOS[] = {
        {"gbs_per_gpu", "gbs", "gpus"},
        {"peak_micro_batches", "peak_activations", "vp"},
    };

    for (size_t i = 0; i < PP_COUNT(RATIOS); i++) {
        const int above = pp_table_find(table, RATIOS[i].above),
                  below = pp_table_find(table, RATIOS[i].below);
        if (above >= 0 && below >= 0 && pp_table_find(table, RATIOS[i].name) < 0)
            pp_table_add_ratio(arena, table, RATIOS[i].name, above, below);
    }
}

/* Layouts of a plan have no order that a curve could follow: their points are drawn. */
static const struct pp_curve_kind LAYOUTS = {
    .name = "curves", .x = "peak_mem_bytes", .y = "iteration_s", .is_scatter = true};

static const struct pp_curve_kind *kind_of(const struct pp_table *table,
                                           const struct pp_curves *curves)
{
    const bool is_plain = !curves->kind || curves->kind == &pp_curve_kinds[0];

    if (is_plain && !curves->x && !curves->y && pp_table_find(table, "bound_s") >= 0)
        return &LAYOUTS;
    return curves->kind ? curves->kind : &pp_curve_kinds[0];
}

enum pp_status pp_plot_curves(struct pp_arena *arena, const struct pp_table *table,
                              const struct pp_curves *curves, const struct pp_plot_target *target,
                              struct pp_error *err)
{
    struct pp_chart chart = {
        .arena = arena,
        .table = *table,
        .curves = curves,
        .kind = kind_of(table, curves),
        .target = target,
        .notes = curves->notes,
    };

    derive(arena, &chart.table);
    tell_missing(&chart);
    PP_TRY(pp_chart_select(&chart, err));
    PP_TRY(pp_chart_choose(&chart, err));
    PP_TRY(pp_chart_group(&chart, err));
    tell_changes(&chart);
    PP_TRY(pp_chart_join(&chart, err));
    PP_TRY(pp_chart_read_marks(&chart, err));
    return pp_chart_draw(&chart, err);
}
