/* A timeline as SVG: boxes of one colour are one path, in whole units: a few dozen bytes a box. */
#include "plots/page/timeline.h"

#include "plots/page/page.h"

#include <math.h>
#include <stdlib.h>

/* Units along time, of a row, and of the margin around a box; the page stretches paths. */
enum { WIDTH = 20000, ROW = 24, MARGIN = 2, HEIGHT = ROW - 2 * MARGIN };
enum layer { FILL, FOOT, LANE, FRAME }; /* drawn in this order */

struct shape {
    int16_t layer;
    unsigned rgb;
    int x0, x1, y0, y1;
    int number; /* order of drawing */
};
struct picture {
    struct pp_arena *arena; /* its own arena: bins release their allocations in that of the page */
    const struct pp_timeline_page *page;
    const struct pp_timeline_panel *panel;
    struct shape *shapes;
    int count, capacity;
};

static int place(const struct picture *p, double time)
{
    const double at = fmin(fmax(time, 0), pp_timeline_span(p->page, p->panel));

    return (int)lround(at / p->page->span * WIDTH);
}

/* Adds a shape from share `low` to `high` of the height of a row's box, from its foot. */
static void add(struct picture *p, enum layer layer, unsigned rgb, int row, const double time[2],
                double low, double high)
{
    const int foot = ROW * row + MARGIN + HEIGHT;
    const struct shape shape = {.layer = (int16_t)layer,
                                .rgb = rgb,
                                .x0 = place(p, time[0]),
                                .x1 = place(p, time[1]),
                                .y0 = foot - (int)lround(high * HEIGHT),
                                .y1 = foot - (int)lround(low * HEIGHT),
                                .number = p->count};

    if (shape.x1 > shape.x0 && shape.y1 > shape.y0)
        *PP_PUSH(p->arena, p->shapes, p->count, p->capacity) = shape;
}

static void add_op(struct picture *p, const struct pp_timeline_op *op, int row,
                   const double time[2])
{
    const struct pp_timeline *t = &p->panel->timeline;
    const double foot = pp_timeline_foot(pp_timeline_class(t, op), pp_timeline_classes(t));

    const double share = pp_timeline_box_share(p->panel), low = 1 - share;
    add(p, FILL, pp_timeline_rgb(t, op), row, time, low, 1);
    if (foot > 0)
        add(p, FOOT, 0x202020, row, time, low, low + foot * share);
}

static void add_box(struct picture *p, const struct pp_timeline_box *box)
{
    const int row = pp_timeline_row(p->panel, box->rank);
    const double start = pp_timeline_x(p->page, p->panel, box->start_s),
                 end = pp_timeline_x(p->page, p->panel, box->end_s),
                 middle = box->is_fused ? start + (end - start) * (double)box->forward_frac : end;

    if (row < 0)
        return;
    add_op(p, &box->op, row, (const double[]){start, middle});
    if (!box->is_fused)
        return;
    add_op(p, &box->second, row, (const double[]){middle, end});
    if (pp_timeline_has_pairs(p->page, p->panel))
        add(p, FRAME, 0, row, (const double[]){start, end}, 1 - pp_timeline_box_share(p->panel), 1);
}

static void add_copy(struct picture *p, const struct pp_timeline_copy *copy)
{
    const int row = pp_timeline_row(p->panel, copy->rank);
    const double foot = pp_timeline_lane_foot(&p->panel->timeline, copy->stream),
                 time[] = {pp_timeline_x(p->page, p->panel, copy->start_s),
                           pp_timeline_x(p->page, p->panel, copy->end_s)};

    if (row >= 0)
        add(p, LANE, pp_timeline_lane_rgb(copy->stream), row, time, foot,
            foot + pp_timeline_lane_share());
}

static void add_layer(void *picture, const struct pp_timeline_layer *layer)
{
    add(picture, FILL, layer->rgb, layer->row, (const double[]){layer->start, layer->end},
        layer->low, layer->high);
}

/* Adds bins so wide that all rows together have about PP_HTML_BOXES. */
static void add_bins(struct picture *p)
{
    const double width_in = p->page->right_in - p->page->left_in;
    const struct pp_timeline_grain grain =
        pp_timeline_grain(p->page, p->panel, width_in * p->panel->rows / PP_HTML_BOXES);

    pp_timeline_draw_bins(p->page, p->panel, grain,
                          &(const struct pp_timeline_painter){p, add_layer});
}

/* ---- paths ----------------------------------------------------------------------------------- */

static int by_colour(const void *left, const void *right)
{
    const struct shape *a = left, *b = right;

    if (a->layer != b->layer)
        return a->layer - b->layer;
    if (a->rgb != b->rgb)
        return a->rgb < b->rgb ? -1 : 1;
    return a->number - b->number;
}

static void begin_path(const struct shape *shape, FILE *out)
{
    static const char *const classes[] = {
        [FILL] = " class=\"op\"", [FOOT] = "", [LANE] = " class=\"lane\""};

    if (shape->layer == FRAME)
        fputs("<path class=\"pair\" d=\"", out);
    else
        fprintf(out, "<path%s fill=\"#%06x\" d=\"", classes[shape->layer], shape->rgb);
}

static void write_paths(struct picture *p, FILE *out)
{
    if (p->count)
        qsort(p->shapes, (size_t)p->count, sizeof(*p->shapes), by_colour);
    for (int i = 0; i < p->count; i++) {
        const struct shape *s = &p->shapes[i];
        if (i == 0 || s->layer != s[-1].layer || s->rgb != s[-1].rgb) {
            fputs(i ? "\"/>\n" : "", out);
            begin_path(s, out);
        }
        fprintf(out, "M%d %dh%dv%dh-%dz", s->x0, s->y0, s->x1 - s->x0, s->y1 - s->y0,
                s->x1 - s->x0);
    }
    fputs(p->count ? "\"/>\n" : "", out);
}

void pp_timeline_write_picture(const struct pp_timeline_page *page, int index, FILE *out)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    const struct pp_timeline *t = &panel->timeline;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct picture picture = {.arena = arena, .page = page, .panel = panel};

    for (int i = 0; i < t->count && !panel->is_binned; i++)
        add_box(&picture, &t->boxes[i]);
    for (int i = 0; i < t->copy_count && !panel->is_binned; i++)
        add_copy(&picture, &t->copies[i]);
    if (panel->is_binned)
        add_bins(&picture);
    fprintf(out,
            "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Ops "
            "of each rank over time: %d pipeline rank%s, %.4g %s\"%s>\n",
            WIDTH, ROW * panel->rows, t->ranks, t->ranks == 1 ? "" : "s", page->span, page->unit,
            pp_timeline_is_framed(page, panel) ? "" : " class=\"bare\"");
    write_paths(&picture, out);
    fputs("</svg>\n", out);
}
