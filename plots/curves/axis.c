/* Axes: units that keep numbers short, logarithms if values double or span decades. gnuplot's
 * autoscale chooses limits and most tics. This file sets the limits that depend on the kind of
 * column, and tics at the data. */
#include "core/quantile.h"
#include "plots/curves/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct values {
    double *data; /* in units of the table, ascending, distinct */
    int count;
};

/* ---- values ---------------------------------------------------------------------------------- */

static void sort_once(struct values *values)
{
    int kept = 0;

    qsort(values->data, (size_t)values->count, sizeof(*values->data), pp_ascending);
    for (int i = 0; i < values->count; i++)
        if (kept == 0 || values->data[i] > values->data[kept - 1])
            values->data[kept++] = values->data[i];
    values->count = kept;
}

static struct values collect(const struct pp_chart *chart, bool is_x)
{
    struct values values = {
        PP_ARRAY(chart->arena, double, 3 * chart->row_count + chart->mark_count), 0};

    for (int s = 0; s < chart->series_count; s++)
        for (int i = 0; i < chart->series[s].count; i++) {
            const struct pp_curve_point *point = &chart->series[s].points[i];
            const double ideal = pp_chart_ideal(chart, point->x);
            values.data[values.count++] = is_x ? point->x : point->y;
            if (!is_x && !isnan(point->closed))
                values.data[values.count++] = point->closed;
            if (!is_x && !isnan(ideal))
                values.data[values.count++] = ideal;
        }
    for (int i = 0; i < chart->mark_count && !is_x; i++)
        if (chart->marks[i].y > 0 || !chart->curves->has_log_y)
            values.data[values.count++] = chart->marks[i].y;
    sort_once(&values);
    return values;
}

double pp_chart_ideal(const struct pp_chart *chart, double x)
{
    const struct pp_curve_point *best = NULL;

    for (int s = 0; s < chart->series_count && chart->has_ideal; s++)
        for (int i = 0; i < chart->series[s].count; i++) {
            const struct pp_curve_point *point = &chart->series[s].points[i];
            if (point->x > 0 &&
                (!best || point->x < best->x || (point->x <= best->x && point->y > best->y)))
                best = point;
        }
    return best ? best->y * x / best->x : (double)NAN;
}

/* True for 2, 4, 8 and 1, 3, 9; false for 8, 12, 16, 24, 32, which a linear axis shows as well. */
static bool is_doubling(struct values values)
{
    if (values.count < 3 || !(values.data[0] > 0))
        return false;
    for (int i = 1; i < values.count; i++)
        if (values.data[i] < 1.9 * values.data[i - 1] || values.data[i] > 4.1 * values.data[i - 1])
            return false;
    return true;
}

/* ---- units ----------------------------------------------------------------------------------- */

struct unit {
    double size;
    const char *name;
};
static const struct unit SECONDS[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}, {0, 0}};
static const struct unit BYTES[] = {
    {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "bytes"}, {0, 0}};
static const struct unit FLOPS[] = {{1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1, "FLOP/s"}, {0, 0}};
static const struct unit RATES[] = {{1e8, "million "}, {1e5, "thousand "}, {0, 0}};

/* The largest unit that the largest value reaches. */
static struct unit pick(const struct unit *units, double largest)
{
    while (units[1].name && largest < 0.999 * units->size)
        units++;
    return *units;
}

/* "million " divides by a million, from a hundred million on. */
static struct unit pick_rate(double largest)
{
    for (const struct unit *rate = RATES; rate->name; rate++)
        if (largest >= rate->size)
            return (struct unit){rate->size / 100, rate->name};
    return (struct unit){1, ""};
}

static void label_axis(const struct pp_chart *chart, int column, double largest, bool has_units_at,
                       struct pp_curve_axis *axis)
{
    struct pp_arena *arena = chart->arena;
    const struct pp_column_name name = pp_column_name(arena, &chart->table, column);
    struct unit unit = {1, name.detail};

    axis->subject = name.text;
    if (name.unit == PP_COLUMN_FRAC)
        unit =
            (struct unit){0.01, name.detail ? pp_arena_printf(arena, "%% %s", name.detail) : "%"};
    else if (name.unit == PP_COLUMN_SECONDS && pp_chart_is_abstract(chart))
        unit.name = "units";
    else if (name.unit == PP_COLUMN_SECONDS && has_units_at)
        unit.name = NULL;
    else if (name.unit == PP_COLUMN_SECONDS)
        unit = pick(SECONDS, largest);
    else if (name.unit == PP_COLUMN_BYTES)
        unit = pick(BYTES, largest);
    else if (name.unit == PP_COLUMN_FLOPS)
        unit = pick(FLOPS, largest);
    axis->label = unit.name ? pp_arena_printf(arena, "%s (%s)", name.text, unit.name) : name.text;
    if (name.unit == PP_COLUMN_RATE) {
        unit = pick_rate(largest);
        axis->label = pp_arena_printf(arena, "%s%s", unit.name, name.text);
    }
    axis->scale = 1 / unit.size;
}

