/* Series and axes as a script: a block of data for each series, then one plot command. */
#include "plots/curves/chart.h"

#include <math.h>

/* ---- data ------------------------------------------------------------------------------------ */

static void write_number(FILE *out, double value)
{
    if (isnan(value))
        fputs(" NaN", out);
    else
        fprintf(out, " %.10g", value);
}

/* Data are in the units of the table, so that they can be compared and edited. */
static void write_series(const struct pp_figure *f, const struct pp_chart *chart, int s)
{
    const struct pp_curve *curve = &chart->series[s];
    const char *const *columns = chart->table.columns;

    fprintf(f->script, "\n$series%d << EOD\n# %s", s + 1,
            pp_figure_remark(f, *curve->name ? curve->name : chart->table.name));
    for (int i = 0; i < curve->same_count; i++)
        fprintf(f->script, " = %s", pp_figure_remark(f, curve->same[i].name));
    fprintf(f->script, "\n# %s %s%s%s\n", pp_figure_remark(f, columns[chart->x]),
            pp_figure_remark(f, columns[chart->y]), chart->has_closed ? " closed_form" : "",
            chart->has_unfit ? " does_not_fit" : "");
    for (int i = 0; i < curve->count; i++) {
        const struct pp_curve_point *point = &curve->points[i];
        fprintf(f->script, "%.10g", point->x);
        write_number(f->script, point->y);
        if (chart->has_closed)
            write_number(f->script, point->closed);
        if (chart->has_unfit)
            fprintf(f->script, " %d", point->is_unfit);
        if (chart->is_categorical)
            fprintf(f->script, " # %s", pp_figure_remark(f, chart->categories[(int)point->x]));
        fputc('\n', f->script);
    }
    fputs("EOD\n", f->script);
}

/* "2", or "($2*100)" */
static const char *scaled(const struct pp_chart *chart, int column, double scale)
{
    return fabs(scale - 1) < 1e-15 ? pp_arena_printf(chart->arena, "%d", column)
                                   : pp_arena_printf(chart->arena, "($%d*%.12g)", column, scale);
}

static void begin_element(const struct pp_figure *f, const struct pp_chart *chart, int s,
                          const char *y, int *count)
{
    fprintf(f->script, "%s $series%d using %s:%s", (*count)++ ? ", \\\n    " : "plot", s + 1,
            scaled(chart, 1, chart->x_axis.scale), y);
}

static char letter(int number)
{
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    return LETTERS[number % PP_LETTERS];
}

static bool has_band(const struct pp_chart *chart, const struct pp_curve *curve)
{
    int count = 0;

    for (int i = 0; i < curve->count; i++)
        count += !isnan(curve->points[i].closed);
    return count > 1 && !chart->is_categorical;
}

/* Draws a band, which needs two points, or a disc for a single point. */
static void draw_closed(const struct pp_figure *f, const struct pp_chart *chart, int *count)
{
    for (int s = 0; s < chart->series_count && chart->has_closed; s++) {
        begin_element(f, chart, s, scaled(chart, 3, chart->y_axis.scale), count);
        if (pp_chart_in_terminal(chart))
            fputs(" with lines lt 0", f->script);
        else
            fprintf(f->script, " with %s linestyle 101",
                    has_band(chart, &chart->series[s]) ? "lines" : "points");
    }
}

enum { SYMBOLS_MAX = 30 }; /* most symbols on a line */

static void draw_series(const struct pp_figure *f, const struct pp_chart *chart, int *count)
{
    const bool is_joined =
        !chart->is_categorical && (!chart->kind->is_scatter || chart->kind->is_joined);

    const char *y = scaled(chart, 2, chart->y_axis.scale);

    for (int s = 0; s < chart->series_count; s++) {
        const struct pp_curve *curve = &chart->series[s];
        begin_element(f, chart, s, y, count);
        if (pp_chart_in_terminal(chart)) {
            if (is_joined && !chart->has_closed) {
                fputs(" with lines lt 0", f->script);
                begin_element(f, chart, s, y, count);
            }
            fprintf(f->script, " with points pt '%c'", letter(curve->letter));
        } else {
            fprintf(f->script, " with %s linestyle %d", is_joined ? "linespoints" : "points",
                    curve->style + 1);
            if (is_joined && curve->count > SYMBOLS_MAX)
                fprintf(f->script, " pi %d", (curve->count + SYMBOLS_MAX - 1) / SYMBOLS_MAX);
        }
        if (curve->is_named && curve->count == 1)
            continue; /* its name is at the point, not in the legend */
        if (*curve->name)
            fprintf(f->script, " title %s", pp_figure_quote(f, curve->name));
        for (int i = 0; i < curve->same_count; i++) /* without a sample */
            fprintf(f->script, ", \\\n     keyentry with lines lt nodraw title %s",
                    pp_figure_quote(f, pp_arena_printf(f->arena, "= %s", curve->same[i].name)));
    }
}

