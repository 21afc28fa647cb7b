/* plots/curves/chart.h — the data of pp_plot_curves(): rows, columns, series, axes. */
#pragma once

#include "plots/plot.h"

enum { PP_BY_MAX = 8, PP_LETTERS = 52 };

struct pp_curve_point {
    double x, y;   /* in the units of the table; x of a category is its index */
    double closed; /* closed form of y; NAN if there is none */
    bool is_unfit;
    int row;
};
struct pp_curve {
    const char *name; /* "" if there is one series */
    struct pp_curve_point *points;
    int count, capacity;
    int along;                /* column of the input that joins its points; -1 = none, or x */
    bool is_named;            /* its name is drawn at a point */
    int style;                /* number of its linestyle in the script, minus 1 */
    struct pp_line_look look; /* colour, dash and symbol of that style */
    int letter;               /* index of its letter in the terminal */
    int rank;  /* index among all series of the file; index of its colour if is_crossed */
    int order; /* index among the drawn series, by the values of their inputs */
    struct pp_curve_same *same; /* further series with equal points */
    int same_count, same_capacity;
};
struct pp_curve_same {
    const char *name;
    int row; /* one of its rows */
};

struct pp_curve_mark {
    double x, y; /* in the units of the table */
    int style;   /* style of its series; -1 = no series */
    const char *label;
};

struct pp_curve_axis {
    const char *label;     /* with its unit */
    const char *subject;   /* label without its unit, for the title */
    double scale;          /* factor from the table to the picture */
    double lo, hi;         /* as drawn: range of the data, or the limits of the option */
    const char *from, *to; /* ends for gnuplot: a number, or "*" or "*<100" if gnuplot chooses */
    double log_base;       /* 0 = linear */
    bool has_tics_between; /* logarithmic axis: has tics at 2 and 5 times a power of ten */
    bool has_units_at;     /* tics say "10 us" */
    const char *tics;      /* "(2, 4)"; NULL = gnuplot's own */
};

struct pp_chart {
    struct pp_arena *arena;
    struct pp_table table; /* includes derived columns */
    const struct pp_curves *curves;
    const struct pp_curve_kind *kind;
    const struct pp_plot_target *target;
    FILE *notes;
    const char *heading;  /* second part of the title, "weak scaling"; NULL = none */
    bool has_ideal;       /* line of y in proportion to x, from the best point of smallest x */
    bool is_from_zero;    /* y begins at zero for all values */
    int *rows, row_count; /* indices of the drawn rows */
    int x, y, by[PP_BY_MAX], by_count;
    bool has_closed, has_unfit;
    bool is_categorical; /* x is text */
    const char **categories;
    int category_count;
    struct pp_curve *series; /* in the order of the legend */
    int series_count;
    bool is_crossed; /* series differ in two inputs: the legend is sorted by colours, then values */
    struct pp_curve_mark *marks; /* points of --points */
    int mark_count;
    struct pp_curve_axis x_axis, y_axis;
};

/* ---- plots/curves/rows.c --------------------------------------------------------------------- */
/* Keeps rows that meet --where and have status ok; counts the others in a note. */
enum pp_status pp_chart_select(struct pp_chart *chart, struct pp_error *err);
/* Drops rows without a value of x or y. */
enum pp_status pp_chart_need_values(struct pp_chart *chart, struct pp_error *err);
bool pp_chart_is_numeric(const struct pp_chart *chart, int column);
bool pp_chart_varies(const struct pp_chart *chart, int column);
/* The different texts of a column in the given rows: "4, 8, 16, ...". */
const char *pp_chart_values_text(const struct pp_chart *chart, int column, const int *rows,
                                 int count);
static inline const char *pp_chart_cell(const struct pp_chart *chart, int row, int column)
{
    return chart->table.cells[row][column];
}

/* ---- plots/curves/inputs.c ------------------------------------------------------------------- */
/* Is true if the column is an input, not a result. */
bool pp_chart_is_input(const struct pp_chart *chart, int column);
/* Is true if the rows show that an input follows from others: gpus from pp, vp from schedule. */
bool pp_chart_follows(const struct pp_chart *chart, int column);
/* Numbers classes of rows, in order of appearance. Rows of a class have equal texts in all
 * `columns` (-1 is none). Fills `of` [row_count]; returns the number of classes. */
int pp_chart_classify(const struct pp_chart *chart, const int *rows, int row_count,
                      const int *columns, int count, int *of);
/* The number of classes among the drawn rows. */
int pp_chart_distinct(const struct pp_chart *chart, const int *columns, int count);
bool pp_chart_varies_within_schedule(const struct pp_chart *chart, int column);
/* Is true if durations are in units of --unit, not in seconds. */
bool pp_chart_is_abstract(const struct pp_chart *chart);

