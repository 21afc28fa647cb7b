/* Series and axes as a script: a block of data for each series, then one plot command. */
#include "plots/curves_parts.h"

#include <math.h>
#include <string.h>

/* ---- size ------------------------------------------------------------------------------------ */

/* Entries of the legend, and characters of the longest. */
struct legend {
    int entries, longest;
    int columns; /* in a paper, where it stands above */
};
static const char CLOSED[] = "closed form", UNFIT[] = "does not fit in memory",
                  IDEAL[] = "in proportion";

static void add_entry(struct legend *legend, const char *text)
{
    const int length = (int)strlen(text);

    legend->entries++;
    legend->longest = length > legend->longest ? length : legend->longest;
}

static struct legend measure(const struct pp_chart *chart)
{
    struct legend legend = {0};

    for (int s = 0; s < chart->series_count; s++)
        if (*chart->series[s].name)
            add_entry(&legend, chart->series[s].name);
    if (chart->has_closed)
        add_entry(&legend, CLOSED);
    if (chart->has_unfit)
        add_entry(&legend, UNFIT);
    if (chart->has_ideal)
        add_entry(&legend, IDEAL);
    return legend;
}

static const double SAMPLE_IN = 0.5, PAPER_SAMPLE_IN = 0.36, PAPER_IN = 3.3;

static double legend_width(const struct legend *legend, double character_in)
{
    return legend->entries ? SAMPLE_IN + character_in * legend->longest : 0;
}

static const char *title(const struct pp_chart *chart)
{
    const char *constants = pp_chart_constants(chart);
    const char *what =
        pp_arena_printf(chart->arena, "%s over %s", chart->y_axis.subject, chart->x_axis.subject);

    if (chart->heading)
        what = pp_arena_printf(chart->arena, "%s: %s", chart->heading, what);
    return *constants ? pp_arena_printf(chart->arena, "%s; %s", what, constants) : what;
}

static struct pp_figure_wish wish_for(const struct pp_chart *chart, struct legend *legend)
{
    const double field_in = 5.2, height_in = 3.9, line_in = 0.19, paper_line_in = 0.135,
                 character_in = 0.08, paper_character_in = 0.062;
    const double entry_in = PAPER_SAMPLE_IN + paper_character_in * legend->longest;
    struct pp_figure_wish wish = {.title = title(chart)};

    wish.width_in = field_in + legend_width(legend, character_in);
    wish.height_in = fmax(height_in, 0.9 + line_in * legend->entries);
    legend->columns = (int)fmax(1, floor((PAPER_IN - 0.1) / entry_in));
    const int lines = (legend->entries + legend->columns - 1) / legend->columns;
    wish.paper_height_in = 2.1 + paper_line_in * lines;
    wish.rows = legend->entries + 4 > 24 ? legend->entries + 4 : 24;
    return wish;
}

/* ---- script ---------------------------------------------------------------------------------- */

static bool in_terminal(const struct pp_chart *chart)
{
    return chart->target->format == PP_PLOT_TERMINAL;
}

static void write_axis(const struct pp_figure *f, const struct pp_curve_axis *axis, char name,
                       bool is_at_data)
{
    fprintf(f->script, "set %clabel %s\n", name, pp_figure_quote(f, axis->label));
    if (axis->log_base > 0)
        fprintf(f->script, "set logscale %c %g\n", name, axis->log_base);
    fprintf(f->script, "set %crange [%.10g:%.10g]\n", name, axis->lo, axis->hi);
    if (axis->tics)
        fprintf(f->script, "set %ctics %s%s\n", name, axis->tics, is_at_data ? "" : "");
}

static void write_key(const struct pp_figure *f, const struct legend *legend)
{
    const struct pp_plot_target *target = f->target;

    if (legend->entries == 0)
        fputs("unset key\n", f->script);
    else if (target->format == PP_PLOT_TERMINAL)
        fputs("set key outside right top Left reverse samplen 1 noautotitle\n", f->script);
    else if (target->is_paper)
        fprintf(f->script,
                "set key above horizontal maxcols %d Left reverse samplen 2 spacing 1 width 0\n",
                legend->columns);
    else
        fputs("set key outside right top vertical Left reverse samplen 2.5 spacing 1.2\n",
              f->script);
}

static void write_number(FILE *out, double value)
{
    if (isnan(value))
        fputs(" NaN", out);
    else
        fprintf(out, " %.10g", value);
}

/* In the units of the table, so that one can compare and edit them. */
static void write_series(const struct pp_figure *f, const struct pp_chart *chart, int s)
{
    const struct pp_curve *curve = &chart->series[s];
    const char *const *columns = chart->table.columns;

    fprintf(f->script, "\n$series%d << EOD\n# %s\n# %s %s%s%s%s\n", s + 1,
            *curve->name ? curve->name : chart->table.name, columns[chart->x], columns[chart->y],
            chart->has_closed || chart->has_unfit ? " closed_form" : "",
            chart->has_unfit ? " does_not_fit" : "", chart->has_ideal ? " ideal" : "");
    for (int i = 0; i < curve->count; i++) {
        const struct pp_curve_point *point = &curve->points[i];
        fprintf(f->script, "%.10g", point->x);
        write_number(f->script, point->y);
        if (chart->has_closed || chart->has_unfit)
            write_number(f->script, point->closed);
        if (chart->has_unfit)
            fprintf(f->script, " %d", point->is_unfit);
        if (chart->is_categorical)
            fprintf(f->script, " # %s", chart->categories[(int)point->x]);
        fputc('\n', f->script);
    }
    fputs("EOD\n", f->script);
}

