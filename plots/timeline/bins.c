/* Rows as strips of bins, for ops narrower than a dot. Kinds share a bin's height; white: idle. */
#include "core/quantile.h"
#include "plots/timeline/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 24, MOST_BOXES = 30000 };
/* Width of a dot of a 150 dpi printer; ops of a bin, so that a steady state looks steady. */
static const double DOT_IN = 1.0 / 150, BIN_OPS = 6;
/* Idle time between strips: longer than the gaps between ops of a steady state. */
static const double LEAST_GAP_IN = DOT_IN / 4, GAP_OPS = 1.25;

/* Kinds from the foot of a row to its top. */
static const uint8_t ORDER[] = {PP_B, PP_I, PP_W, PP_R, PP_F, PP_Q, PP_DQ, PP_U};
enum { KINDS = PP_COUNT(ORDER) };

/* Median width of the boxes shown, and their number. */
static double usual_width_in(const struct pp_timeline_page *page,
                             const struct pp_timeline_panel *panel, int *count)
{
    const struct pp_timeline *t = &panel->timeline;
    const struct pp_arena_mark mark = pp_arena_mark(page->arena);
    double *widths = PP_ARRAY(page->arena, double, t->count + 1);

    *count = 0;
    for (int i = 0; i < t->count; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        if (pp_timeline_row(panel, box->rank) >= 0 && box->end_s > box->start_s &&
            box->end_s > panel->from_s && box->start_s < panel->to_s)
            widths[(*count)++] = box->end_s - box->start_s;
    }
    qsort(widths, (size_t)*count, sizeof(*widths), pp_ascending);
    const double width_s = *count > 0 ? widths[*count / 2] : 0;
    pp_arena_release(page->arena, mark);
    return pp_timeline_width_in(page, panel, width_s);
}

bool pp_timeline_is_dense(const struct pp_timeline_page *page,
                          const struct pp_timeline_panel *panel)
{
    int count;
    const double width_in = usual_width_in(page, panel, &count);

    return count > 0 && (width_in < 1.5 * DOT_IN || count > MOST_BOXES);
}

/* ---- bins of a row --------------------------------------------------------------------------- */

struct bin {
    double time[PP_OP_KINDS];
};
/* Ops without visible gaps between them, cut into bins of one width. */
struct strip {
    double start, end; /* in the unit of the axis */
    int count;
    struct bin *bins;
};

static double bin_at(const struct strip *strip, int b)
{
    return strip->start + (strip->end - strip->start) * b / strip->count;
}

static void add(struct strip *strip, int kind, double start, double end, double weight)
{
    const double width = (strip->end - strip->start) / strip->count;
    const int first = (int)((start - strip->start) / width) - 1;

    for (int b = first > 0 ? first : 0; b < strip->count && bin_at(strip, b) < end; b++) {
        const double from = fmax(start, bin_at(strip, b)), to = fmin(end, bin_at(strip, b + 1));
        if (to > from)
            strip->bins[b].time[kind] += weight * (to - from);
    }
}

/* Adds boxes `first` to `end` - 1 of a rank. */
static void fill(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                 int first, int end, struct strip *strip)
{
    for (int i = first; i < end; i++) {
        const struct pp_timeline_box *box = &panel->timeline.boxes[i];
        const double from = fmax(pp_timeline_x(page, panel, box->start_s), strip->start),
                     to = fmin(pp_timeline_x(page, panel, box->end_s), strip->end);
        const double share = box->is_fused ? (double)box->forward_frac : 1;
        add(strip, box->op.kind, from, to, share);
        if (box->is_fused)
            add(strip, box->second.kind, from, to, 1 - share);
    }
}

/* Heights of the layers of a bin, in LEVELS, rounded so that their sum is exact. */
struct layers {
    int top[KINDS];
};

static struct layers layers_of(const struct bin *bin, double width)
{
    struct layers layers = {0};
    double sum = 0;

    for (int k = 0; k < KINDS; k++) {
        sum += bin->time[ORDER[k]] / width;
        layers.top[k] = (int)lround(fmin(sum, 1) * LEVELS);
    }
    return layers;
}

static void draw_run(const struct pp_timeline_page *page, const struct pp_timeline_painter *painter,
                     struct pp_timeline_layer layer, const struct layers *layers)
{
    layer.end = fmin(layer.end, page->span);
    for (int k = 0, low = 0; k < KINDS; low = layers->top[k++]) {
        if (layers->top[k] <= low)
            continue;
        layer.low = (double)low / LEVELS;
        layer.high = (double)layers->top[k] / LEVELS;
        layer.rgb = pp_style_op_rgb(ORDER[k], 0.5);
        painter->draw(painter->context, &layer);
    }
}

