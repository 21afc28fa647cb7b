/* Columns for x, y and the series: those of the options, or those that the table suggests. */
#define _GNU_SOURCE /* qsort_r */

#include "plots/curves/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns --------------------------------------------------------------------------------- */

/* The first of "a|b" that has a value, else the first that exists. */
static const char *first_with_values(const struct pp_chart *chart, const char *names)
{
    const char *found = NULL;
    char *list = pp_arena_strdup(chart->arena, names);

    for (char *name; (name = strsep(&list, "|"));) {
        const int column = pp_table_find(&chart->table, name);
        if (column >= 0 && pp_chart_is_numeric(chart, column))
            return name;
        if (!found || (column >= 0 && pp_table_find(&chart->table, found) < 0))
            found = name;
    }
    return found;
}

static enum pp_status find(const struct pp_chart *chart, const char *option, const char *typed,
                           const char *preset, int *column, struct pp_error *err)
{
    const char *from = pp_arena_printf(chart->arena, "--kind %s", chart->kind->name);

    return pp_table_column(&chart->table, typed ? option : from,
                           typed ? typed : first_with_values(chart, preset), column, err);
}

/* ---- y, then x ------------------------------------------------------------------------------- */

static enum pp_status check_numeric(const struct pp_chart *chart, int column, struct pp_error *err)
{
    const struct pp_table *table = &chart->table;
    bool is_number, has_listed = false;

    for (int i = 0; i < chart->row_count; i++) {
        pp_table_number(table, chart->rows[i], column, &is_number);
        if (is_number)
            continue;
        pp_error_set(err, PP_EINVAL, "%s:%d: %s is \"%s\": y must be a number", table->name,
                     table->lines[chart->rows[i]], table->columns[column],
                     pp_chart_cell(chart, chart->rows[i], column));
        for (int c = 0; c < table->column_count; c++)
            if (pp_chart_is_numeric(chart, c)) {
                pp_error_append(err, "%s%s",
                                has_listed ? " " : "\n  columns of numbers: ", table->columns[c]);
                has_listed = true;
            }
        return PP_EINVAL;
    }
    return PP_OK;
}

static enum pp_status choose_y(struct pp_chart *chart, struct pp_error *err)
{
    /* the first one only where rows generate */
    static const char *const USUAL[] = {"tokens_per_s_per_gpu", "bubble_frac", "iteration_s"};
    const struct pp_table *table = &chart->table;
    const char *adapted = chart->kind->adapt ? chart->kind->adapt(chart) : NULL;
    const char *preset = adapted ? adapted : chart->kind->y;

    if (chart->curves->y || preset) {
        PP_TRY(find(chart, "-y", chart->curves->y, preset, &chart->y, err));
        return check_numeric(chart, chart->y, err);
    }
    for (size_t i = pp_table_serves(table) ? 0 : 1; i < PP_COUNT(USUAL); i++) {
        chart->y = pp_table_find(table, USUAL[i]);
        if (chart->y >= 0 && pp_chart_is_numeric(chart, chart->y))
            return PP_OK;
    }
    chart->y = -1;
    for (int c = 0; c < table->column_count; c++) /* results are the last columns */
        chart->y = pp_chart_is_numeric(chart, c) ? c : chart->y;
    if (chart->y < 0)
        return pp_error_set(err, PP_EINVAL, "%s has no column of numbers to draw", table->name);
    return PP_OK;
}

/* The numeric input with most values, varied ones first; else an input of words that varies, else
 * any number. An input that only differs between schedules is no x. */
