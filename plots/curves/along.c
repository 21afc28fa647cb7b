/* The input that joins points of a series, if x is no input. It is the one input that varies; the
 * others are constant or follow it. */
#include "plots/curves/chart.h"

/* ---- the inputs of one series ---------------------------------------------------------------- */

/* Columns that vary within a series. */
struct inputs {
    struct pp_chart chart; /* only the rows of the series */
    int *columns, count;
};

static struct inputs inputs_of(const struct pp_chart *chart, const struct pp_curve *curve)
{
    struct inputs in = {.chart = *chart};

    in.chart.rows = PP_ARRAY(chart->arena, int, curve->count);
    in.chart.row_count = curve->count;
    in.columns = PP_ARRAY(chart->arena, int, chart->table.column_count);
    for (int i = 0; i < curve->count; i++)
        in.chart.rows[i] = curve->points[i].row;
    for (int c = 0; c < chart->table.column_count; c++)
        if (c != chart->x && pp_chart_is_input(chart, c) && pp_chart_varies(&in.chart, c) &&
            !(pp_table_serves(&chart->table) && pp_chart_follows(chart, c)))
            in.columns[in.count++] = c;
    return in;
}

/* Is true if rows that are equal in `a` are equal in `b`. */
static bool determines(const struct inputs *in, int a, int b)
{
    const int both[] = {in->columns[a], in->columns[b]};

    return pp_chart_distinct(&in->chart, both, 2) == pp_chart_distinct(&in->chart, both, 1);
}

/* The input that all others follow, preferably one that follows none. -1 = several vary freely. */
static int leader(const struct inputs *in)
{
    int found = -1;

    for (int a = 0; a < in->count; a++) {
        bool leads = true;
        for (int b = 0; b < in->count; b++) {
            if (!determines(in, a, b) && !determines(in, b, a))
                return -1;
            leads = leads && determines(in, a, b);
        }
        if (leads && (found < 0 || pp_chart_follows(&in->chart, in->columns[found])))
            found = a;
    }
    return found;
}

/* ---- refusing -------------------------------------------------------------------------------- */

/* Inputs that follow from no other; moves one with most values, which lines can follow, last. */
static int own_inputs(const struct inputs *in, int *own)
{
    int count = 0;

    for (int k = 0; k < in->count; k++)
        if (!pp_chart_follows(&in->chart, in->columns[k]))
            own[count++] = k;
    for (int i = 0; i + 1 < count; i++)
        if (pp_chart_distinct(&in->chart, &in->columns[own[i]], 1) >
            pp_chart_distinct(&in->chart, &in->columns[own[i + 1]], 1)) {
            const int most = own[i];
            own[i] = own[i + 1];
            own[i + 1] = most;
        }
    return count;
}

static enum pp_status refuse(const struct inputs *in, const struct pp_curve *curve,
                             struct pp_error *err)
{
    const struct pp_chart *chart = &in->chart;
    const char *const *names = chart->table.columns;
    int *own = PP_ARRAY(chart->arena, int, in->count);
    int count = own_inputs(in, own);
    const char *varied = "", *by = "", *where = "";

    for (int k = 0; count < 2 && k < in->count; k++) /* inputs unknown to pp_chart_follows() */
        own[k] = k;
    count = count < 2 ? in->count : count;
    for (int k = 0; k < chart->by_count; k++)
        by = pp_arena_printf(chart->arena, "%s%s%s", by, k ? "," : "", names[chart->by[k]]);
    for (int k = 0; k < count; k++) {
        const char *name = names[in->columns[own[k]]];
        varied = pp_arena_printf(chart->arena, "%s%s%s", varied,
                                 !k              ? ""
                                 : k + 1 < count ? ", "
                                                 : " and ",
                                 name);
        if (k + 1 == count)
            break;
        by = pp_arena_printf(chart->arena, "%s%s%s", by, *by ? "," : "", name);
        where = pp_arena_printf(chart->arena, "%s --where %s=%s", where, name,
                                pp_chart_cell(chart, chart->rows[0], in->columns[own[k]]));
    }
    return pp_error_set(err, PP_EINVAL,
                        "--kind %s joins points along one input, but %s of %s vary%s%s\n"
                        "  try: --by %s, or%s, or --kind scatter, which joins none",
                        chart->kind->name, varied, chart->table.name,
                        *curve->name ? " within " : "", curve->name, by, where);
}

/* ---- joining --------------------------------------------------------------------------------- */

/* Sorts points by the input if it is numeric; else keeps the order of the rows. */
static void order_points(const struct pp_chart *chart, struct pp_curve *curve)
{
    struct pp_chart one = *chart;
    int *rows = PP_ARRAY(chart->arena, int, curve->count);
    struct pp_curve_point *points = PP_ARRAY(chart->arena, struct pp_curve_point, curve->count);

    if (!pp_chart_is_numeric(chart, curve->along))
        return;
    for (int i = 0; i < curve->count; i++)
        rows[i] = curve->points[i].row;
    one.x = curve->along;
    one.by_count = 0;
    pp_chart_sort(&one, rows, curve->count);
    for (int i = 0; i < curve->count; i++)
        for (int k = 0; k < curve->count; k++)
            if (curve->points[k].row == rows[i])
                points[i] = curve->points[k];
    curve->points = points;
}

/* Notes the first curve that is a vertical line: its input does not change x. */
static void tell_vertical(const struct pp_chart *chart)
{
    for (int s = 0; s < chart->series_count && chart->notes; s++) {
        const struct pp_curve *curve = &chart->series[s];
        int same = 0;
        while (same < curve->count && curve->points[same].x == curve->points[0].x)
            same++;
        if (curve->along < 0 || curve->count < 2 || same < curve->count)
            continue;
        const char *name = chart->table.columns[curve->along];
        fprintf(chart->notes, "note: %s is the same for all %s; for one: --where %s=%s\n",
                chart->table.columns[chart->x], name, name,
                pp_chart_cell(chart, curve->points[curve->count - 1].row, curve->along));
        return;
    }
}

enum pp_status pp_chart_join(struct pp_chart *chart, struct pp_error *err)
{
    if (!chart->kind->is_joined)
        return PP_OK;
    for (int s = 0; s < chart->series_count; s++) {
        struct pp_curve *curve = &chart->series[s];
        const struct inputs in = inputs_of(chart, curve);
        const int first = leader(&in);
        if (in.count > 0 && first < 0)
            return refuse(&in, curve, err);
        curve->along = in.count > 0 ? in.columns[first] : -1;
        if (curve->along >= 0)
            order_points(chart, curve);
    }
    tell_vertical(chart);
    pp_chart_join_same(chart);
    for (int s = 0; s < chart->series_count; s++)
        chart->series[s].style = s;
    return PP_OK;
}
