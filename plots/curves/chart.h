/* plots/curves/chart.h — the data of pp_plot_curves(): rows, columns, series, axes. */
#pragma once

#include "plots/plot.h"

enum { PP_BY_MAX = 8, PP_LETTERS = 52 };

struct pp_curve_point {
    double x, y;   /* in the units of the table; x of a category is its index */
    double closed; /* closed form of y; NAN where there is none */
    bool is_unfit;
    int row;
};
struct pp_curve {
    const char *name; /* "" where there is one series */
    struct pp_curve_point *points;
    int count, capacity;
    int along;     /* the input that its points are joined along; -1 = none, or all of them are x */
    bool is_named; /* its name stands at a point */
    int style;     /* linestyle of the script, minus 1 */
    struct pp_line_look look; /* colour, dash and symbol of that style */
    int letter;               /* number of its letter in the terminal */
    int rank;  /* place among all series of the file; where is_crossed, of its colour */
    int order; /* place among those drawn, by the values of their inputs */
    struct pp_curve_same *same; /* further series with the very same points */
    int same_count, same_capacity;
};
struct pp_curve_same {
    const char *name;
    int row; /* one of its rows */
};

struct pp_curve_mark {
    double x, y; /* in the units of the table */
    int style;   /* of its series; -1 = it has none */
    const char *label;
};

struct pp_curve_axis {
    const char *label;     /* with the unit */
    const char *subject;   /* without, for the title */
    double scale;          /* factor from the table to the picture */
    double lo, hi;         /* as drawn: range of the data, or the limits asked for */
    const char *from, *to; /* ends for gnuplot: numbers, or "*", "*<100" where it chooses */
    double log_base;       /* 0 = linear */
    bool has_tics_between; /* logarithmic: at 2 and 5 times a power of ten, too */
    bool has_units_at;     /* tics say "10 us" */
    const char *tics;      /* "(2, 4)"; NULL = gnuplot's own */
};

struct pp_chart {
    struct pp_arena *arena;
    struct pp_table table; /* derived columns included */
    const struct pp_curves *curves;
    const struct pp_curve_kind *kind;
    const struct pp_plot_target *target;
    FILE *notes;
    const char *heading;  /* in front of the title; NULL = none */
    bool has_ideal;       /* y in proportion to x, from the best series at its smallest x */
    bool is_from_zero;    /* y begins at zero whatever the values */
    int *rows, row_count; /* those that are drawn */
    int x, y, by[PP_BY_MAX], by_count;
    bool has_closed, has_unfit;
    bool is_categorical; /* x is text */
    const char **categories;
    int category_count;
    struct pp_curve *series; /* in the order of the legend */
    int series_count;
    bool is_crossed; /* series differ in two inputs: the legend goes by colours, then values */
    struct pp_curve_mark *marks; /* of --points */
    int mark_count;
    struct pp_curve_axis x_axis, y_axis;
};

/* ---- plots/curves/rows.c ---- */
/* Keeps the rows that --where and the status leave; a note counts the others. */
enum pp_status pp_chart_select(struct pp_chart *chart, struct pp_error *err);
/* Leave out rows without a value of x or y. */
enum pp_status pp_chart_need_values(struct pp_chart *chart, struct pp_error *err);
bool pp_chart_is_numeric(const struct pp_chart *chart, int column);
bool pp_chart_varies(const struct pp_chart *chart, int column);
/* "4, 8, 16, ...": the different texts of a column in the rows given. */
const char *pp_chart_values_text(const struct pp_chart *chart, int column, const int *rows,
                                 int count);
static inline const char *pp_chart_cell(const struct pp_chart *chart, int row, int column)
{
    return chart->table.cells[row][column];
}

/* ---- plots/curves/inputs.c ---- */
/* Is the column something that was put in, not a result? */
bool pp_chart_is_input(const struct pp_chart *chart, int column);
/* Does an input follow from the others, as far as the rows show: gpus from pp, vp from schedule? */
bool pp_chart_follows(const struct pp_chart *chart, int column);
/* Rows with the same texts in all columns (-1 is none) are one class; classes are numbered as they
 * appear. Fills `of` [row_count]; returns how many there are. */
int pp_chart_classify(const struct pp_chart *chart, const int *rows, int row_count,
                      const int *columns, int count, int *of);
/* How many they are among the rows that are drawn. */
int pp_chart_distinct(const struct pp_chart *chart, const int *columns, int count);
bool pp_chart_varies_within_schedule(const struct pp_chart *chart, int column);
/* Are durations in units of --unit, not in seconds? */
bool pp_chart_is_abstract(const struct pp_chart *chart);

