/* Title, axes, legend, and the size of the picture. */
#include "plots/curves/chart.h"

#include "plots/axis.h"

#include <math.h>
#include <string.h>

const char pp_legend_closed[] = "closed form", pp_legend_ideal[] = "ideal: in proportion";

/* ---- legend ---------------------------------------------------------------------------------- */

/* The text is short in a paper, for a legend of two columns. */
const char *pp_legend_unfit(const struct pp_chart *chart)
{
    return chart->target->is_paper ? "does not fit" : "does not fit in memory";
}

static void add_entry(struct pp_legend *legend, const char *text)
{
    const int length = (int)strlen(text);

    legend->entries++;
    legend->longest = length > legend->longest ? length : legend->longest;
}

struct pp_legend pp_chart_legend(const struct pp_chart *chart)
{
    struct pp_legend legend = {0};

    for (int s = 0; s < chart->series_count; s++) {
        const struct pp_curve *curve = &chart->series[s];
        if (*curve->name)
            add_entry(&legend, curve->name);
        for (int i = 0; i < curve->same_count; i++)
            add_entry(&legend, pp_arena_printf(chart->arena, "= %s", curve->same[i].name));
    }
    if (chart->has_closed)
        add_entry(&legend, pp_legend_closed);
    if (chart->has_unfit)
        add_entry(&legend, pp_legend_unfit(chart));
    if (chart->has_ideal)
        add_entry(&legend, pp_legend_ideal);
    if (chart->mark_count > 0)
        add_entry(&legend, pp_legend_marks(chart));
    return legend;
}

static const double SAMPLE_IN = 0.5, PAPER_SAMPLE_IN = 0.36, PAPER_IN = 3.3;

static double legend_width(const struct pp_legend *legend, double character_in)
{
    return legend->entries ? SAMPLE_IN + character_in * legend->longest : 0;
}

/* Height of the legend in a paper, which has it above. */
static double legend_height(const struct pp_legend *legend)
{
    const double LINE_IN = 0.135;

    return LINE_IN * ((legend->entries + legend->columns - 1) / legend->columns);
}

static void write_key(const struct pp_figure *f, const struct pp_legend *legend)
{
    if (legend->entries == 0)
        fputs("unset key\n", f->script);
    else if (f->target->format == PP_PLOT_TERMINAL)
        fputs("set key noautotitle outside right top Left reverse samplen 0\n", f->script);
    else if (f->target->is_paper)
        /* gnuplot assumes that all characters are as wide as digits */
        fprintf(f->script, "set key above horizontal maxcols %d Left reverse samplen 2 width %d\n",
                legend->columns, -(int)lround(0.2 * legend->longest));
    else
        fputs("set key outside right top vertical Left reverse samplen 2.5 spacing 1.2\n",
              f->script);
}

/* ---- size and title -------------------------------------------------------------------------- */

/* The input that joins points: "lines join micro-batches 8 to 256". NULL if several do. */
static const char *along(const struct pp_chart *chart)
{
    const struct pp_curve *longest = &chart->series[0];

    for (int s = 1; s < chart->series_count; s++) {
        const struct pp_curve *curve = &chart->series[s];
        if (longest->along >= 0 && curve->along >= 0 && curve->along != longest->along)
            return NULL;
        if (curve->along >= 0 && (longest->along < 0 || curve->count > longest->count))
            longest = curve;
    }
    const int column = longest->along;
    if (column < 0)
        return NULL;
    return pp_arena_printf(chart->arena, "lines join %s %s to %s",
                           pp_column_name(chart->arena, &chart->table, column).text,
                           pp_chart_cell(chart, longest->points[0].row, column),
                           pp_chart_cell(chart, longest->points[longest->count - 1].row, column));
}

static const char *title(const struct pp_chart *chart, int columns)
{
    const char *what = pp_arena_printf(chart->arena, "%s over %s%s%s", chart->y_axis.subject,
                                       chart->x_axis.subject, chart->heading ? ", " : "",
                                       chart->heading ? chart->heading : "");
    const char *joined = chart->kind->is_joined ? along(chart) : NULL;

    if (joined && (int)(strlen(what) + strlen(joined)) + 2 <= columns)
        what = pp_arena_printf(chart->arena, "%s; %s", what, joined);
    const char *constants = pp_chart_constants(chart, columns);
    return pp_arena_printf(chart->arena, "%s%s%s", what, *constants ? "\n" : "", constants);
}

struct pp_figure_wish pp_chart_wish(const struct pp_chart *chart, struct pp_legend *legend)
{
    const double field_in = 5.2, height_in = 4, line_in = 0.205, character_in = 0.08,
                 paper_character_in = 0.057;
    const double entry_in = PAPER_SAMPLE_IN + paper_character_in * legend->longest;
    enum { ROWS = 24, OTHER_ROWS = 8 };

    legend->columns = (int)fmax(1, floor((PAPER_IN - 0.1) / entry_in));
    return (struct pp_figure_wish){
        .title = title(chart, (int)(field_in / character_in)),
        .width_in = field_in + legend_width(legend, character_in),
        .height_in = fmax(height_in, 1.3 + line_in * legend->entries),
        .paper_height_in = 2.1 + legend_height(legend),
        .has_y_above = true,
        .rows = (int)fmax(ROWS, legend->entries + OTHER_ROWS),
    };
}

