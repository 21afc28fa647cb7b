/* Axes as text around a picture that is stretched to the width of the page. */
#include "plots/page/page.h"

#include "core/text/html.h"
#include "plots/axis.h"

#include <math.h>

enum { TICS = 5 };

/* Round numbers in a range, ascending. */
struct tics {
    double step;
    long first, last; /* multiples of it */
};
static struct tics tics_of(const struct pp_html_range *range)
{
    const double step = pp_axis_step(range->to - range->from, TICS);

    return (struct tics){step, (long)ceil(range->from / step - 1e-9),
                         (long)floor(range->to / step + 1e-9)};
}

static double share(const struct pp_html_range *range, double value)
{
    return (value - range->from) / (range->to - range->from);
}

int pp_html_place(const struct pp_html_range *range, double value, int units)
{
    return (int)lround(fmin(fmax(share(range, value), 0), 1) * units);
}

void pp_html_across(const struct pp_html_range *range, const char *name, FILE *out)
{
    const struct tics tics = tics_of(range);

    fputs("<div class=\"axis\" aria-hidden=\"true\">", out);
    for (long i = tics.first; i <= tics.last; i++)
        pp_html(out, "<span style=\"left:%.4g%%\">%.6g</span>",
                100 * share(range, (double)i * tics.step), (double)i * tics.step);
    pp_html(out, "</div>\n<p class=\"axis-name\">%s</p>\n", name);
}

void pp_html_up(const struct pp_html_range *range, FILE *out)
{
    const struct tics tics = tics_of(range);

    fputs("<div class=\"ranks\" aria-hidden=\"true\">", out);
    for (long i = tics.first; i <= tics.last; i++)
        pp_html(out, "<span style=\"top:%.4g%%\">%.4g</span>",
                100 * (1 - share(range, (double)i * tics.step)), (double)i * tics.step);
    fputs("</div>\n", out);
}