/* ---- plots/curves/choose.c ---- */
/* x, y and by: as asked for, else as the table suggests, which a note says. */
enum pp_status pp_chart_choose(struct pp_chart *chart, struct pp_error *err);
/* The columns of --by. */
enum pp_status pp_chart_read_by(struct pp_chart *chart, struct pp_error *err);
/* Is it one of them? */
bool pp_chart_is_by(const struct pp_chart *chart, int column);
/* Sorts rows by series, then by x: rows that are equal in both become neighbours. */
void pp_chart_sort(const struct pp_chart *chart, int *rows, int count);
bool pp_chart_is_same_point(const struct pp_chart *chart, int a, int b);

/* ---- plots/curves/series.c ---- */
/* PP_EINVAL for several rows of one series with the same x, unless points may lie anywhere. */
enum pp_status pp_chart_group(struct pp_chart *chart, struct pp_error *err);
/* Are the rows equal in all columns of `by`? */
bool pp_chart_is_same_series(const struct pp_chart *chart, int a, int b);
/* Series with the same points become one with several names, as each would hide the one before. */
void pp_chart_join_same(struct pp_chart *chart);

/* ---- plots/curves/along.c ---- */
/* Where the kind joins points that lie anywhere: puts them in the order of the one input that
 * varies, and joins equal series. PP_EINVAL where several vary on their own. */
enum pp_status pp_chart_join(struct pp_chart *chart, struct pp_error *err);

/* ---- plots/curves/looks.c ---- */
/* Colours, dashes, symbols and letters of the series, the same in every picture of a table. */
void pp_chart_give_looks(struct pp_chart *chart);

/* ---- plots/curves/marks.c: published or measured values ---- */
/* Reads them from the table of points; PP_EINVAL for columns and values that do not fit. */
enum pp_status pp_chart_read_marks(struct pp_chart *chart, struct pp_error *err);
void pp_chart_write_marks(const struct pp_figure *figure, const struct pp_chart *chart);
void pp_chart_draw_marks(const struct pp_figure *figure, const struct pp_chart *chart);
const char *pp_legend_marks(const struct pp_chart *chart);

/* ---- plots/curves/axis.c ---- */
/* Labels, units, limits and tics. PP_EINVAL for what a logarithm or a range cannot show. */
enum pp_status pp_chart_axes(struct pp_chart *chart, struct pp_error *err);
/* y of the line of perfect scaling at x; NAN where there is none. */
double pp_chart_ideal(const struct pp_chart *chart, double x);

/* ---- plots/curves/names.c: columns for people ---- */
enum pp_column_unit {
    PP_COLUMN_PLAIN,
    PP_COLUMN_FRAC,
    PP_COLUMN_SECONDS,
    PP_COLUMN_BYTES,
    PP_COLUMN_FLOPS,
    PP_COLUMN_RATE,
};
struct pp_column_name {
    const char *text;   /* "step time" */
    const char *detail; /* follows it in parentheses, where the unit does not say it; or NULL */
    enum pp_column_unit unit;
};
struct pp_column_name pp_column_name(struct pp_arena *arena, const char *column);
/* Value of a column in the name of a series: "1f1b", "pp 8". */
const char *pp_column_value(struct pp_arena *arena, const char *column, const char *value);
/* "gpt3-175b, h100, 64 GPUs, pp 8": the inputs that are the same everywhere, as many as fit. */
const char *pp_chart_constants(const struct pp_chart *chart, int columns);

/* ---- plots/curves/labels.c ---- */
/* Names of series (where the kind of picture has them) and of marks, at points where they cover
 * nothing. A name that finds no such place is left out. Sets `is_named` of series. */
struct pp_field;
void pp_chart_label_points(const struct pp_figure *figure, struct pp_chart *chart,
                           const struct pp_field *within);

/* ---- plots/curves/frame.c: title, axes, legend ---- */
struct pp_legend {
    int entries;
    int longest; /* characters of the longest */
    int columns; /* in a paper, where it stands above */
};
struct pp_legend pp_chart_legend(const struct pp_chart *chart);
/* How big the picture likes to be; its title. */
struct pp_figure_wish pp_chart_wish(const struct pp_chart *chart, struct pp_legend *legend);
/* Size of the area within the axes: inches; in the terminal characters. */
struct pp_field {
    double width_in, height_in;
};
struct pp_field pp_chart_field(const struct pp_figure *figure, const struct pp_legend *legend);
void pp_chart_write_frame(const struct pp_figure *figure, const struct pp_chart *chart,
                          const struct pp_legend *legend, struct pp_field field);
extern const char pp_legend_closed[], pp_legend_ideal[];
const char *pp_legend_unfit(const struct pp_chart *chart);

/* ---- plots/curves/draw.c ---- */
enum pp_status pp_chart_draw(struct pp_chart *chart, struct pp_error *err);
static inline bool pp_chart_in_terminal(const struct pp_chart *chart)
{
    return chart->target->format == PP_PLOT_TERMINAL;
}
