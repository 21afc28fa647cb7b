/* Schedules with one closed form lie on one line: it is drawn once, with all their names. */
#include "plots/curves/chart.h"

#include <math.h>

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
