/* Rows to series: the rows of each series, its name, and the order of the legend. */
#include "plots/curves/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- several rows at one place --------------------------------------------------------------- */

static int differing_input(const struct pp_chart *chart, const int *pair)
{
    int found = -1;

    for (int c = 0; c < chart->table.column_count; c++)
        if (pp_chart_is_input(chart, c) &&
            strcmp(pp_chart_cell(chart, pair[0], c), pp_chart_cell(chart, pair[1], c)) != 0 &&
            (found < 0 || (pp_chart_follows(chart, found) && !pp_chart_follows(chart, c))))
            found = c;
    return found;
}

static const char *place(const struct pp_chart *chart, int row)
{
    const char *const *names = chart->table.columns;
    const char *text = pp_arena_printf(chart->arena, "%s %s", names[chart->x],
                                       pp_chart_cell(chart, row, chart->x));

    for (int k = 0; k < chart->by_count; k++)
        text = pp_arena_printf(chart->arena, "%s, %s %s", text, names[chart->by[k]],
                               pp_chart_cell(chart, row, chart->by[k]));
    return text;
}

static const char *by_text(const struct pp_chart *chart, int column)
{
    const char *text = "";

    for (int k = 0; k < chart->by_count; k++)
        text = pp_arena_printf(chart->arena, "%s%s,", text, chart->table.columns[chart->by[k]]);
    return pp_arena_printf(chart->arena, "%s%s", text, chart->table.columns[column]);
}

static enum pp_status refuse_pair(const struct pp_chart *chart, const int *pair,
                                  struct pp_error *err)
{
    const struct pp_table *table = &chart->table;
    const int column = differing_input(chart, pair);

    pp_error_set(err, PP_EINVAL, "lines %d and %d of %s are both at %s", table->lines[pair[0]],
                 table->lines[pair[1]], table->name, place(chart, pair[0]));
    if (column < 0)
        return pp_error_append(err, ", and no input tells them apart; --kind scatter draws every "
                                    "row as a point");
    return pp_error_append(
        err, ", but %s varies: %s\n  try: --by %s, or --where %s=%s, or --kind scatter",
        table->columns[column], pp_chart_values_text(chart, column, pair, 2),
        by_text(chart, column), table->columns[column], pp_chart_cell(chart, pair[0], column));
}

static enum pp_status check_places(const struct pp_chart *chart, const int *rows,
                                   struct pp_error *err)
{
    for (int i = 1; i < chart->row_count && !chart->kind->is_scatter; i++)
        if (pp_chart_is_same_point(chart, rows[i - 1], rows[i]))
            return refuse_pair(chart, (const int[]){rows[i - 1], rows[i]}, err);
    return PP_OK;
}

/* ---- points ---------------------------------------------------------------------------------- */

static int category_of(struct pp_chart *chart, const char *text)
{
    int i = 0;

    while (i < chart->category_count && strcmp(chart->categories[i], text) != 0)
        i++;
    if (i == chart->category_count)
        chart->categories[chart->category_count++] = text;
    return i;
}

static double number(const struct pp_chart *chart, int row, int column)
{
    return column < 0 ? (double)NAN : pp_table_number(&chart->table, row, column, NULL);
}

static void add_point(struct pp_chart *chart, struct pp_curve *curve, int row)
{
    const struct pp_table *table = &chart->table;
    const bool is_bubble = !strcmp(table->columns[chart->y], "bubble_frac");
    const int closed = is_bubble && !chart->kind->is_scatter
                           ? pp_table_find(table, "closed_form_bubble_frac")
                           : -1,
              fits = pp_table_find(table, "fits");
    struct pp_curve_point *point =
        PP_PUSH(chart->arena, curve->points, curve->count, curve->capacity);

    *point = (struct pp_curve_point){
        .row = row,
        .x = chart->is_categorical ? category_of(chart, pp_chart_cell(chart, row, chart->x))
                                   : number(chart, row, chart->x),
        .y = number(chart, row, chart->y),
        .closed = number(chart, row, closed),
        .is_unfit = fits >= 0 && !strcmp(pp_chart_cell(chart, row, fits), "false"),
    };
    chart->has_closed |= !isnan(point->closed);
    chart->has_unfit |= point->is_unfit;
}

/* ---- series ---------------------------------------------------------------------------------- */

bool pp_chart_is_same_series(const struct pp_chart *chart, int a, int b)
{
    for (int k = 0; k < chart->by_count; k++)
        if (strcmp(pp_chart_cell(chart, a, chart->by[k]), pp_chart_cell(chart, b, chart->by[k])))
            return false;
    return true;
}

/* Is true if series that agree in the columns before this one differ in it. */
static bool tells_apart(const struct pp_chart *chart, int row, int k)
{
    struct pp_chart before = *chart;

    before.by_count = k;
    for (int i = 0; i < chart->row_count; i++)
        if (pp_chart_is_same_series(&before, chart->rows[i], row) &&
            strcmp(pp_chart_cell(chart, chart->rows[i], chart->by[k]),
                   pp_chart_cell(chart, row, chart->by[k])) != 0)
            return true;
    return false;
}

/* Leaves out columns that tell nothing apart, unless nothing would remain. */
static const char *full_name(const struct pp_chart *chart, int row)
{
    const char *name = "";

    for (int k = 0; k < chart->by_count; k++) {
        const int column = chart->by[k];
        if (chart->by_count > 1 && !tells_apart(chart, row, k))
            continue;
        name = pp_arena_printf(chart->arena, "%s%s%s", name, *name ? ", " : "",
                               pp_column_value(chart->arena, &chart->table,
                                               chart->table.columns[column],
                                               pp_chart_cell(chart, row, column)));
    }
    if (!*name && chart->by_count > 0)
        return pp_column_value(chart->arena, &chart->table, chart->table.columns[chart->by[0]],
                               pp_chart_cell(chart, row, chart->by[0]));
    return name;
}

