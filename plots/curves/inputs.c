/* Which inputs of a sweep were varied, and which only follow from those. */
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

/* A sweep has inputs, then figures. In other tables, columns of whole numbers before y are inputs.
 */
bool pp_chart_is_input(const struct pp_chart *chart, int column)
{
    const int figure = pp_table_find(&chart->table, "iteration_s");

    if (column == chart->y || !strcmp(chart->table.columns[column], "point"))
        return false;
    if (figure > 0)
        return column < figure;
    return (chart->y == 0 || column < chart->y) && is_whole(chart, column);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* -1 stands for no column. */
static int count_tuples(const struct pp_chart *chart, const int *columns, int count)
{
    struct pp_arena_mark mark = pp_arena_mark(chart->arena);
    const char **texts = PP_ARRAY(chart->arena, const char *, chart->row_count);
    int distinct = chart->row_count > 0;

    for (int i = 0; i < chart->row_count; i++) {
        texts[i] = "";
        for (int k = 0; k < count; k++)
            if (columns[k] >= 0)
                texts[i] = pp_arena_printf(chart->arena, "%s%s\n", texts[i],
                                           pp_chart_cell(chart, chart->rows[i], columns[k]));
    }
    qsort(texts, (size_t)chart->row_count, sizeof(*texts), compare_texts);
    for (int i = 1; i < chart->row_count; i++)
        distinct += strcmp(texts[i - 1], texts[i]) != 0;
    pp_arena_release(chart->arena, mark);
    return distinct;
}

static int find(const struct pp_chart *chart, const char *name)
{
    return pp_table_find(&chart->table, name);
}

static int count_of(const struct pp_chart *chart, const char *name)
{
    return count_tuples(chart, (const int[]){find(chart, name)}, 1);
}

int pp_chart_distinct(const struct pp_chart *chart, int column)
{
    return count_tuples(chart, &column, 1);
}

bool pp_chart_varies_within_schedule(const struct pp_chart *chart, int column)
{
    const int pair[] = {find(chart, "schedule"), column};

    return count_tuples(chart, pair, 2) > count_tuples(chart, pair, 1);
}

bool pp_chart_is_abstract(const struct pp_chart *chart)
{
    const int unit = find(chart, "unit");

    return unit >= 0 && *pp_chart_cell(chart, chart->rows[0], unit);
}

/* gpus is dp times the ranks of a replica, so one of the two follows. A sweep of dp and pp has more
 * values of gpus than of dp; a sweep of gpus and pp has more of dp. If each number of GPUs has one
 * layout, gpus does not follow. */
static bool do_gpus_follow(const struct pp_chart *chart)
{
    const int layout[] = {find(chart, "schedule"), find(chart, "gpus"), find(chart, "tp"),
                          find(chart, "pp"),       find(chart, "cp"),   find(chart, "dp")};
    const int ranks[] = {layout[2], layout[3], layout[4]};

    if (pp_chart_is_abstract(chart))
        return true;
    if (count_of(chart, "dp") == 1)
        return count_tuples(chart, ranks, 3) > 1;
    return count_of(chart, "gpus") > count_of(chart, "dp") &&
           count_tuples(chart, layout, 2) != count_tuples(chart, layout, 6);
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

    for (size_t i = 0; i < PP_COUNT(FOLLOWING); i++)
        if (!strcmp(chart->table.columns[column], FOLLOWING[i].column))
            return FOLLOWING[i].follows(chart);
    return false;
}
