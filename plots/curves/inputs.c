/* Inputs of a sweep: which were varied, and which follow from those. */
#define _GNU_SOURCE /* qsort_r */

#include "plots/curves/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_whole(const struct pp_chart *chart, int column)
{
    for (int i = 0; i < chart->row_count; i++) {
        bool is_number;
        const double value = pp_table_number(&chart->table, chart->rows[i], column, &is_number);
        if (is_number && value != floor(value))
            return false;
    }
    return true;
}

/* A sweep has inputs, then results; a plan has its status and bounds between them. In other tables,
 * whole numbers before y are inputs. */
bool pp_chart_is_input(const struct pp_chart *chart, int column)
{
    const int status = pp_table_find(&chart->table, "status");
    int figure = pp_table_find(&chart->table, "iteration_s");

    if (status > 0 && status < figure)
        figure = status;
    if (column == chart->y || !strcmp(chart->table.columns[column], "point"))
        return false;
    if (figure > 0)
        return column < figure;
    return (chart->y == 0 || column < chart->y) && is_whole(chart, column);
}

struct order {
    const struct pp_chart *chart;
    const int *rows, *columns;
    int count; /* number of columns */
};

static int compare_texts(const struct order *order, int a, int b)
{
    int result = 0;

    for (int k = 0; k < order->count && !result; k++)
        if (order->columns[k] >= 0)
            result = strcmp(pp_chart_cell(order->chart, order->rows[a], order->columns[k]),
                            pp_chart_cell(order->chart, order->rows[b], order->columns[k]));
    return result;
}

static int compare_places(const void *left, const void *right, void *order)
{
    const int a = *(const int *)left, b = *(const int *)right;
    const int result = compare_texts(order, a, b);

    return result ? result : a - b;
}

int pp_chart_classify(const struct pp_chart *chart, const int *rows, int row_count,
                      const int *columns, int count, int *of)
{
    const struct pp_arena_mark mark = pp_arena_mark(chart->arena);
    struct order order = {chart, rows, columns, count};
    int *places = PP_ARRAY(chart->arena, int, row_count), classes = 0;

    for (int i = 0; i < row_count; i++)
        places[i] = i;
    qsort_r(places, (size_t)row_count, sizeof(*places), compare_places, &order);
    for (int i = 0; i < row_count; i++) /* index of the first row with the same texts */
        of[places[i]] = i > 0 && compare_texts(&order, places[i - 1], places[i]) == 0
                            ? of[places[i - 1]]
                            : places[i];
    for (int i = 0; i < row_count; i++)
        of[i] = of[i] == i ? classes++ : of[of[i]];
    pp_arena_release(chart->arena, mark);
    return classes;
}

int pp_chart_distinct(const struct pp_chart *chart, const int *columns, int count)
{
    const struct pp_arena_mark mark = pp_arena_mark(chart->arena);
    const int classes = pp_chart_classify(chart, chart->rows, chart->row_count, columns, count,
                                          PP_ARRAY(chart->arena, int, chart->row_count));

    pp_arena_release(chart->arena, mark);
    return classes;
}

static int find(const struct pp_chart *chart, const char *name)
{
    return pp_table_find(&chart->table, name);
}

static int count_of(const struct pp_chart *chart, const char *name)
{
    return pp_chart_distinct(chart, (const int[]){find(chart, name)}, 1);
}

bool pp_chart_varies_within_schedule(const struct pp_chart *chart, int column)
{
    const int pair[] = {find(chart, "schedule"), column};

    return pp_chart_distinct(chart, pair, 2) > pp_chart_distinct(chart, pair, 1);
}

bool pp_chart_is_abstract(const struct pp_chart *chart)
{
    const int unit = find(chart, "unit");

    return unit >= 0 && *pp_chart_cell(chart, chart->rows[0], unit);
}

/* gpus is dp times the ranks of a replica, so one of the two follows. A sweep of dp and pp has more
 * values of gpus than of dp; one of gpus and pp more of dp. If each number of GPUs has one layout,
 * gpus does not follow. */
static bool do_gpus_follow(const struct pp_chart *chart)
{
    const int layout[] = {find(chart, "schedule"), find(chart, "gpus"), find(chart, "tp"),
                          find(chart, "pp"),       find(chart, "cp"),   find(chart, "dp")};
    const int ranks[] = {layout[2], layout[3], layout[4]};

    if (pp_chart_is_abstract(chart))
        return true;
    if (count_of(chart, "dp") == 1)
        return pp_chart_distinct(chart, ranks, 3) > 1;
    return count_of(chart, "gpus") > count_of(chart, "dp") &&
           pp_chart_distinct(chart, layout, 2) != pp_chart_distinct(chart, layout, 6);
}

static bool does_dp_follow(const struct pp_chart *chart)
{
    return !do_gpus_follow(chart);
}

static bool do_micro_batches_follow(const struct pp_chart *chart)
{
    return find(chart, "gbs") >= 0 && count_of(chart, "gbs") < count_of(chart, "micro_batches");
}

static bool does_gbs_follow(const struct pp_chart *chart)
{
    return count_of(chart, "micro_batches") > 1 && !do_micro_batches_follow(chart);
}

/* A batch and its groups are the inputs of rows that generate; the sizes of training follow. */
static bool does_serving_follow(const struct pp_chart *chart, const char *column)
{
    static const struct {
        const char *column, *from;
    } SIZES[] = {{"micro_batches", "groups"},
                 {"micro_batches", "batch"},
                 {"mbs", "batch"},
                 {"gbs", "batch"},
                 {"seq", "prompt"}};

    for (size_t i = 0; i < PP_COUNT(SIZES); i++)
        if (!strcmp(column, SIZES[i].column) && find(chart, SIZES[i].from) >= 0)
            return true;
    return false;
}

static bool does_vp_follow(const struct pp_chart *chart)
{
    return !pp_chart_varies_within_schedule(chart, find(chart, "vp"));
}

bool pp_chart_follows(const struct pp_chart *chart, int column)
{
    static const struct {
        const char *column;
        bool (*follows)(const struct pp_chart *chart);
    } FOLLOWING[] = {
        {"gpus", do_gpus_follow},
        {"dp", does_dp_follow},
        {"micro_batches", do_micro_batches_follow},
        {"gbs", does_gbs_follow},
        {"vp", does_vp_follow},
    };

    if (pp_table_serves(&chart->table) && does_serving_follow(chart, chart->table.columns[column]))
        return true;
    for (size_t i = 0; i < PP_COUNT(FOLLOWING); i++)
        if (!strcmp(chart->table.columns[column], FOLLOWING[i].column))
            return FOLLOWING[i].follows(chart);
    return false;
}
