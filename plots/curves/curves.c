/* Any column of a table over any other, a curve for each series. */
#include "plots/curves/chart.h"

static void derive(struct pp_arena *arena, struct pp_table *table)
{
    static const struct {
        const char *name, *above, *below;
    } RATIOS[] = {
        {"gbs_per_gpu", "gbs", "gpus"},
        {"peak_micro_batches", "peak_activations", "vp"},
    };

    for (size_t i = 0; i < sizeof(RATIOS) / sizeof(*RATIOS); i++) {
        const int above = pp_table_find(table, RATIOS[i].above),
                  below = pp_table_find(table, RATIOS[i].below);
        if (above >= 0 && below >= 0 && pp_table_find(table, RATIOS[i].name) < 0)
            pp_table_add_ratio(arena, table, RATIOS[i].name, above, below);
    }
}

enum pp_status pp_plot_curves(struct pp_arena *arena, const struct pp_table *table,
                              const struct pp_curves *curves, const struct pp_plot_target *target,
                              struct pp_error *err)
{
    struct pp_chart chart = {
        .arena = arena,
        .table = *table,
        .curves = curves,
        .kind = curves->kind ? curves->kind : &pp_curve_kinds[0],
        .target = target,
        .notes = curves->notes,
    };

    derive(arena, &chart.table);
    pp_chart_tell_missing(&chart);
    PP_TRY(pp_chart_select(&chart, err));
    PP_TRY(pp_chart_choose(&chart, err));
    PP_TRY(pp_chart_group(&chart, err));
    pp_chart_tell_changes(&chart);
    PP_TRY(pp_chart_join(&chart, err));
    PP_TRY(pp_chart_read_marks(&chart, err));
    return pp_chart_draw(&chart, err);
}