static int suggest_x(const struct pp_chart *chart)
{
    const struct pp_table *table = &chart->table;
    int best = -1, best_count = 1, words = -1, other = -1;
    bool does_best_follow = true;

    for (int c = 0; c < table->column_count; c++) {
        if (c == chart->y)
            continue;
        const bool is_numeric = pp_chart_is_numeric(chart, c);
        const int count = pp_chart_is_input(chart, c) ? pp_chart_distinct(chart, &c, 1) : 0;
        if (!is_numeric && count > 1 && words < 0)
            words = c;
        if (is_numeric && other < 0 && strcmp(table->columns[c], "point") != 0)
            other = c;
        if (!is_numeric || count < 2 || !pp_chart_varies_within_schedule(chart, c))
            continue;
        const bool does_follow = pp_chart_follows(chart, c);
        if (does_follow < does_best_follow ||
            (does_follow == does_best_follow && count > best_count)) {
            best = c;
            best_count = count;
            does_best_follow = does_follow;
        }
    }
    const int usual = pp_table_find(table, "micro_batches");
    return best >= 0 ? best : words >= 0 ? words : usual >= 0 ? usual : other;
}

static enum pp_status choose_x(struct pp_chart *chart, struct pp_error *err)
{
    if (chart->curves->x || chart->kind->x)
        PP_TRY(find(chart, "-x", chart->curves->x, chart->kind->x, &chart->x, err));
    else
        chart->x = suggest_x(chart);
    if (chart->x < 0)
        chart->x = chart->y; /* the only column */
    bool is_number = true;
    for (int i = 0; i < chart->row_count && is_number; i++)
        pp_table_number(&chart->table, chart->rows[i], chart->x, &is_number);
    chart->is_categorical = !is_number;
    return PP_OK;
}

/* ---- series ---------------------------------------------------------------------------------- */

static int compare_cells(const struct pp_table *table, int a, int b, int column)
{
    bool is_a, is_b;
    const double x = pp_table_number(table, a, column, &is_a),
                 y = pp_table_number(table, b, column, &is_b);

    if (is_a && is_b && !isnan(x) && !isnan(y))
        return (x > y) - (x < y);
    return strcmp(table->cells[a][column], table->cells[b][column]);
}

static int compare_points(const struct pp_chart *chart, int a, int b)
{
    int order = 0;

    for (int k = 0; k < chart->by_count && !order; k++)
        order = compare_cells(&chart->table, a, b, chart->by[k]);
    return order ? order : compare_cells(&chart->table, a, b, chart->x);
}

static int compare_rows(const void *a, const void *b, void *chart)
{
    const int x = *(const int *)a, y = *(const int *)b;
    const int order = compare_points(chart, x, y);

    return order ? order : (x > y) - (x < y);
}

void pp_chart_sort(const struct pp_chart *chart, int *rows, int count)
{
    qsort_r(rows, (size_t)count, sizeof(*rows), compare_rows, (void *)chart);
}

bool pp_chart_is_same_point(const struct pp_chart *chart, int a, int b)
{
    return compare_points(chart, a, b) == 0;
}

bool pp_chart_is_by(const struct pp_chart *chart, int column)
{
    for (int k = 0; k < chart->by_count; k++)
        if (chart->by[k] == column)
            return true;
    return false;
}

/* The first input by which rows at the same place differ, or -1; varied inputs take precedence. */
static int splitting_column(const struct pp_chart *chart, int *rows, const bool *follows)
{
    int found = -1;

    pp_chart_sort(chart, rows, chart->row_count);
    for (int i = 1; i < chart->row_count; i++) {
        if (!pp_chart_is_same_point(chart, rows[i - 1], rows[i]))
            continue;
        for (int c = 0; c < chart->table.column_count; c++) {
            const bool is_better = found < 0 || follows[c] < follows[found] ||
                                   (follows[c] == follows[found] && c < found);
            if (is_better && c != chart->x && !pp_chart_is_by(chart, c) &&
                pp_chart_is_input(chart, c) &&
                strcmp(pp_chart_cell(chart, rows[i - 1], c), pp_chart_cell(chart, rows[i], c)))
                found = c;
        }
    }
    return found;
}

/* Adds all inputs that vary, but for the one along which the kind joins points. */
static void suggest_along(struct pp_chart *chart)
{
    const int along = chart->kind->along ? pp_table_find(&chart->table, chart->kind->along) : -1;

    if (along < 0 || !pp_chart_varies(chart, along))
        return;
    for (int c = 0; c < chart->table.column_count && chart->by_count < PP_BY_MAX; c++)
        if (c != along && c != chart->x && pp_chart_is_input(chart, c) &&
            pp_chart_varies(chart, c) && !pp_chart_follows(chart, c) && !pp_chart_is_by(chart, c))
            chart->by[chart->by_count++] = c;
}

