/* Axes: units that keep numbers short, limits that neither hide nor exaggerate, logarithms where
 * values double. */
#include "plots/curves/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TICS_AT_DATA = 24 };

struct values {
    double *data; /* in units of the table, ascending, each once */
    int count;
};

/* ---- values ---------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void sort_once(struct values *values)
{
    int kept = 0;

    qsort(values->data, (size_t)values->count, sizeof(*values->data), compare_numbers);
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

/* 2, 4, 8; 1, 3, 9; 8, 12, 16, 24, 32 are not worth a logarithm's trouble. */
static bool is_doubling(struct values values)
{
    if (values.count < 3 || !(values.data[0] > 0))
        return false;
    for (int i = 1; i < values.count; i++)
        if (values.data[i] < 1.9 * values.data[i - 1] || values.data[i] > 4.1 * values.data[i - 1])
            return false;
    return true;
}

/* Are they short enough to stand at the axis one by one? */
static bool are_short(struct values values, double scale)
{
    enum { SHORT = 7 };
    char text[32];

    for (int i = 0; i < values.count && values.count <= TICS_AT_DATA; i++)
        if (snprintf(text, sizeof(text), "%.10g", scale * values.data[i]) > SHORT)
            return false;
    return values.count <= TICS_AT_DATA;
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

/* "million " means divided by a million, and is worth it from a hundred million on. */
static struct unit pick_rate(double largest)
{
    for (const struct unit *rate = RATES; rate->name; rate++)
        if (largest >= rate->size)
            return (struct unit){rate->size / 100, rate->name};
    return (struct unit){1, ""};
}

/* Durations of --unit have none. */
static bool is_abstract(const struct pp_chart *chart)
{
    const int unit = pp_table_find(&chart->table, "unit");

    return unit >= 0 && *pp_chart_cell(chart, chart->rows[0], unit);
}

static void label_axis(const struct pp_chart *chart, int column, double largest, bool has_units_at,
                       struct pp_curve_axis *axis)
{
    struct pp_arena *arena = chart->arena;
    const struct pp_column_name name = pp_column_name(arena, chart->table.columns[column]);
    struct unit unit = {1, name.detail};

    axis->subject = name.text;
    if (name.unit == PP_COLUMN_FRAC)
        unit =
            (struct unit){0.01, name.detail ? pp_arena_printf(arena, "%% %s", name.detail) : "%"};
    else if (name.unit == PP_COLUMN_SECONDS && is_abstract(chart))
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

/* ---- limits ---------------------------------------------------------------------------------- */

static enum pp_status check_positive(const struct pp_chart *chart, const char *option, int column,
                                     struct pp_error *err)
{
    bool is_number;

    for (int i = 0; i < chart->row_count; i++)
        if (!(pp_table_number(&chart->table, chart->rows[i], column, &is_number) > 0))
            return pp_error_set(err, PP_EINVAL,
                                "%s: %s is %s in line %d of %s: a logarithmic axis shows what is "
                                "more than 0 only",
                                option, chart->table.columns[column],
                                pp_chart_cell(chart, chart->rows[i], column),
                                chart->table.lines[chart->rows[i]], chart->table.name);
    return PP_OK;
}

/* Room beside the outermost points, so that their symbols do not lie on the frame. */
static void pad(struct pp_curve_axis *axis, double share)
{
    if (axis->log_base > 0) {
        const double factor =
            axis->hi > axis->lo ? pow(axis->hi / axis->lo, share) : axis->log_base;
        axis->lo /= factor;
        axis->hi *= factor;
        return;
    }
    const double span = axis->hi - axis->lo, room = span > 0          ? share * span
                                                    : axis->hi != 0.0 ? 0.5 * fabs(axis->hi)
                                                                      : 1;
    axis->lo -= room;
    axis->hi += room;
}

static void limit(struct pp_curve_axis *axis, struct values values)
{
    axis->lo = axis->scale * values.data[0];
    axis->hi = axis->scale * values.data[values.count - 1];
}

/* From zero, unless all values lie close together far from it: shares and rates closer than times,
 * whose differences count. */
static void limit_linear_y(struct pp_curve_axis *axis, enum pp_column_unit unit, bool is_from_zero)
{
    const bool is_frac = unit == PP_COLUMN_FRAC,
               is_share = is_frac || unit == PP_COLUMN_RATE || unit == PP_COLUMN_FLOPS;
    const double FAR = is_share ? 0.85 : 0.6;
    const bool is_flat = !(axis->hi > axis->lo), is_all = axis->hi <= 100.000001;

    if (is_flat && axis->lo > 0)
        axis->hi *= 1.25;
    if (axis->lo >= 0 && (is_flat || is_from_zero || axis->lo < FAR * axis->hi))
        axis->lo = 0;
    if (!(axis->hi > axis->lo))
        axis->hi = axis->lo + (is_frac ? 10 : 1);
    pp_tics_round(axis);
    if (is_frac && is_all && axis->hi > 100)
        axis->hi = 100;
}

/* Names that are too long stand turned, or (characters cannot be) on several lines. */
static void make_categories(struct pp_chart *chart, double length_in, double character_in)
{
    enum { LINES_MAX = 4 };
    static const char BREAKS[] = "\n\n\n\n";
    const bool in_terminal = chart->target->format == PP_PLOT_TERMINAL;
    const struct pp_figure figure = {.arena = chart->arena, .target = chart->target};
    const char *list = "";
    double longest = 0;

    for (int i = 0; i < chart->category_count; i++)
        longest = fmax(longest, (double)strlen(chart->categories[i]));
    const double needed = chart->category_count * (longest + 1) * character_in / length_in;
    const int lines = in_terminal ? (int)fmin(LINES_MAX, ceil(needed)) : 1;
    for (int i = 0; i < chart->category_count; i++) {
        const char *name =
            pp_arena_printf(chart->arena, "%.*s%s", i % lines, BREAKS, chart->categories[i]);
        list = pp_arena_printf(chart->arena, "%s%s%s %d", list, i ? ", " : "",
                               pp_figure_quote(&figure, name), i);
    }
    chart->x_axis.lo = -0.5;
    chart->x_axis.hi = chart->category_count - 0.5;
    chart->x_axis.tics = pp_arena_printf(
        chart->arena, "%s(%s)", needed > 1 && !in_terminal ? "rotate by 35 right " : "", list);
}

static enum pp_status make_x(struct pp_chart *chart, double length_in, double character_in,
                             struct pp_error *err)
{
    struct pp_curve_axis *axis = &chart->x_axis;
    const struct values values = collect(chart, true);
    const bool is_log = is_doubling(values) || chart->curves->has_log_x;

    label_axis(chart, chart->x, values.data[values.count - 1], false, axis);
    if (chart->is_categorical) {
        axis->scale = 1;
        make_categories(chart, length_in, character_in);
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
    const bool is_at_data = are_short(values, axis->scale) && (is_log || !chart->kind->is_scatter);
    if (is_log && !is_at_data) {
        pp_tics_decades(chart->arena, axis, false);
        return PP_OK;
    }
    pad(axis, 0.04);
    if (is_at_data) {
        for (int i = 0; i < values.count; i++)
            values.data[i] *= axis->scale;
        axis->tics =
            pp_tics_at(chart->arena, axis, values.data, values.count, length_in, character_in);
    }
    return PP_OK;
}

static enum pp_status make_y(struct pp_chart *chart, struct pp_error *err)
{
    enum { HUGE_SPAN = 1000 };
    struct pp_curve_axis *axis = &chart->y_axis;
    const struct values values = collect(chart, false);
    const double least = values.data[0], most = values.data[values.count - 1];
    const enum pp_column_unit unit =
        pp_column_name(chart->arena, chart->table.columns[chart->y]).unit;
    const bool is_huge = least > 0 && most > HUGE_SPAN * least,
               is_log = chart->curves->has_log_y || is_huge || chart->has_ideal;
    const bool has_units_at = is_log && unit == PP_COLUMN_SECONDS && !is_abstract(chart);

    if (chart->curves->has_log_y)
        PP_TRY(check_positive(chart, "--log-y", chart->y, err));
    label_axis(chart, chart->y, fmax(fabs(least), fabs(most)), has_units_at, axis);
    limit(axis, values);
    if (is_log && least > 0) {
        axis->log_base = 10;
        pp_tics_decades(chart->arena, axis, has_units_at);
    } else {
        limit_linear_y(axis, unit, chart->is_from_zero);
    }
    return PP_OK;
}

enum pp_status pp_chart_axes(struct pp_chart *chart, double length_in, double character_in,
                             struct pp_error *err)
{
    PP_TRY(make_x(chart, length_in, character_in, err));
    PP_TRY(make_y(chart, err));
    PP_TRY(pp_chart_range(chart, "--x-range", chart->curves->x_range, &chart->x_axis, err));
    return pp_chart_range(chart, "--y-range", chart->curves->y_range, &chart->y_axis, err);
}