/* Draws equal neighbours as one. */
static void draw_strip(const struct pp_timeline_page *page,
                       const struct pp_timeline_painter *painter, int row,
                       const struct strip *strip)
{
    const double width = (strip->end - strip->start) / strip->count;

    for (int from = 0, to; from < strip->count; from = to) {
        const struct layers layers = layers_of(&strip->bins[from], width);
        for (to = from + 1; to < strip->count; to++) {
            const struct layers next = layers_of(&strip->bins[to], width);
            if (memcmp(&layers, &next, sizeof(layers)) != 0)
                break;
        }
        draw_run(page, painter,
                 (struct pp_timeline_layer){
                     .row = row, .start = bin_at(strip, from), .end = bin_at(strip, to)},
                 &layers);
    }
}

/* Draws the strips of a rank. A strip ends at visible idle time, by the same limit on all ranks. */
static void draw_rank(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                      const struct pp_timeline_painter *painter, int row,
                      struct pp_timeline_grain grain)
{
    const struct pp_timeline *t = &panel->timeline;
    const int rank = panel->first_rank + row * panel->every;

    for (int from = t->begin[rank], to; from < t->begin[rank + 1]; from = to) {
        const struct pp_arena_mark mark = pp_arena_mark(page->arena);
        struct strip strip = {.start = fmax(pp_timeline_x(page, panel, t->boxes[from].start_s), 0),
                              .end = pp_timeline_x(page, panel, t->boxes[from].end_s)};
        for (to = from + 1; to < t->begin[rank + 1]; to++) {
            if (pp_timeline_x(page, panel, t->boxes[to].start_s) - strip.end > grain.gap)
                break;
            strip.end = fmax(strip.end, pp_timeline_x(page, panel, t->boxes[to].end_s));
        }
        strip.end = fmin(strip.end, pp_timeline_span(page, panel));
        if (strip.end <= strip.start)
            continue;
        strip.count = (int)fmax(round((strip.end - strip.start) / grain.bin), 1);
        strip.bins = PP_ARRAY(page->arena, struct bin, strip.count);
        fill(page, panel, from, to, &strip);
        draw_strip(page, painter, row, &strip);
        pp_arena_release(page->arena, mark);
    }
}

struct pp_timeline_grain pp_timeline_grain(const struct pp_timeline_page *page,
                                           const struct pp_timeline_panel *panel,
                                           double least_bin_in)
{
    int count;
    const double usual_in = usual_width_in(page, panel, &count);
    const double bin_in =
        fmax(fmin(fmax(BIN_OPS * usual_in, 2 * DOT_IN), 8 * DOT_IN), least_bin_in);

    return (struct pp_timeline_grain){.bin = bin_in / pp_timeline_in_per_unit(page),
                                      .gap = fmax(LEAST_GAP_IN, GAP_OPS * usual_in) /
                                             pp_timeline_in_per_unit(page)};
}

void pp_timeline_draw_bins(const struct pp_timeline_page *page,
                           const struct pp_timeline_panel *panel, struct pp_timeline_grain grain,
                           const struct pp_timeline_painter *painter)
{
    for (int row = 0; row < panel->rows; row++)
        draw_rank(page, panel, painter, row, grain);
}

static void print_layer(void *script, const struct pp_timeline_layer *layer)
{
    fprintf(script, "%d %.6g %.6g %.3g %.3g 0x%06x\n", layer->row, layer->start, layer->end,
            layer->low, layer->high, layer->rgb);
}

void pp_timeline_print_bins(const struct pp_timeline_page *page, int index)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    FILE *script = page->figure->script;
    const struct pp_timeline_grain grain = pp_timeline_grain(page, panel, 0);

    fprintf(script,
            "# shares of the time: row start end low high colour; a bin is about %.4g %s\n"
            "$bins%d << EOD\n",
            grain.bin, page->unit, index);
    pp_timeline_draw_bins(page, panel, grain, &(struct pp_timeline_painter){script, print_layer});
    fputs("EOD\n", script);
}

void pp_timeline_plot_bins(const struct pp_timeline_page *page, int index)
{
    const double height = page->height_in / page->pitch_in;

    fprintf(page->figure->script,
            "plot $bins%d using (($2+$3)/2):1:2:3:($1+%.3g-%.3g*$4):($1+%.3g-%.3g*$5):6 "
            "with boxxyerror fillstyle solid noborder fillcolor rgb variable\n",
            index, height / 2, height, height / 2, height);
}
