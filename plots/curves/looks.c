/* Looks of series. The first input (the schedule, if it is one) is the colour; others are dashes
 * and symbols. All rows of a file are numbered by first appearance, so that its pictures agree. If
 * the file has more colours than there are, only the drawn rows are numbered. */
#include "plots/curves/chart.h"

struct key {
    int columns[PP_BY_MAX], count;
};
struct classes {
    int *of; /* [row of the table], of numbered rows */
    int count;
};
/* Rows that are numbered. */
struct rows {
    const int *list;
    int count;
};

static struct rows all_rows(const struct pp_chart *chart)
{
    int *list = PP_ARRAY(chart->arena, int, chart->table.rows);

    for (int i = 0; i < chart->table.rows; i++)
        list[i] = i;
    return (struct rows){list, chart->table.rows};
}

static struct classes classify(const struct pp_chart *chart, struct rows rows, const int *columns,
                               int count)
{
    int *of = PP_ARRAY(chart->arena, int, rows.count);
    struct classes classes = {PP_ARRAY(chart->arena, int, chart->table.rows), 0};

    classes.count = pp_chart_classify(chart, rows.list, rows.count, columns, count, of);
    for (int i = 0; i < rows.count; i++)
        classes.of[rows.list[i]] = of[i];
    return classes;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Columns of `by` that differ among the rows drawn, the schedule first. */
static struct key drawn_key(const struct pp_chart *chart)
{
    const int schedule = pp_table_find(&chart->table, "schedule");
    struct key key = {0};

    for (int k = 0; k < chart->by_count; k++) {
        if (!pp_chart_varies(chart, chart->by[k]))
            continue;
        key.columns[key.count++] = chart->by[k];
        if (chart->by[k] == schedule) {
            key.columns[key.count - 1] = key.columns[0];
            key.columns[0] = schedule;
        }
    }
    /* A single curve has the colour of its schedule in other pictures. */
    if (key.count == 0 && schedule >= 0 && !pp_chart_varies(chart, schedule))
        key.columns[key.count++] = schedule;
    return key;
}

/* ---- looks ----------------------------------------------------------------------------------- */

struct numbers {
    struct classes colours, others, series; /* series: colours and others together */
    int *variants;                          /* [series class] index within its colour */
    bool is_crossed;                        /* several colours have several series */
};

static struct numbers number_rows(const struct pp_chart *chart, const struct key *key)
{
    const int colour = key->count > 0;
    struct rows rows = all_rows(chart);
    int several = 0;

    if (classify(chart, rows, key->columns, colour).count > PP_STYLES)
        rows = (struct rows){chart->rows, chart->row_count};
    struct numbers numbers = {
        .colours = classify(chart, rows, key->columns, colour),
        .others = classify(chart, rows, key->columns + colour, key->count - colour),
        .series = classify(chart, rows, key->columns, key->count),
    };
    int *counts = PP_ARRAY(chart->arena, int, numbers.colours.count);
    numbers.variants = PP_ARRAY(chart->arena, int, numbers.series.count);
    for (int i = 0, seen = 0; i < rows.count; i++) {
        const int row = rows.list[i];
        if (numbers.series.of[row] < seen)
            continue;
        numbers.variants[seen++] = counts[numbers.colours.of[row]]++;
        several += counts[numbers.colours.of[row]] == 2;
    }
    numbers.is_crossed = several > 1;
    return numbers;
}

/* In a crossed table a dash and a symbol have the same meaning in every colour. */
static struct pp_line_look look_of(const struct numbers *numbers, int row)
{
    const int colour = numbers->colours.of[row], other = numbers->others.of[row],
              variant = numbers->variants[numbers->series.of[row]];
    enum { FURTHER = 5 };

    if (numbers->is_crossed) {
        const int shape = colour / PP_STYLES * numbers->others.count + other;
        return (struct pp_line_look){colour % PP_STYLES, shape, shape, shape};
    }
    struct pp_line_look look = pp_style_look(colour);
    look.symbol += FURTHER * variant;
    look.dash += variant;
    look.paper_dash += 3 * variant;
    return look;
}

/* Returns a free style: 101 to 103 are closed forms, bad fits and the ideal line. */
static int free_style(int series)
{
    enum { TAKEN = 100 };
    const int style = PP_STYLES + series;

    return style < TAKEN ? style : style + TAKEN;
}

void pp_chart_give_looks(struct pp_chart *chart)
{
    const struct key key = drawn_key(chart);
    const struct numbers numbers = number_rows(chart, &key);
    bool is_plain = numbers.colours.count <= PP_LETTERS;

    chart->is_crossed = numbers.is_crossed;
    for (int s = 0; s < chart->series_count; s++) {
        struct pp_curve *curve = &chart->series[s];
        const int row = curve->points[0].row, colour = numbers.colours.of[row];
        const int variant = numbers.variants[numbers.series.of[row]];
        const bool is_defined = colour < PP_STYLES && variant == 0 && !numbers.is_crossed;
        curve->look = look_of(&numbers, row);
        curve->style = is_defined ? colour : free_style(s);
        curve->rank = numbers.is_crossed ? colour : numbers.series.of[row];
        curve->letter = colour;
        is_plain &= variant == 0 && !numbers.is_crossed;
    }
    for (int s = 0; s < chart->series_count && !is_plain; s++)
        chart->series[s].letter = s;
}