static bool has_unfit(const struct pp_curve *curve)
{
    for (int i = 0; i < curve->count; i++)
        if (curve->points[i].is_unfit)
            return true;
    return false;
}

static void draw_unfit(const struct pp_figure *f, const struct pp_chart *chart, int *count)
{
    const char *style =
        pp_chart_in_terminal(chart) ? "with points pt '!'" : "with points linestyle 102";
    const char *y = pp_arena_printf(f->arena, "($%d == 1 ? $2*%.12g : NaN)",
                                    chart->has_closed ? 4 : 3, chart->y_axis.scale);

    if (!chart->has_unfit)
        return;
    for (int s = 0; s < chart->series_count; s++)
        if (has_unfit(&chart->series[s])) {
            begin_element(f, chart, s, y, count);
            fprintf(f->script, " %s", style);
        }
    fprintf(f->script, ", \\\n     keyentry %s title %s", style,
            pp_figure_quote(f, pp_legend_unfit(chart)));
}

static void write_plot(const struct pp_figure *f, const struct pp_chart *chart)
{
    int count = 0;

    fputc('\n', f->script);
    draw_closed(f, chart, &count);
    draw_series(f, chart, &count);
    draw_unfit(f, chart, &count);
    pp_chart_draw_marks(f, chart);
    if (chart->has_closed)
        fprintf(f->script, ", \\\n     keyentry with %s %s title %s",
                chart->is_categorical ? "points" : "lines",
                pp_chart_in_terminal(chart) ? "lt 0" : "linestyle 101",
                pp_figure_quote(f, pp_legend_closed));
    if (chart->has_ideal)
        fprintf(f->script, ", \\\n     %.12g*x with lines %s title %s",
                pp_chart_ideal(chart, 1) * chart->y_axis.scale / chart->x_axis.scale,
                pp_chart_in_terminal(chart) ? "lt 0" : "linestyle 103",
                pp_figure_quote(f, pp_legend_ideal));
    fputc('\n', f->script);
}

/* Defines the linestyles that belong to no series. */
static void write_styles(const struct pp_figure *f, const struct pp_chart *chart)
{
    const bool is_paper = chart->target->is_paper;

    for (int s = 0; s < chart->series_count; s++)
        if (chart->series[s].style >= PP_STYLES)
            pp_style_define_line(f, chart->series[s].style, chart->series[s].look);
    if (chart->has_closed)
        fprintf(f->script, "set style line 101 lc rgb '%s' lw %g dt 1 pt 7 ps %g # closed form\n",
                is_paper ? "#dadada" : "#c8c8c8", is_paper ? 2.8 : 4.5,
                pp_figure_point(f, is_paper ? 1 : 1.3));
    if (chart->has_unfit)
        fprintf(f->script, "set style line 102 lc rgb '#000000' lw %g pt 2 ps %g # no fit\n",
                is_paper ? 1 : 1.4, pp_figure_point(f, is_paper ? 1 : 1.3));
    if (chart->has_ideal)
        fputs("set style line 103 lc rgb '#707070' lw 1.4 dt (4,3) # ideal\n", f->script);
}

enum pp_status pp_chart_draw(struct pp_chart *chart, struct pp_error *err)
{
    struct pp_figure figure;
    struct pp_legend legend = pp_chart_legend(chart);

    PP_TRY(pp_chart_axes(chart, err));
    const struct pp_figure_wish wish = pp_chart_wish(chart, &legend);
    pp_figure_open(chart->arena, chart->target, &wish, &figure);
    const struct pp_field field = pp_chart_field(&figure, &legend);
    const bool in_terminal = pp_chart_in_terminal(chart);
    pp_chart_write_frame(&figure, chart, &legend, field);
    if (!in_terminal)
        write_styles(&figure, chart);
    if (!in_terminal && (chart->kind->is_labelled || chart->mark_count > 0))
        pp_chart_label_points(&figure, chart, &field);
    for (int s = 0; s < chart->series_count; s++)
        write_series(&figure, chart, s);
    pp_chart_write_marks(&figure, chart);
    write_plot(&figure, chart);
    return pp_figure_close(&figure, err);
}
