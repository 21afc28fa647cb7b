/* Published or measured values: open circles in the colour of their series. */
#include "plots/curves/chart.h"

#include <math.h>
#include <string.h>

/* Column of the points with the name of that column of the chart, or -1. */
static int same_column(const struct pp_chart *chart, int column)
{
    return pp_table_find(chart->curves->points, chart->table.columns[column]);
}

/* Is true if mark and row are equal in every column of `by` that the points have, at least one. */
static bool belongs(const struct pp_chart *chart, int mark, int row)
{
    const struct pp_table *points = chart->curves->points;
    int known = 0;

    for (int k = 0; k < chart->by_count; k++) {
        const int column = same_column(chart, chart->by[k]);
        if (column < 0)
            continue;
        if (strcmp(points->cells[mark][column], pp_chart_cell(chart, row, chart->by[k])) != 0)
            return false;
        known++;
    }
    return known > 0;
}

static int style_of(const struct pp_chart *chart, int mark)
{
    for (int s = 0; s < chart->series_count; s++) {
        const struct pp_curve *curve = &chart->series[s];
        bool is_found = belongs(chart, mark, curve->points[0].row);
        for (int i = 0; i < curve->same_count; i++)
            is_found |= belongs(chart, mark, curve->same[i].row);
        if (is_found)
            return curve->style;
    }
    return -1;
}

/* Series that a point names: "schedule foo, pp 3"; "" = none. */
static const char *stated(const struct pp_chart *chart, int mark)
{
    const struct pp_table *points = chart->curves->points;
    const char *text = "";

    for (int k = 0; k < chart->by_count; k++) {
        const int column = same_column(chart, chart->by[k]);
        if (column >= 0 && *points->cells[mark][column])
            text = pp_arena_printf(chart->arena, "%s%s%s %s", text, *text ? ", " : "",
                                   points->columns[column], points->cells[mark][column]);
    }
    return text;
}

/* Notes points whose series does not exist: a name may be misspelt. */
static void tell_strays(const struct pp_chart *chart, const int *rows)
{
    const struct pp_table *points = chart->curves->points;
    int first = -1, count = 0;

    for (int i = 0; i < chart->mark_count; i++)
        if (chart->marks[i].style < 0 && *stated(chart, rows[i])) {
            first = first < 0 ? rows[i] : first;
            count++;
        }
    if (count == 0 || !chart->notes)
        return;
    fprintf(chart->notes, "note: %s:%d: no curve has %s", points->name, points->lines[first],
            stated(chart, first));
    if (count > 1)
        fprintf(chart->notes, ", nor what %d other line%s say%s", count - 1, count > 2 ? "s" : "",
                count > 2 ? "" : "s");
    fputc('\n', chart->notes);
}

static enum pp_status refuse(const struct pp_table *points, int row, int column,
                             struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "%s:%d: %s is \"%s\", not a number", points->name,
                        points->lines[row], points->columns[column], points->cells[row][column]);
}

enum pp_status pp_chart_read_marks(struct pp_chart *chart, struct pp_error *err)
{
    const struct pp_table *points = chart->curves->points;
    int x, y, *rows;

    if (!points)
        return PP_OK;
    if (chart->is_categorical)
        return pp_error_set(err, PP_EINVAL,
                            "--points: %s is not a number, and points need a place on its axis",
                            chart->table.columns[chart->x]);
    PP_TRY(pp_table_column(points, "--points", chart->table.columns[chart->x], &x, err));
    PP_TRY(pp_table_column(points, "--points", chart->table.columns[chart->y], &y, err));
    const int label = pp_table_find(points, "label");
    chart->marks = PP_ARRAY(chart->arena, struct pp_curve_mark, points->rows);
    rows = PP_ARRAY(chart->arena, int, points->rows);
    for (int i = 0; i < points->rows; i++) {
        bool is_x, is_y;
        const struct pp_curve_mark mark = {
            .x = pp_table_number(points, i, x, &is_x),
            .y = pp_table_number(points, i, y, &is_y),
            .style = style_of(chart, i),
            .label = label >= 0 ? points->cells[i][label] : "",
        };
        if (!is_x || !is_y)
            return refuse(points, i, is_x ? y : x, err);
        if (isnan(mark.x) || isnan(mark.y))
            continue;
        rows[chart->mark_count] = i;
        chart->marks[chart->mark_count++] = mark;
    }
    tell_strays(chart, rows);
    return PP_OK;
}

/* "data/published.csv" -> "published" */
const char *pp_legend_marks(const struct pp_chart *chart)
{
    const char *name = chart->curves->points->name, *slash = strrchr(name, '/');

    if (slash)
        name = slash + 1;
    return pp_arena_printf(chart->arena, "%.*s", (int)strcspn(name, "."), name);
}

void pp_chart_write_marks(const struct pp_figure *f, const struct pp_chart *chart)
{
    if (chart->mark_count == 0)
        return;
    fprintf(f->script, "\n$marks << EOD\n# %s\n# %s %s series\n",
            pp_figure_remark(f, chart->curves->points->name),
            pp_figure_remark(f, chart->table.columns[chart->x]),
            pp_figure_remark(f, chart->table.columns[chart->y]));
    for (int i = 0; i < chart->mark_count; i++)
        fprintf(f->script, "%.10g %.10g %d%s%s\n", chart->marks[i].x, chart->marks[i].y,
                chart->marks[i].style + 1, *chart->marks[i].label ? " # " : "",
                pp_figure_remark(f, chart->marks[i].label));
    fputs("EOD\n", f->script);
}

static const char *look(const struct pp_figure *f, const struct pp_chart *chart)
{
    const bool is_paper = chart->target->is_paper;

    return pp_chart_in_terminal(chart)
               ? "pt 'o'"
               : pp_arena_printf(f->arena, "pt 6 ps %g lw %g",
                                 pp_figure_point(f, is_paper ? 1.1 : 1.5), is_paper ? 1.0 : 1.5);
}

static bool has_style(const struct pp_chart *chart, int style)
{
    for (int i = 0; i < chart->mark_count; i++)
        if (chart->marks[i].style == style)
            return true;
    return false;
}

void pp_chart_draw_marks(const struct pp_figure *f, const struct pp_chart *chart)
{
    int last = -2;

    for (int i = 0; i < chart->mark_count; i++)
        last = chart->marks[i].style > last ? chart->marks[i].style : last;
    for (int style = -1; style <= last; style++) {
        if (!has_style(chart, style))
            continue;
        fprintf(f->script,
                ", \\\n     $marks using ($1*%.12g):($3 == %d ? $2*%.12g : NaN) with points ",
                chart->x_axis.scale, style + 1, chart->y_axis.scale);
        if (style >= 0 && !pp_chart_in_terminal(chart))
            fprintf(f->script, "linestyle %d ", style + 1);
        fprintf(f->script, "%s%s", look(f, chart),
                style < 0 && !pp_chart_in_terminal(chart) ? " lc rgb '#202020'" : "");
    }
    if (chart->mark_count > 0)
        fprintf(f->script, ", \\\n     keyentry with points %s%s title %s", look(f, chart),
                pp_chart_in_terminal(chart) ? "" : " lc rgb '#202020'",
                pp_figure_quote(f, pp_legend_marks(chart)));
}
