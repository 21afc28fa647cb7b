/* Memory over time, as SVG. */
#include "core/text/html.h"
#include "plots/memory/time.h"
#include "plots/page/page.h"

#include <math.h>

enum { WIDTH = 20000, HEIGHT = 1000 };

static void write_curve(const struct pp_held_sheet *s, const struct pp_held_curve *c,
                        const struct pp_html_range *x, const struct pp_html_range *y, FILE *out)
{
    pp_html(out, "<path class=\"held\" d=\"M0 %d", HEIGHT);
    for (int i = 0; i < c->count; i++)
        pp_html(out, "H%dV%d", pp_html_place(x, c->time_s[i], WIDTH),
                HEIGHT - pp_html_place(y, c->held[i] / s->unit, HEIGHT));
    pp_html(out, "H%dV%dz\"/>\n", WIDTH, HEIGHT);
}

enum pp_status pp_html_held(struct pp_arena *arena, const struct pp_plot_held *held, int curve,
                            const char *label, FILE *out, struct pp_error *err)
{
    struct pp_held_sheet sheet;

    PP_TRY(pp_held_open(arena, held, &sheet, err));
    const struct pp_held_curve thin = pp_held_thin(arena, &sheet, curve);
    const struct pp_html_range x = {0, held->end_s},
                               y = {0, 1.06 * fmax(sheet.most, sheet.capacity)};
    fputs("<div class=\"chart held-chart\">\n", out);
    fputs("<div class=\"plot\" style=\"height:220px\">\n", out);
    pp_html(out,
            "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"%s\">\n",
            WIDTH, HEIGHT, label);
    write_curve(&sheet, &thin, &x, &y, out);
    if (sheet.capacity > 0)
        pp_html(out, "<path class=\"limit\" d=\"M0 %dh%d\"/>\n",
                HEIGHT - pp_html_place(&y, sheet.capacity, HEIGHT), WIDTH);
    fputs("</svg>\n", out);
    pp_html_up(&y, out);
    fputs("</div>\n", out);
    pp_html_across(&(const struct pp_html_range){0, x.to * sheet.time.factor},
                   pp_arena_printf(arena, "time (%s)", sheet.time.unit), out);
    fputs("</div>\n", out);
    return PP_OK;
}
