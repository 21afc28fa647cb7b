/* Pictures of a sweep that have a name. */
#include "plots/curves/chart.h"

#include <math.h>

/* Is true if a / b is the same in all rows; a alone if b is -1. */
static bool is_constant(const struct pp_chart *chart, int a, int b)
{
    double first = (double)NAN;

    for (int i = 0; i < chart->row_count; i++) {
        double value = pp_table_number(&chart->table, chart->rows[i], a, NULL);
        if (b >= 0)
            value /= pp_table_number(&chart->table, chart->rows[i], b, NULL);
        if (isnan(value))
            continue;
        if (isnan(first))
            first = value;
        if (fabs(value - first) > 1e-9 * fabs(first))
            return false;
    }
    return !isnan(first);
}

/* Sets the heading, and returns y: strong scaling has one batch, weak scaling one batch per GPU. */
static const char *scaling(struct pp_chart *chart)
{
    const int gbs = pp_table_find(&chart->table, "gbs"),
              gpus = pp_table_find(&chart->table, "gpus");

    if (gbs < 0 || gpus < 0)
        return NULL;
    const char *const cell = pp_chart_cell(chart, chart->rows[0], gbs);
    if (is_constant(chart, gbs, gpus)) {
        const double share = pp_table_number(&chart->table, chart->rows[0], gbs, NULL) /
                             pp_table_number(&chart->table, chart->rows[0], gpus, NULL);
        chart->heading =
            pp_arena_printf(chart->arena, "weak scaling, %s",
                            pp_column_value(chart->arena, &chart->table, "gbs_per_gpu",
                                            pp_arena_printf(chart->arena, "%.4g", share)));
        chart->is_from_zero = true;
        return "mfu";
    }
    if (is_constant(chart, gbs, -1)) {
        chart->heading = pp_arena_printf(chart->arena, "strong scaling, %s",
                                         pp_column_value(chart->arena, &chart->table, "gbs", cell));
        chart->has_ideal = !chart->curves->y && !chart->curves->x;
        return "tokens_per_s";
    }
    if (chart->notes)
        fprintf(
            chart->notes,
            "note: neither gbs nor gbs per GPU is the same in all rows: neither strong nor weak "
            "scaling\n  for curves of weak scaling: -x gpus -y mfu --by %sgbs_per_gpu\n",
            pp_table_find(&chart->table, "schedule") < 0 ? "" : "schedule,");
    return "tokens_per_s_per_gpu";
}

const struct pp_curve_kind pp_curve_kinds[] = {
    {
        .name = "curves",
    },
    {.name = "scatter", .is_scatter = true},
    {.name = "bubble", .x = "micro_batches", .y = "bubble_frac"},
    {.name = "scaling", .x = "gpus", .y = "mfu", .adapt = scaling},
    {.name = "throughput", .x = "gbs_per_gpu", .y = "tokens_per_s_per_gpu"},
    {.name = "throughput-latency",
     .x = "token_s",
     .y = "tokens_per_s",
     .along = "batch",
     .is_scatter = true,
     .is_joined = true},
    {.name = "tradeoff",
     .x = "peak_mem_bytes|peak_micro_batches|peak_activations",
     .y = "bubble_frac|iteration_s",
     .is_scatter = true,
     .is_joined = true,
     .is_labelled = true},
    {.name = NULL},
};