static void suggest_by(struct pp_chart *chart)
{
    const int schedule = pp_table_find(&chart->table, "schedule");
    int *rows = PP_ARRAY(chart->arena, int, chart->row_count), column;
    bool *follows = PP_ARRAY(chart->arena, bool, chart->table.column_count);

    for (int c = 0; c < chart->table.column_count; c++)
        follows[c] = pp_chart_follows(chart, c);
    if (schedule >= 0 && schedule != chart->x && pp_chart_varies(chart, schedule))
        chart->by[chart->by_count++] = schedule;
    memcpy(rows, chart->rows, sizeof(*rows) * (size_t)chart->row_count);
    while (!chart->kind->is_scatter && chart->by_count < PP_BY_MAX &&
           (column = splitting_column(chart, rows, follows)) >= 0)
        chart->by[chart->by_count++] = column;
    suggest_along(chart);
}

enum pp_status pp_chart_read_by(struct pp_chart *chart, struct pp_error *err)
{
    char *list = pp_arena_strdup(chart->arena, chart->curves->by);

    for (char *name; (name = strsep(&list, ","));) {
        int column;
        if (!*name)
            continue;
        PP_TRY(pp_table_column(&chart->table, "--by", name, &column, err));
        if (chart->by_count == PP_BY_MAX)
            return pp_error_set(err, PP_EINVAL, "--by %s: at most %d columns", chart->curves->by,
                                (int)PP_BY_MAX);
        chart->by[chart->by_count++] = column;
    }
    return PP_OK;
}

static void tell_choice(const struct pp_chart *chart)
{
    const char *const *names = chart->table.columns;

    if (!chart->notes || (chart->curves->x && chart->curves->y && chart->curves->by))
        return;
    fprintf(chart->notes, "note: %s over %s", names[chart->y], names[chart->x]);
    for (int k = 0; k < chart->by_count; k++)
        fprintf(chart->notes, "%s%s", k ? "," : " by ", names[chart->by[k]]);
    fputs(" (other columns: -x, -y, --by)\n", chart->notes);
}

/* Divides durations by vp: in unit mode they count chunks, and schedules have different vp. */
static void count_ranks(struct pp_chart *chart)
{
    static const char TIME[] = "iteration_s", SHARE[] = "iteration_s/vp";
    struct pp_table *table = &chart->table;
    const int unit = pp_table_find(table, "unit"), vp = pp_table_find(table, "vp"),
              time = pp_table_find(table, TIME);
    const bool is_x = chart->x == time, is_y = chart->y == time;

    if (!pp_chart_is_abstract(chart) || pp_chart_varies(chart, unit) || time < 0 || vp < 0 ||
        !pp_chart_varies(chart, vp) || !(is_x || is_y))
        return;
    if (strstr(pp_chart_cell(chart, chart->rows[0], unit), "C=")) { /* messages are not divided */
        if (chart->notes)
            fputs("note: --unit is the time of a chunk, and vp differs: iteration_s of several "
                  "chunks per rank counts smaller chunks\n",
                  chart->notes);
        return;
    }
    pp_table_add_ratio(chart->arena, table, SHARE, time, vp);
    chart->x = is_x ? table->column_count - 1 : chart->x;
    chart->y = is_y ? table->column_count - 1 : chart->y;
    if (chart->notes)
        fputs("note: --unit is the time of a chunk, and vp differs: iteration_s is divided by vp\n",
              chart->notes);
}

enum pp_status pp_chart_choose(struct pp_chart *chart, struct pp_error *err)
{
    PP_TRY(choose_y(chart, err));
    PP_TRY(choose_x(chart, err));
    count_ranks(chart);
    PP_TRY(pp_chart_need_values(chart, err));
    if (chart->curves->by)
        PP_TRY(pp_chart_read_by(chart, err));
    else
        suggest_by(chart);
    tell_choice(chart);
    return PP_OK;
}