/* ---- tics at the data ------------------------------------------------------------------------ */

static double position(const struct pp_curve_axis *axis, double value)
{
    return axis->log_base > 0 ? log(value) : value;
}

/* Is true if labels of that number and length fit at each value of the narrowest axis. */
static bool have_room(const struct pp_curve_axis *axis, struct values values)
{
    enum { CHARACTERS = 42, BETWEEN = 1 };
    const double span = position(axis, axis->hi) - position(axis, axis->lo);
    int before = 0;

    for (int i = 0; i < values.count; i++) {
        const double value = axis->scale * values.data[i];
        const int length = snprintf(NULL, 0, "%.10g", value);
        if (i > 0 && (position(axis, value) - position(axis, axis->scale * values.data[i - 1])) *
                             CHARACTERS <
                         (0.5 * (length + before) + BETWEEN) * span)
            return false;
        before = length;
    }
    return true;
}

/* Tics at the values: "(4, 8, 16)"; NULL: gnuplot's own. */
static const char *tics_at(struct pp_arena *arena, const struct pp_curve_axis *axis,
                           struct values values)
{
    const char *list = "(";

    if (!have_room(axis, values))
        return NULL;
    for (int i = 0; i < values.count; i++)
        list =
            pp_arena_printf(arena, "%s%s%.10g", list, i ? ", " : "", axis->scale * values.data[i]);
    return pp_arena_printf(arena, "%s)", list);
}

/* ---- x --------------------------------------------------------------------------------------- */

static enum pp_status check_positive(const struct pp_chart *chart, const char *option, int column,
                                     struct pp_error *err)
{
    for (int i = 0; i < chart->row_count; i++)
        if (!(pp_table_number(&chart->table, chart->rows[i], column, NULL) > 0))
            return pp_error_set(err, PP_EINVAL,
                                "%s: %s is %s in line %d of %s: a logarithmic axis shows what is "
                                "more than 0 only",
                                option, chart->table.columns[column],
                                pp_chart_cell(chart, chart->rows[i], column),
                                chart->table.lines[chart->rows[i]], chart->table.name);
    return PP_OK;
}

/* Sets `lo` and `hi` to the range of the data; gnuplot chooses the ends of the axis. */
static void limit(struct pp_curve_axis *axis, struct values values)
{
    axis->lo = axis->scale * values.data[0];
    axis->hi = axis->scale * values.data[values.count - 1];
    axis->from = axis->to = "*";
}

static enum pp_status make_x(struct pp_chart *chart, struct pp_error *err)
{
    struct pp_curve_axis *axis = &chart->x_axis;
    const struct values values = collect(chart, true);
    const bool is_log = is_doubling(values) || chart->curves->has_log_x;

    label_axis(chart, chart->x, values.data[values.count - 1], false, axis);
    if (chart->is_categorical) {
        axis->scale = 1;
        return PP_OK;
    }
    if (chart->curves->has_log_x)
        PP_TRY(check_positive(chart, "--log-x", chart->x, err));
    axis->log_base = !is_log ? 0 : is_doubling(values) ? 2 : 10;
    limit(axis, values);
    for (int i = 0; i < chart->mark_count; i++) {
        const double at = axis->scale * chart->marks[i].x;
        axis->lo = is_log && at <= 0 ? axis->lo : fmin(axis->lo, at);
        axis->hi = fmax(axis->hi, at);
    }
    if (is_log || !chart->kind->is_scatter)
        axis->tics = tics_at(chart->arena, axis, values);
    return PP_OK;
}

/* ---- y --------------------------------------------------------------------------------------- */

/* Begins y at zero, unless all values are close together and far from it. The limit is stricter for
 * shares and rates than for times, whose differences count. */
static void limit_linear_y(struct pp_arena *arena, struct pp_curve_axis *axis,
                           enum pp_column_unit unit, bool is_from_zero)
{
    const bool is_frac = unit == PP_COLUMN_FRAC,
               is_share = is_frac || unit == PP_COLUMN_RATE || unit == PP_COLUMN_FLOPS;
    const double FAR = is_share ? 0.85 : 0.6;
    const bool is_flat = !(axis->hi > axis->lo), is_all = axis->hi <= 100.000001;