/* "$1" or "($1*1000)" */
static const char *scaled(const struct pp_chart *chart, const char *value, double scale)
{
    return fabs(scale - 1) < 1e-15 ? pp_arena_printf(chart->arena, "(%s)", value)
                                   : pp_arena_printf(chart->arena, "(%s*%.12g)", value, scale);
}

static void begin_element(const struct pp_figure *f, const struct pp_chart *chart, int s,
                          const char *y, int *count)
{
    fprintf(f->script, "%s $series%d using %s:%s", (*count)++ ? ", \\\n    " : "plot", s + 1,
            scaled(chart, "$1", chart->x_axis.scale), scaled(chart, y, chart->y_axis.scale));
}

static char letter(int style)
{
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    return LETTERS[style % (int)(sizeof(LETTERS) - 1)];
}

static void draw_closed(const struct pp_figure *f, const struct pp_chart *chart, int *count)
{
    for (int s = 0; s < chart->series_count && chart->has_closed; s++) {
        begin_element(f, chart, s, "$3", count);
        fputs(in_terminal(chart) ? " with lines lt 0" : " with lines linestyle 101", f->script);
    }
}

static void draw_series(const struct pp_figure *f, const struct pp_chart *chart, int *count)
{
    const bool is_joined =
        !chart->is_categorical && (!chart->kind->is_scatter || chart->kind->is_joined);

    for (int s = 0; s < chart->series_count; s++) {
        const struct pp_curve *curve = &chart->series[s];
        begin_element(f, chart, s, "$2", count);
        if (in_terminal(chart)) {
            if (is_joined && !chart->has_closed) {
                fputs(" with lines lt 0", f->script);
                begin_element(f, chart, s, "$2", count);
            }
            fprintf(f->script, " with points pt '%c'", letter(curve->style));
        } else {
            fprintf(f->script, " with %s linestyle %d", is_joined ? "linespoints" : "points",
                    curve->style + 1);
        }
        if (*curve->name)
            fprintf(f->script, " title %s", pp_figure_quote(f, curve->name));
    }
}

static void draw_unfit(const struct pp_figure *f, const struct pp_chart *chart, int *count)
{
    const char *style = in_terminal(chart) ? "with points pt '!'" : "with points linestyle 102";

    if (!chart->has_unfit)
        return;
    for (int s = 0; s < chart->series_count; s++) {
        begin_element(f, chart, s, "($4 ? $2 : NaN)", count);
        fprintf(f->script, " %s", style);
    }
    fprintf(f->script, ", \\\n     keyentry %s title %s", style, pp_figure_quote(f, UNFIT));
}

static void write_plot(const struct pp_figure *f, const struct pp_chart *chart)
{
    int count = 0;

    fputc('\n', f->script);
    draw_closed(f, chart, &count);
    draw_series(f, chart, &count);
    draw_unfit(f, chart, &count);
    if (chart->has_closed)
        fprintf(f->script, ", \\\n     keyentry with lines %s title %s",
                in_terminal(chart) ? "lt 0" : "linestyle 101", pp_figure_quote(f, CLOSED));
    if (chart->has_ideal)
        fprintf(f->script, ", \\\n     %.12g*x with lines %s title %s",
                pp_chart_ideal(chart, 1) * chart->y_axis.scale / chart->x_axis.scale,
                in_terminal(chart) ? "lt 0" : "linestyle 103", pp_figure_quote(f, IDEAL));
    fputc('\n', f->script);
}

/* The lines that belong to no series. */
static void write_styles(const struct pp_figure *f, const struct pp_chart *chart)
{
    const bool is_paper = chart->target->is_paper;

    pp_style_define_more(f, chart->series_count);
    if (chart->has_closed)
        fprintf(f->script, "set style line 101 lc rgb '#c8c8c8' lw %g dt 1 # closed form\n",
                is_paper ? 2.5 : 4.5);
    if (chart->has_unfit)
        fprintf(f->script, "set style line 102 lc rgb '#000000' lw 1.2 pt 2 ps %g # no fit\n",
                is_paper ? 0.7 : 1.1);
    if (chart->has_ideal)
        fputs("set style line 103 lc rgb '#909090' lw 1 dt (3,3) # ideal\n", f->script);
}

enum pp_status pp_chart_draw(struct pp_chart *chart, struct pp_error *err)
{
    struct pp_figure figure;
    struct legend legend = measure(chart);

    /* Units and tics need the size, which needs the legend only. */
    chart->x_axis.subject = pp_column_name(chart->arena, chart->table.columns[chart->x]).text;
    chart->y_axis.subject = pp_column_name(chart->arena, chart->table.columns[chart->y]).text;
    const struct pp_figure_wish wish = wish_for(chart, &legend);
    pp_figure_open(chart->arena, chart->target, &wish, &figure);
    const double character_in = pp_figure_character_in(&figure);
    const double field_in = in_terminal(chart) ? figure.columns - legend.longest - 14
                            : chart->target->is_paper
                                ? figure.width_in - 0.6
                                : figure.width_in - 0.9 - legend_width(&legend, character_in);
    const enum pp_status status =
        pp_chart_axes(chart, field_in, in_terminal(chart) ? 1 : character_in, err);
    if (status != PP_OK) {
        pp_figure_discard(&figure);
        return status;
    }
    write_axis(&figure, &chart->x_axis, 'x', true);
    write_axis(&figure, &chart->y_axis, 'y', false);
    write_key(&figure, &legend);
    if (!in_terminal(chart))
        write_styles(&figure, chart);
    for (int s = 0; s < chart->series_count; s++)
        write_series(&figure, chart, s);
    write_plot(&figure, chart);
    return pp_figure_close(&figure, err);
}
