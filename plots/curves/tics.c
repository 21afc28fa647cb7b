/* Limits on round numbers, and tics where the data are. */
#include "plots/curves/chart.h"

#include <math.h>
#include <string.h>

/* "'64' 64"; whole numbers whole. */
static const char *tic(struct pp_arena *arena, const char *label, double at, const char *before)
{
    return pp_arena_printf(arena, "%s%s'%s' %.12g", before, *before ? ", " : "", label, at);
}

static double position(const struct pp_curve_axis *axis, double value)
{
    if (axis->log_base > 0)
        return log(value / axis->lo) / log(axis->hi / axis->lo);
    return (value - axis->lo) / (axis->hi - axis->lo);
}

const char *pp_tics_at(struct pp_arena *arena, const struct pp_curve_axis *axis,
                       const double *values, int count, double length_in, double character_in)
{
    const char *list = "";
    double free_from = -INFINITY; /* inches along the axis */

    for (int i = 0; i < count; i++) {
        const char *label = pp_arena_printf(arena, "%.10g", values[i]);
        const double half = 0.5 * (double)strlen(label) * character_in;
        const double at = length_in * position(axis, values[i]);

        if (at - half < free_from && !(axis->log_base > 0))
            return NULL;
        if (at - half < free_from)
            continue;
        free_from = at + half + 1.5 * character_in;
        list = tic(arena, label, values[i], list);
    }
    return pp_arena_printf(arena, "(%s)", list);
}

/* 2e-5 -> "20 us" */
static const char *seconds_label(struct pp_arena *arena, double value)
{
    static const struct {
        double size;
        const char *name;
    } UNITS[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    int unit = 0;

    while (unit < 3 && value < 0.999 * UNITS[unit].size)
        unit++;
    return pp_arena_printf(arena, "%.10g %s", value / UNITS[unit].size, UNITS[unit].name);
}

void pp_tics_decades(struct pp_arena *arena, struct pp_curve_axis *axis, bool is_seconds)
{
    enum { FEW = 2, MANY = 8 };
    static const double EACH[] = {1}, SOME[] = {1, 2, 5};
    const double span = log10(axis->hi / axis->lo);
    const double *mantissas = span <= FEW ? SOME : EACH;
    const int count = span <= FEW ? 3 : 1, stride = 1 + (int)((span - 1e-9) / MANY);
    const double low = axis->lo * (1 + 1e-9), high = axis->hi * (1 - 1e-9);
    const int first = (int)floor(log10(axis->lo)) - stride;
    double lo = 0, hi = 0;
    const char *list = "";

    for (int exponent = first; hi <= 0; exponent += stride)
        for (int i = 0; i < count && hi <= 0; i++) {
            const double value = mantissas[i] * pow(10, exponent);
            if (value <= low)
                lo = value;
            if (value >= high && lo > 0)
                hi = value;
        }
    if (!(lo < hi)) {
        hi = 10 * lo;
    }
    for (int exponent = first; exponent <= 400; exponent += stride)
        for (int i = 0; i < count; i++) {
            const double value = mantissas[i] * pow(10, exponent);
            if (value < lo * (1 - 1e-9) || value > hi * (1 + 1e-9))
                continue;
            const char *label =
                is_seconds ? seconds_label(arena, value) : pp_arena_printf(arena, "%g", value);
            list = tic(arena, label, value, list);
        }
    axis->lo = lo;
    axis->hi = hi;
    axis->tics = pp_arena_printf(arena, "(%s)", list);
}

/* 1, 2 or 5 times a power of ten. */
static double round_step(double rough)
{
    const double power = pow(10, floor(log10(rough))), share = rough / power;

    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

void pp_tics_round(struct pp_curve_axis *axis)
{
    enum { INTERVALS = 6 };
    const double step = round_step((axis->hi - axis->lo) / INTERVALS), slack = 1e-9;

    axis->lo = step * floor(axis->lo / step + slack);
    axis->hi = step * ceil(axis->hi / step - slack);
}