    if (axis->lo >= 0 && (is_flat || is_from_zero || axis->lo < FAR * axis->hi)) {
        axis->from = "0";
        axis->lo = 0;
    }
    if (axis->lo < 0 && is_flat)
        axis->to = "0";
    else if (!(axis->hi > axis->lo)) /* all are 0 */
        axis->to = is_frac ? "10" : "1";
    else if (is_frac && is_all)
        axis->to = "*<100";
    else if (is_flat)
        axis->to = pp_arena_printf(arena, "%.10g<*", 1.25 * axis->hi);
}

static enum pp_status make_y(struct pp_chart *chart, struct pp_error *err)
{
    enum { FEW_DECADES = 100, HUGE_SPAN = 1000 };
    struct pp_curve_axis *axis = &chart->y_axis;
    const struct values values = collect(chart, false);
    const double least = values.data[0], most = values.data[values.count - 1];
    const enum pp_column_unit unit = pp_column_name(chart->arena, &chart->table, chart->y).unit;
    const bool is_huge = least > 0 && most > HUGE_SPAN * least,
               is_log = chart->curves->has_log_y || is_huge || chart->has_ideal;

    axis->has_units_at = is_log && unit == PP_COLUMN_SECONDS && !pp_chart_is_abstract(chart);
    if (chart->curves->has_log_y)
        PP_TRY(check_positive(chart, "--log-y", chart->y, err));
    label_axis(chart, chart->y, fmax(fabs(least), fabs(most)), axis->has_units_at, axis);
    limit(axis, values);
    axis->log_base = is_log && least > 0 ? 10 : 0;
    axis->has_tics_between = axis->log_base > 0 && most <= FEW_DECADES * least;
    if (!(axis->log_base > 0))
        limit_linear_y(chart->arena, axis, unit, chart->is_from_zero);
    return PP_OK;
}

/* ---- --x-range and --y-range ----------------------------------------------------------------- */

/* Reads one end, up to `stop`; NAN if it is left open. */
static bool read_end(const char *text, char stop, double *value, const char **rest)
{
    char *end;

    *value = (double)NAN;
    *rest = text;
    if (*text == stop)
        return true;
    *value = strtod(text, &end);
    if (end == text || !isfinite(*value))
        return false;
    if (*end == '%') {
        *value /= 100;
        end++;
    }
    *rest = end;
    return *end == stop;
}

static bool read_range(const char *text, double *lo, double *hi)
{
    const char *rest;

    return read_end(text, ':', lo, &rest) && read_end(rest + 1, '\0', hi, &rest) &&
           !(isnan(*lo) && isnan(*hi));
}

/* Sets the limits of an option; an open end stays. */
static enum pp_status take_range(const struct pp_chart *chart, const char *option, const char *text,
                                 struct pp_curve_axis *axis, struct pp_error *err)
{
    double lo, hi;

    if (!text)
        return PP_OK;
    if (axis == &chart->x_axis && chart->is_categorical)
        return pp_error_set(err, PP_EINVAL, "%s %s: %s is text, which has no range", option, text,
                            chart->table.columns[chart->x]);
    if (!read_range(text, &lo, &hi))
        return pp_error_set(err, PP_EINVAL,
                            "%s %s: LO:HI is expected in the numbers of the column, such as 0:0.5, "
                            "0:50%%, 8: or :64",
                            option, text);
    const bool has_lo = !isnan(lo), has_hi = !isnan(hi);
    lo = has_lo ? lo : axis->lo / axis->scale;
    hi = has_hi ? hi : axis->hi / axis->scale;
    if (!(lo < hi))
        return pp_error_set(err, PP_EINVAL,
                            "%s %s: %g to %g; the first must be less than the other", option, text,
                            lo, hi);
    if (axis->log_base > 0 && lo <= 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s %s: the axis is logarithmic and begins above 0, not at %g", option,
                            text, lo);
    axis->lo = lo * axis->scale;
    axis->hi = hi * axis->scale;
    if (has_lo)
        axis->from = pp_arena_printf(chart->arena, "%.10g", axis->lo);
    if (has_hi)
        axis->to = pp_arena_printf(chart->arena, "%.10g", axis->hi);
    if (!(axis->log_base > 0))
        axis->tics = NULL;
    return PP_OK;
}

enum pp_status pp_chart_axes(struct pp_chart *chart, struct pp_error *err)
{
    PP_TRY(make_x(chart, err));
    PP_TRY(make_y(chart, err));
    PP_TRY(take_range(chart, "--x-range", chart->curves->x_range, &chart->x_axis, err));
    return take_range(chart, "--y-range", chart->curves->y_range, &chart->y_axis, err);
}