/* Cuts the name to the room of a legend. */
static const char *series_name(const struct pp_chart *chart, int row)
{
    enum { LONGEST = 44, OTHER_COLUMNS = 14 };
    const bool in_terminal = pp_chart_in_terminal(chart);
    const int room = in_terminal ? chart->target->terminal.width / 2 - OTHER_COLUMNS : LONGEST;
    const char *name = full_name(chart, row);

    return (int)strlen(name) <= room ? name
                                     : pp_arena_printf(chart->arena, "%.*s...", room - 3, name);
}

static int compare_rows(const void *a, const void *b)
{
    return ((const struct pp_curve_point *)a)->row - ((const struct pp_curve_point *)b)->row;
}

static int compare_x(const void *a, const void *b)
{
    const struct pp_curve_point *p = a, *q = b;

    return p->x < q->x ? -1 : p->x > q->x ? 1 : p->row - q->row;
}

static int first_row(const struct pp_curve *curve)
{
    int first = curve->points[0].row;

    for (int i = 1; i < curve->count; i++)
        first = curve->points[i].row < first ? curve->points[i].row : first;
    return first;
}

static int compare_appearance(const void *a, const void *b)
{
    return first_row(a) - first_row(b);
}

/* Orders curves by their right ends, the highest first. */
static int compare_right_ends(const void *a, const void *b)
{
    const struct pp_curve *p = a, *q = b;
    const struct pp_curve_point *s = &p->points[p->count - 1], *t = &q->points[q->count - 1];

    if (s->y > t->y || s->y < t->y)
        return s->y > t->y ? -1 : 1;
    return p->rank - q->rank;
}

static int compare_ranks(const void *a, const void *b)
{
    const struct pp_curve *p = a, *q = b;

    return p->rank != q->rank ? p->rank - q->rank : p->order - q->order;
}

/* Names a single series if the legend has other entries. */
static void name_single(struct pp_chart *chart)
{
    const int schedule = pp_table_find(&chart->table, "schedule");
    struct pp_curve *only = &chart->series[0];

    if (chart->series_count != 1 || *only->name ||
        !(chart->has_closed || chart->has_unfit || chart->has_ideal || chart->curves->points))
        return;
    only->name = schedule >= 0 && !pp_chart_varies(chart, schedule)
                     ? pp_chart_cell(chart, chart->rows[0], schedule)
                     : pp_column_name(chart->arena, &chart->table, chart->y).text;
}

/* ---- equal series: schedules with one closed form lie on one line, drawn once ---------------- */

static bool is_near(double a, double b)
{
    const double NEAR = 1e-9;

    return fabs(a - b) <= NEAR * fmax(fabs(a), fabs(b));
}

static bool is_same(const struct pp_curve *a, const struct pp_curve *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++) {
        const struct pp_curve_point *p = &a->points[i], *q = &b->points[i];
        if (!is_near(p->x, q->x) || !is_near(p->y, q->y) || p->is_unfit != q->is_unfit ||
            isnan(p->closed) != isnan(q->closed) ||
            (!isnan(p->closed) && !is_near(p->closed, q->closed)))
            return false;
    }
    return true;
}

void pp_chart_join_same(struct pp_chart *chart)
{
    int kept = 0;

    for (int s = 0; s < chart->series_count; s++) {
        int k = 0;
        while (k < kept && !is_same(&chart->series[k], &chart->series[s]))
            k++;
        struct pp_curve *first = &chart->series[k];
        if (k < kept)
            *PP_PUSH(chart->arena, first->same, first->same_count, first->same_capacity) =
                (struct pp_curve_same){chart->series[s].name, chart->series[s].points[0].row};
        else
            chart->series[kept++] = chart->series[s];
    }
    chart->series_count = kept;
}

/* ---- all of it ------------------------------------------------------------------------------- */

enum pp_status pp_chart_group(struct pp_chart *chart, struct pp_error *err)
{
    int *rows = PP_ARRAY(chart->arena, int, chart->row_count), capacity = 0;

    chart->categories = PP_ARRAY(chart->arena, const char *, chart->row_count);
    for (int i = 0; i < chart->row_count && chart->is_categorical; i++)
        category_of(chart, pp_chart_cell(chart, chart->rows[i], chart->x));
    memcpy(rows, chart->rows, sizeof(*rows) * (size_t)chart->row_count);
    pp_chart_sort(chart, rows, chart->row_count);
    PP_TRY(check_places(chart, rows, err));
    for (int i = 0; i < chart->row_count; i++) {
        if (i == 0 || !pp_chart_is_same_series(chart, rows[i - 1], rows[i]))
            *PP_PUSH(chart->arena, chart->series, chart->series_count, capacity) =
                (struct pp_curve){.name = series_name(chart, rows[i]), .order = i};
        add_point(chart, &chart->series[chart->series_count - 1], rows[i]);
    }
    const size_t count = (size_t)chart->series_count;
    qsort(chart->series, count, sizeof(*chart->series), compare_appearance);
    for (int i = 0; i < chart->series_count; i++)
        qsort(chart->series[i].points, (size_t)chart->series[i].count,
              sizeof(struct pp_curve_point), chart->kind->is_scatter ? compare_rows : compare_x);
    if (!chart->kind->is_scatter)
        pp_chart_join_same(chart);
    pp_chart_give_looks(chart);
    name_single(chart);
    if (!chart->kind->is_scatter && !chart->is_categorical)
        qsort(chart->series, (size_t)chart->series_count, sizeof(*chart->series),
              chart->is_crossed ? compare_ranks : compare_right_ends);
    return PP_OK;
}
