/* Parts of a whole as a band of colours. */
#include "plots/page/page.h"

#include "core/text/html.h"

#include <math.h>

enum { WIDTH = 2000, HEIGHT = 20 };

void pp_html_swatch(unsigned rgb, FILE *out)
{
    pp_html(out,
            "<svg class=\"swatch\" viewBox=\"0 0 20 14\" aria-hidden=\"true\"><path class=\"op\" "
            "fill=\"#%06x\" d=\"M1 1h18v12h-18z\"/></svg> ",
            rgb);
}

/* A part ends at the rounded sum so far, so that the whole is as long as the total. */
void pp_html_band(const struct pp_html_part *parts, int count, double whole, double mark, FILE *out)
{
    double sum = 0;

    pp_html(out, "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
            WIDTH, HEIGHT);
    for (int i = 0, at = 0; i < count; i++) {
        sum += parts[i].value;
        const int end = (int)lround(fmin(fmax(sum / whole, 0), 1) * WIDTH);
        if (end > at)
            pp_html(out,
                    "<path class=\"op\" fill=\"#%06x\" d=\"M%d 0h%dv%dh-%dz\"><title>%s</title>"
                    "</path>",
                    parts[i].rgb, at, end - at, HEIGHT, end - at, parts[i].name);
        at = end > at ? end : at;
    }
    if (mark > 0)
        pp_html(out, "<path class=\"limit\" d=\"M%d -3v%d\"/>",
                (int)lround(fmin(mark / whole, 1) * WIDTH), HEIGHT + 6);
    fputs("</svg>", out);
}
