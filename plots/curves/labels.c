/* Names at points. Each series tries the places around its points, the last point first. It takes
 * the first place that covers neither a point nor another name. */
#include "plots/curves/chart.h"

#include <math.h>
#include <string.h>

struct box {
    double left, right, bottom, top; /* inches within the axes */
    bool is_line;                    /* part of a line; names may cover it as a last resort */
};
struct field {
    const struct pp_figure *figure;
    const struct pp_chart *chart;
    double width_in, height_in, character_in, line_in;
    struct box *taken;
    int count;
};
struct side {
    const char *justify;
    double x, y;         /* anchor relative to the point, in characters and lines */
    double left, bottom; /* corner of the box relative to the anchor, as shares of its size */
};
static const struct side SIDES[] = {{"left", 1, 0, 0, -0.5},        {"right", -1, 0, -1, -0.5},
                                    {"center", 0, 0.8, -0.5, -0.5}, {"center", 0, -0.8, -0.5, -0.5},
                                    {"left", 0.7, 0.7, 0, -0.5},    {"left", 0.7, -0.7, 0, -0.5},
                                    {"right", -0.7, 0.7, -1, -0.5}, {"right", -0.7, -0.7, -1, -0.5},
                                    {"left", 0, 1, 0, -0.5},        {"left", 0, -1, 0, -0.5},
                                    {"right", 0, 1, -1, -0.5},      {"right", 0, -1, -1, -0.5}};
enum { SIDES_COUNT = PP_COUNT(SIDES) };

/* Place of a value in gnuplot, approximately: x has margins, y ends at the next tic. */
static double place(const struct field *field, bool is_x, double value)
{
    const double MARGIN = 0.04, ROUNDING = 0.05;
    const struct pp_curve_axis *axis = is_x ? &field->chart->x_axis : &field->chart->y_axis;
    const double at = axis->scale * value;
    const double share = axis->log_base > 0 ? log(at / axis->lo) / log(axis->hi / axis->lo)
                                            : (at - axis->lo) / (axis->hi - axis->lo);

    return is_x ? field->width_in * (share + MARGIN) / (1 + 2 * MARGIN)
                : field->height_in * share * (1 - ROUNDING);
}

static bool overlaps(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->bottom < b->top && b->bottom < a->top;
}

static bool is_free(const struct field *field, const struct box *box, bool may_cover_lines)
{
    if (box->left < 0 || box->bottom < 0 || box->right > field->width_in ||
        box->top > field->height_in)
        return false;
    for (int i = 0; i < field->count; i++)
        if (!(may_cover_lines && field->taken[i].is_line) && overlaps(box, &field->taken[i]))
            return false;
    return true;
}

static struct box around(const struct field *field, double at_x, double at_y,
                         const struct side *side, double length)
{
    const double width_in = length * field->character_in, height_in = 0.9 * field->line_in;
    const double x = place(field, true, at_x) + side->x * field->character_in +
                     side->left * width_in,
                 y = place(field, false, at_y) + side->y * field->line_in +
                     side->bottom * height_in;

    return (struct box){x, x + width_in, y, y + height_in, false};
}

static bool try_place(struct field *field, const char *name, double x, double y,
                      bool may_cover_lines)
{
    const struct pp_chart *chart = field->chart;

    for (int i = 0; i < SIDES_COUNT; i++) {
        const struct side *side = &SIDES[i];
        const struct box box = around(field, x, y, side, (double)strlen(name));
        if (!is_free(field, &box, may_cover_lines))
            continue;
        field->taken[field->count++] = box;
        fprintf(field->figure->script,
                "set label %s at %.10g,%.10g %s offset character %g,%g textcolor rgb '#404040'\n",
                pp_figure_quote(field->figure, name), x * chart->x_axis.scale,
                y * chart->y_axis.scale, side->justify, side->x, side->y);
        return true;
    }
    return false;
}

static struct box dot(double x, double y, double half_in, bool is_line)
{
    return (struct box){x - half_in, x + half_in, y - half_in, y + half_in, is_line};
}

enum { DOTS = 16 }; /* boxes that stand for the line between two points */

static void take_series(struct field *field, const struct pp_curve *curve)
{
    const double half_in = 0.3 * field->line_in;
    double last_x = 0, last_y = 0;

    for (int i = 0; i < curve->count; i++) {
        const double x = place(field, true, curve->points[i].x),
                     y = place(field, false, curve->points[i].y);
        field->taken[field->count++] = dot(x, y, half_in, false);
        for (int k = 1; k < DOTS && i > 0; k++)
            field->taken[field->count++] = dot(last_x + (x - last_x) * k / DOTS,
                                               last_y + (y - last_y) * k / DOTS, half_in / 4, true);
        last_x = x;
        last_y = y;
    }
}

static void name_series(struct field *field, struct pp_curve *curve)
{
    const char *name = curve->name;

    for (int i = 0; i < curve->same_count; i++)
        name = pp_arena_printf(field->chart->arena, "%s = %s", name, curve->same[i].name);
    for (int may_cover = 0; may_cover < 2; may_cover++)
        for (int i = curve->count - 1; i >= 0; i--)
            if (try_place(field, name, curve->points[i].x, curve->points[i].y, may_cover)) {
                curve->is_named = true;
                return;
            }
}

static void name_mark(struct field *field, const struct pp_curve_mark *mark)
{
    for (int may_cover = 0; may_cover < 2 && *mark->label; may_cover++)
        if (try_place(field, mark->label, mark->x, mark->y, may_cover))
            return;
}

void pp_chart_label_points(const struct pp_figure *figure, struct pp_chart *chart,
                           const struct pp_field *within)
{
    struct field field = {
        .figure = figure,
        .chart = chart,
        .width_in = within->width_in,
        .height_in = within->height_in,
        .character_in = pp_figure_character_in(figure),
        .line_in = 1.3 * figure->font_pt / 72,
        .taken = PP_ARRAY(chart->arena, struct box,
                          DOTS * chart->row_count + chart->series_count + 2 * chart->mark_count),
    };

    for (int s = 0; s < chart->series_count; s++)
        take_series(&field, &chart->series[s]);
    for (int i = 0; i < chart->mark_count; i++)
        field.taken[field.count++] =
            dot(place(&field, true, chart->marks[i].x), place(&field, false, chart->marks[i].y),
                0.3 * field.line_in, false);
    for (int is_line = 0; is_line < 2; is_line++) /* lines last: they have more places */
        for (int s = 0; s < chart->series_count && chart->kind->is_labelled; s++)
            if ((chart->series[s].count > 1) == is_line)
                name_series(&field, &chart->series[s]);
    for (int i = 0; i < chart->mark_count; i++)
        name_mark(&field, &chart->marks[i]);
}
