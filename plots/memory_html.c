/* What a rank holds over time, as a part of a page. */
#include "core/html.h"
#include "plots/html.h"
#include "plots/memory_time.h"

#include <math.h>

enum { WIDTH = 20000, HEIGHT = 1000 };

struct scale {
    double end_s, top; /* of the axes; top in units of the sheet */
};

static int across(const struct scale *scale, double time_s)
{
    return (int)lround(fmin(fmax(time_s / scale->end_s, 0), 1) * WIDTH);
}

static int down(const struct scale *scale, double held)
{
    return HEIGHT - (int)lround(held / scale->top * HEIGHT);
}

static void write_curve(const struct pp_held_sheet *s, const struct pp_held_curve *c,
                        const struct scale *scale, FILE *out)
{
    pp_html(out, "<path class=\"held\" d=\"M0 %d", HEIGHT);
    for (int i = 0; i < c->count; i++)
        pp_html(out, "H%dV%d", across(scale, c->time_s[i]), down(scale, c->held[i] / s->unit));
    pp_html(out, "H%dV%dz\"/>\n", WIDTH, HEIGHT);
}

static void write_levels(const struct scale *scale, FILE *out)
{
    const double step = pp_axis_step(scale->top, 5);

    fputs("<div class=\"ranks\" aria-hidden=\"true\">", out);
    for (int i = 0; i * step <= scale->top; i++)
        pp_html(out, "<span style=\"top:%.4g%%\">%.4g</span>", 100 * (1 - i * step / scale->top),
                i * step);
    fputs("</div>\n", out);
}

static void write_axis(const struct pp_held_sheet *s, const struct scale *scale, FILE *out)
{
    const double span = scale->end_s * s->time.factor, step = pp_axis_step(span, 5);

    fputs("<div class=\"axis\" aria-hidden=\"true\">", out);
    for (int i = 0; i * step <= span * (1 + 1e-9); i++)
        pp_html(out, "<span style=\"left:%.4g%%\">%.6g</span>", 100 * i * step / span, i * step);
    fputs("</div>\n", out);
    pp_html(out, "<p class=\"axis-name\">time (%s)</p>\n", s->time.unit);
}

enum pp_status pp_html_held(struct pp_arena *arena, const struct pp_plot_held *held, int rank,
                            FILE *out, struct pp_error *err)
{
    struct pp_held_sheet sheet;

    PP_TRY(pp_held_open(arena, held, &sheet, err));
    const struct pp_held_curve curve = pp_held_thin(arena, &sheet, rank);
    const struct scale scale = {held->end_s, 1.06 * fmax(sheet.most, sheet.capacity)};
    fputs("<div class=\"chart held-chart\">\n", out);
    fputs("<div class=\"plot\" style=\"height:220px\">\n", out);
    pp_html(out,
            "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"%s that pipeline rank %d holds over the step\">\n",
            WIDTH, HEIGHT, held->is_bytes ? "Memory" : "Chunk activations", rank);
    write_curve(&sheet, &curve, &scale, out);
    if (sheet.capacity > 0)
        pp_html(out, "<path class=\"limit\" d=\"M0 %dh%d\"/>\n", down(&scale, sheet.capacity),
                WIDTH);
    fputs("</svg>\n", out);
    write_levels(&scale, out);
    fputs("</div>\n", out);
    write_axis(&sheet, &scale, out);
    fputs("</div>\n", out);
    return PP_OK;
}
