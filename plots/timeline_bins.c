/* Where ops are narrower than a printer's dot, a row becomes a strip of bins: how much of a bin's
 * time each kind takes is how much of its height it fills; what stays white is idle. */
#include "plots/timeline_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 24, MOST_BOXES = 30000 };
/* A dot of a printer of 150 dots an inch; a bin takes a few ops, so that a steady state looks
 * steady. */
static const double DOT_IN = 1.0 / 150, BIN_OPS = 6;

/* From the foot of a row to its top. */
static const uint8_t ORDER[] = {PP_B, PP_I, PP_W, PP_R, PP_F, PP_Q, PP_DQ, PP_U};
enum { KINDS = sizeof(ORDER) / sizeof(*ORDER) };

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Median width of those shown, and how many they are. */
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
    qsort(widths, (size_t)*count, sizeof(*widths), compare_doubles);
    const double width_s = *count > 0 ? widths[*count / 2] : 0;
    pp_arena_release(page->arena, mark);
    return width_s / page->unit_s * pp_timeline_in_per_unit(page);
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
    double start, end; /* of what is in it, in the unit of the axis; start >= end: nothing */
    double time[PP_OP_KINDS];
};
struct strip {
    int count;
    double width; /* of a bin */
    struct bin *bins;
};

static void add(struct strip *strip, int kind, double start, double end, double weight)
{
    for (int b = start > 0 ? (int)(start / strip->width) : 0;
         b < strip->count && b * strip->width < end; b++) {
        struct bin *bin = &strip->bins[b];
        const double from = fmax(start, b * strip->width), to = fmin(end, (b + 1) * strip->width);
        if (to <= from)
            continue;
        bin->time[kind] += weight * (to - from);
        bin->start = fmin(bin->start, from);
        bin->end = fmax(bin->end, to);
    }
}

static bool is_empty(const struct strip *strip, int b)
{
    return b < 0 || b >= strip->count || strip->bins[b].start >= strip->bins[b].end;
}

/* Beside an empty bin, work begins or ends where it does; elsewhere bins touch. */
static void stretch(struct strip *strip)
{
    for (int b = 0; b < strip->count; b++) {
        if (!is_empty(strip, b) && !is_empty(strip, b - 1))
            strip->bins[b].start = b * strip->width;
        if (!is_empty(strip, b) && !is_empty(strip, b + 1))
            strip->bins[b].end = (b + 1) * strip->width;
    }
}

static void fill(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                 int rank, struct strip *strip)
{
    const struct pp_timeline *t = &panel->timeline;

    for (int b = 0; b < strip->count; b++)
        strip->bins[b] = (struct bin){.start = INFINITY, .end = -INFINITY};
    for (int i = t->begin[rank]; i < t->begin[rank + 1]; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        const double start = pp_timeline_x(page, panel, box->start_s),
                     end = pp_timeline_x(page, panel, box->end_s);
        const double first = box->is_fused ? (double)box->forward_frac : 1;
        add(strip, box->op.kind, start, end, first);
        if (box->is_fused)
            add(strip, box->second.kind, start, end, 1 - first);
    }
    stretch(strip);
}

/* Heights of the layers of a bin, in LEVELS: rounded so that their sum is that of all. */
struct layers {
    int top[KINDS];
};

static struct layers layers_of(const struct bin *bin)
{
    struct layers layers = {0};
    double sum = 0;

    for (int k = 0; k < KINDS && bin->start < bin->end; k++) {
        sum += bin->time[ORDER[k]] / (bin->end - bin->start);
        layers.top[k] = (int)lround(fmin(sum, 1) * LEVELS);
    }
    return layers;
}

static void print_run(const struct pp_timeline_page *page, int row, double start, double end,
                      const struct layers *layers)
{
    for (int k = 0, low = 0; k < KINDS; low = layers->top[k++])
        if (layers->top[k] > low)
            fprintf(page->figure->script, "%d %.6g %.6g %.3g %.3g 0x%06x\n", row, start,
                    fmin(end, page->span), (double)low / LEVELS, (double)layers->top[k] / LEVELS,
                    pp_style_op_rgb(ORDER[k], 0.5));
}

/* Neighbours that are alike become one. */
static void print_strip(const struct pp_timeline_page *page, int row, const struct strip *strip)
{
    const struct bin *bins = strip->bins;

    for (int from = 0, to; from < strip->count; from = to) {
        const struct layers layers = layers_of(&bins[from]);
        for (to = from + 1; to < strip->count && !is_empty(strip, to); to++) {
            const struct layers next = layers_of(&bins[to]);
            if (memcmp(&layers, &next, sizeof(layers)) != 0)
                break;
        }
        if (!is_empty(strip, from))
            print_run(page, row, bins[from].start, bins[to - 1].end, &layers);
    }
}

void pp_timeline_print_bins(const struct pp_timeline_page *page, int index)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    FILE *script = page->figure->script;
    const double room_in = page->right_in - page->left_in;
    int count;
    const double bin_in =
        fmin(fmax(BIN_OPS * usual_width_in(page, panel, &count), 2 * DOT_IN), 8 * DOT_IN);
    struct strip strip = {.count = (int)ceil(room_in / bin_in)};

    strip.width = page->span / strip.count;
    strip.bins = PP_ARRAY(page->arena, struct bin, strip.count);
    fprintf(script,
            "# shares of the time: row start end low high colour; a bin is %.4g %s\n"
            "$bins%d << EOD\n",
            strip.width, page->unit, index);
    for (int row = 0; row < panel->rows; row++) {
        fill(page, panel, panel->first_rank + row * panel->every, &strip);
        print_strip(page, row, &strip);
    }
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