struct pp_field pp_chart_field(const struct pp_figure *figure, const struct pp_legend *legend)
{
    enum { SIDES = 12 };
    const double SIDES_IN = 0.9, ENDS_IN = 1.2, PAPER_SIDES_IN = 0.6, PAPER_ENDS_IN = 0.5;

    if (figure->target->format == PP_PLOT_TERMINAL)
        return (struct pp_field){figure->columns - legend->longest - SIDES, figure->rows};
    if (figure->target->is_paper)
        return (struct pp_field){figure->width_in - PAPER_SIDES_IN,
                                 figure->height_in - PAPER_ENDS_IN - legend_height(legend)};
    return (struct pp_field){figure->width_in - SIDES_IN -
                                 legend_width(legend, pp_figure_character_in(figure)),
                             figure->height_in - ENDS_IN};
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* Breaks a label that is longer than its axis in two, if possible before the unit. */
static const char *fit_label(const struct pp_chart *chart, const char *label, int room)
{
    const char *unit = strstr(label, " (");
    const int length = (int)strlen(label), head = unit ? (int)(unit - label) : length;

    if (length > room && unit && head <= room && length - head - 1 <= room)
        return pp_arena_printf(chart->arena, "%.*s\n%s", head, label, unit + 1);
    return pp_figure_wrap(chart->arena, label, room, 2);
}

static void write_label(const struct pp_figure *f, const struct pp_chart *chart, char name,
                        double length_in)
{
    const char *text = name == 'x' ? chart->x_axis.label : chart->y_axis.label;
    const char *label = fit_label(chart, text, pp_figure_characters(f, length_in));
    const bool is_wide = name == 'y' && strchr(label, '\n') && !pp_chart_in_terminal(chart);

    /* gnuplot leaves room for one line next to the tics */
    fprintf(f->script, "set %clabel %s%s\n", name, pp_figure_quote(f, label),
            is_wide ? " offset -1.4,0\nset lmargin 10.5" : "");
}

static void write_axis(const struct pp_figure *f, const struct pp_curve_axis *axis, char name)
{
    if (name == 'x') /* offsets keep symbols of the outermost points off the frame */
        fputs("set autoscale xfix\nset offsets graph 0.04, graph 0.04, 0, 0\n", f->script);
    if (axis->log_base > 0)
        fprintf(f->script, "set logscale %c %g\n", name, axis->log_base);
    fprintf(f->script, "set %crange [%s:%s]\n", name, axis->from, axis->to);
    if (axis->has_units_at)
        fprintf(f->script, "set format %c '%%.0s %%cs'\n", name);
    if (axis->has_tics_between)
        fprintf(f->script, "set for [e=-15:18] for [m in '2 5'] %ctics add (m*10.**e)\n", name);
    if (axis->tics)
        fprintf(f->script, "set %ctics %s\n", name, axis->tics);
}

/* Text cannot be rotated in the terminal: names that are too long take several lines. */
static void write_categories(const struct pp_figure *f, const struct pp_chart *chart,
                             double columns)
{
    enum { LINES_MAX = 4 };
    static const char BREAKS[] = "\n\n\n\n";
    double longest = 0;

    for (int i = 0; i < chart->category_count; i++)
        longest = fmax(longest, (double)strlen(chart->categories[i]));
    const int lines = (int)fmin(LINES_MAX, ceil(chart->category_count * (longest + 1) / columns));
    for (int i = 0; i < chart->category_count; i++) {
        const char *name =
            pp_arena_printf(f->arena, "%.*s%s", i % lines, BREAKS, chart->categories[i]);
        fprintf(f->script, "%s%s %d", i ? ", " : "set xtics (", pp_figure_quote(f, name), i);
    }
    fprintf(f->script, ")\nset xrange [-0.6:%g]\n", chart->category_count - 0.4);
}

/* Text cannot be rotated in the terminal: the name of the y axis is above it. */
static void write_terminal(const struct pp_figure *f, const struct pp_chart *chart)
{
    fprintf(f->script,
            "unset ylabel\n"
            "set label %s at character 1, graph 1 offset 0,1.2\n"
            "set border 3\n"
            "set tics nomirror out scale 0\n"
            "set tmargin %d\n",
            pp_figure_quote(f, pp_figure_wrap(f->arena, chart->y_axis.label, f->columns - 2, 1)),
            f->title_lines + 2);
    if (chart->is_categorical) /* the tics may take several lines; the title names the axis */
        fputs("unset xlabel\nset bmargin 5\n", f->script);
}

void pp_chart_write_frame(const struct pp_figure *f, const struct pp_chart *chart,
                          const struct pp_legend *legend, struct pp_field field)
{
    const double NEXT_IN = 0.4; /* a name may be a little longer than its axis */
    const double next = pp_chart_in_terminal(chart) ? 6 : NEXT_IN;

    write_label(f, chart, 'x', field.width_in + next);
    write_label(f, chart, 'y', field.height_in + next);
    if (!chart->is_categorical)
        write_axis(f, &chart->x_axis, 'x');
    else if (pp_chart_in_terminal(chart))
        write_categories(f, chart, field.width_in);
    else
        pp_axis_labels(f, chart->categories, chart->category_count, NULL);
    write_axis(f, &chart->y_axis, 'y');
    if (pp_chart_in_terminal(chart))
        write_terminal(f, chart);
    write_key(f, legend);
}