/* ---- plots/curves/choose.c ------------------------------------------------------------------- */
/* Chooses x, y and by: those of the options, or those that the table suggests, with a note. */
enum pp_status pp_chart_choose(struct pp_chart *chart, struct pp_error *err);
enum pp_status pp_chart_read_by(struct pp_chart *chart, struct pp_error *err);
bool pp_chart_is_by(const struct pp_chart *chart, int column);
/* Sorts rows by series, then by x: rows that are equal in both become neighbours. */
void pp_chart_sort(const struct pp_chart *chart, int *rows, int count);
bool pp_chart_is_same_point(const struct pp_chart *chart, int a, int b);

/* ---- plots/curves/series.c ------------------------------------------------------------------- */
/* Makes the series. PP_EINVAL if one has several rows with one x, except for scatter kinds. */
enum pp_status pp_chart_group(struct pp_chart *chart, struct pp_error *err);
/* Is true if the rows are equal in all columns of `by`. */
bool pp_chart_is_same_series(const struct pp_chart *chart, int a, int b);
/* Joins series with equal points into one with several names, because one would hide the other. */
void pp_chart_join_same(struct pp_chart *chart);

/* ---- plots/curves/along.c -------------------------------------------------------------------- */
/* Orders points by the one input that varies, if the kind joins points of any x; joins equal
 * series. PP_EINVAL if several inputs vary independently. */
enum pp_status pp_chart_join(struct pp_chart *chart, struct pp_error *err);

/* ---- plots/curves/looks.c -------------------------------------------------------------------- */
/* Sets colours, dashes, symbols and letters of the series, the same in every picture of a table. */
void pp_chart_give_looks(struct pp_chart *chart);

/* ---- plots/curves/marks.c: published or measured values -------------------------------------- */
/* Reads the table of --points; PP_EINVAL for missing columns and values that are no numbers. */
enum pp_status pp_chart_read_marks(struct pp_chart *chart, struct pp_error *err);
void pp_chart_write_marks(const struct pp_figure *figure, const struct pp_chart *chart);
void pp_chart_draw_marks(const struct pp_figure *figure, const struct pp_chart *chart);
const char *pp_legend_marks(const struct pp_chart *chart);

/* ---- plots/curves/axis.c --------------------------------------------------------------------- */
/* Sets labels, units, limits, tics. PP_EINVAL for values that a logarithm or range cannot show. */
enum pp_status pp_chart_axes(struct pp_chart *chart, struct pp_error *err);
/* y of the line of perfect scaling at x; NAN if there is none. */
double pp_chart_ideal(const struct pp_chart *chart, double x);

/* ---- plots/curves/names.c: readable columns -------------------------------------------------- */
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
    const char *detail; /* in parentheses after the text, if the unit does not say it; or NULL */
    enum pp_column_unit unit;
};
struct pp_column_name pp_column_name(struct pp_arena *arena, const struct pp_table *table,
                                     int column);
/* Value of a column in the name of a series: "1f1b", "pp 8". */
const char *pp_column_value(struct pp_arena *arena, const struct pp_table *table,
                            const char *column, const char *value);
/* Inputs that are equal in all rows, as many as fit: "gpt3-175b, h100, 64 GPUs, pp 8". */
const char *pp_chart_constants(const struct pp_chart *chart, int columns);

/* ---- plots/curves/labels.c ------------------------------------------------------------------- */
/* Writes names of marks, and of series if the kind labels them, at points where they cover nothing.
 * Leaves out a name without such a place. Sets `is_named` of series. */
struct pp_field;
void pp_chart_label_points(const struct pp_figure *figure, struct pp_chart *chart,
                           const struct pp_field *within);

/* ---- plots/curves/frame.c: title, axes, legend ----------------------------------------------- */
struct pp_legend {
    int entries;
    int longest; /* characters of the longest entry */
    int columns; /* in a paper, which has the legend above */
};
struct pp_legend pp_chart_legend(const struct pp_chart *chart);
/* Preferred size of the picture, and its title. Sets `columns` of the legend. */
struct pp_figure_wish pp_chart_wish(const struct pp_chart *chart, struct pp_legend *legend);
/* Size of the area within the axes: inches, or characters in the terminal. */
struct pp_field {
    double width_in, height_in;
};
struct pp_field pp_chart_field(const struct pp_figure *figure, const struct pp_legend *legend);
void pp_chart_write_frame(const struct pp_figure *figure, const struct pp_chart *chart,
                          const struct pp_legend *legend, struct pp_field field);
extern const char pp_legend_closed[], pp_legend_ideal[];
const char *pp_legend_unfit(const struct pp_chart *chart);

/* ---- plots/curves/draw.c --------------------------------------------------------------------- */
enum pp_status pp_chart_draw(struct pp_chart *chart, struct pp_error *err);
static inline bool pp_chart_in_terminal(const struct pp_chart *chart)
{
    return chart->target->format == PP_PLOT_TERMINAL;
}
