/* Points with names, as SVG. */
#include "plots/page/page.h"

#include "core/text/html.h"

#include <math.h>

enum { WIDTH = 20000, HEIGHT = 10000 };

/* Adds a margin of 4 %, but not below 0. */
static void widen(struct pp_html_range *range)
{
    const double more =
        range->to > range->from ? 0.04 * (range->to - range->from) : 0.04 * fabs(range->to) + 1e-9;

    range->from -= range->from == 0 ? 0 : more;
    range->to += more;
}

/* Is true if the points still fill a third of the picture with the limit in it. */
static bool is_limit_near(const struct pp_html_scatter *s, struct pp_html_range y)
{
    return s->limit > y.to && s->limit - y.to <= 2 * (y.to - y.from);
}

/* Values of the points, and the limit of y if it is near. */
static struct pp_html_range range_of(const struct pp_html_scatter *s, bool is_x)
{
    struct pp_html_range range = {INFINITY, -INFINITY};

    for (int i = 0; i < s->count; i++) {
        const double value = is_x ? s->points[i].x : s->points[i].y;
        range.from = fmin(range.from, value);
        range.to = fmax(range.to, value);
    }
    if (!is_x && is_limit_near(s, range))
        range.to = s->limit;
    widen(&range);
    return range;
}

/* A line of no length with a round end stays round however the picture is stretched. */
static void write_points(const struct pp_html_scatter *s, const struct pp_html_range *x,
                         const struct pp_html_range *y, FILE *out)
{
    for (int i = 0; i < s->count; i++) { /* the first ones on top */
        const struct pp_html_dot *dot = &s->points[s->count - 1 - i];
        fputs(dot->is_marked ? "<path class=\"dot marked\" d=\"" : "<path class=\"dot\" d=\"", out);
        pp_html(out, "M%d %dh0\"><title>%s</title></path>\n", pp_html_place(x, dot->x, WIDTH),
                HEIGHT - pp_html_place(y, dot->y, HEIGHT), dot->name);
    }
}

void pp_html_scatter(const struct pp_html_scatter *s, FILE *out)
{
    if (s->count == 0)
        return;
    const struct pp_html_range x = range_of(s, true), y = range_of(s, false);
    fputs("<div class=\"chart\">\n<div class=\"plot\" style=\"height:260px\">\n", out);
    pp_html(out,
            "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"%s\">\n",
            WIDTH, HEIGHT, s->label);
    if (s->limit > 0 && s->limit <= y.to)
        pp_html(out, "<path class=\"limit\" d=\"M0 %dh%d\"/>\n",
                HEIGHT - pp_html_place(&y, s->limit, HEIGHT), WIDTH);
    write_points(s, &x, &y, out);
    fputs("</svg>\n", out);
    pp_html_up(&y, out);
    fputs("</div>\n", out);
    pp_html_across(&x, s->axis, out);
    fputs("</div>\n", out);
}
