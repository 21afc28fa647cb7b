/* Boxes of single ops, their numbers, and the messages between them. */
#include "plots/timeline/parts.h"

#include <math.h>

/* Least width of a framed box; of narrower ones only frames would be visible. */
static const double FRAMED_IN = 0.05;

int pp_timeline_class(const struct pp_timeline *timeline, const struct pp_timeline_op *op)
{
    return op->pipe * timeline->chunks + op->chunk;
}

int pp_timeline_classes(const struct pp_timeline *timeline)
{
    return timeline->pipes * timeline->chunks;
}

double pp_timeline_foot(int class, int classes)
{
    return class == 0 ? 0 : classes == 2 ? 0.15 : 0.09 + 0.17 * (class - 1) / (classes - 2);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

bool pp_timeline_is_dark(unsigned rgb)
{
    return 0.2126 * (rgb >> 16 & 0xff) + 0.7152 * (rgb >> 8 & 0xff) + 0.0722 * (rgb & 0xff) < 140;
}

unsigned pp_timeline_rgb(const struct pp_timeline *t, const struct pp_timeline_op *op)
{
    const int classes = pp_timeline_classes(t), class = pp_timeline_class(t, op);
    const double base = classes > 1 ? 0.65 * class / (classes - 1) : 0;
    const bool is_odd = op->mb >= 0 && op->mb / (op->granules > 0 ? op->granules : 1) % 2 == 1;

    return pp_style_op_rgb(op->kind, base + (is_odd ? classes > 1 ? 0.35 : 1 : 0));
}

/* Writes one line of data: an op from `start` to `end`, cut to the time shown. */
static void print_op(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                     const struct pp_timeline_op *op, bool is_fused, int row, double start,
                     double end)
{
    const struct pp_timeline *t = &panel->timeline;
    const double span = pp_timeline_span(page, panel);
    const double x0 = fmax(start, 0), x1 = fmin(end, span);
    const unsigned rgb = pp_timeline_rgb(t, op);
    char text[32];

    if (x1 < x0 || start > span || end < 0 || (end > start && x1 == x0))
        return;
    pp_timeline_number(page, panel, op, is_fused, x1 - x0, text, sizeof(text));
    fprintf(page->figure->script, "%d %.7g %.7g 0x%06x %.3g \"%s\" 0x%06x\n", row, x0, x1, rgb,
            pp_timeline_foot(pp_timeline_class(t, op), pp_timeline_classes(t)), text,
            pp_timeline_is_dark(rgb) ? 0xffffff : 0x000000);
}

static void print_box(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                      const struct pp_timeline_box *box, int row)
{
    const double start = pp_timeline_x(page, panel, box->start_s),
                 end = pp_timeline_x(page, panel, box->end_s);

    if (!box->is_fused) {
        print_op(page, panel, &box->op, false, row, start, end);
        return;
    }
    const double middle = start + (end - start) * (double)box->forward_frac;
    print_op(page, panel, &box->op, true, row, start, middle);
    print_op(page, panel, &box->second, true, row, middle, end);
}

static double usual_width_in(const struct pp_timeline_page *page,
                             const struct pp_timeline_panel *panel)
{
    const struct pp_timeline *t = &panel->timeline;
    double sum_s = 0;

    for (int i = 0; i < t->count; i++)
        sum_s += t->boxes[i].end_s - t->boxes[i].start_s;
    return t->count > 0 ? pp_timeline_width_in(page, panel, sum_s / t->count) : 0;
}

static bool has_fused(const struct pp_timeline *t)
{
    for (int i = 0; i < t->count; i++)
        if (t->boxes[i].is_fused)
            return true;
    return false;
}

bool pp_timeline_is_framed(const struct pp_timeline_page *page,
                           const struct pp_timeline_panel *panel)
{
    return !panel->is_binned && usual_width_in(page, panel) >= FRAMED_IN;
}

bool pp_timeline_has_pairs(const struct pp_timeline_page *page,
                           const struct pp_timeline_panel *panel)
{
    return has_fused(&panel->timeline) && pp_timeline_is_framed(page, panel);
}

static void print_pairs(const struct pp_timeline_page *page, int index)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    const struct pp_timeline *t = &panel->timeline;
    FILE *script = page->figure->script;

    fprintf(script, "# pairs that overlap: row start end\n$pairs%d << EOD\n", index);
    for (int i = 0; i < t->count; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        const int row = pp_timeline_row(panel, box->rank);
        const double start = fmax(pp_timeline_x(page, panel, box->start_s), 0),
                     end = fmin(pp_timeline_x(page, panel, box->end_s),
                                pp_timeline_span(page, panel));
        if (box->is_fused && row >= 0 && start < end)
            fprintf(script, "%d %.7g %.7g\n", row, start, end);
    }
    fputs("EOD\n", script);
}

/* Distance from the middle of a row down to the foot of its boxes, in rows. */
static double foot_of(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel)
{
    return page->height_in / page->pitch_in * (pp_timeline_box_share(panel) - 0.5);
}

/* Writes arrows from the op that made a message to the op that uses it, between the boxes. */
static void print_messages(const struct pp_timeline_page *page, int index)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    const double half = page->height_in / page->pitch_in / 2, foot = foot_of(page, panel);
    FILE *script = page->figure->script;

    fprintf(script, "# messages: made, its row, used, its row\n$messages%d << EOD\n", index);
    for (int i = 0; i < panel->message_count; i++) {
        const struct pp_timeline_message *m = &panel->messages[i];
        const int from = pp_timeline_row(panel, m->from), to = pp_timeline_row(panel, m->to);
        const double made = pp_timeline_x(page, panel, isnan(m->made_s) ? m->start_s : m->made_s),
                     used = pp_timeline_x(page, panel, isnan(m->used_s) ? m->end_s : m->used_s);
        if (from < 0 || to < 0 || from == to || made < 0 || used > pp_timeline_span(page, panel))
            continue;
        const bool is_down = from < to;
        fprintf(script, "%.7g %.4g %.7g %.4g\n", made, from + (is_down ? foot : -half), used,
                to + (is_down ? -half : foot));
    }
    fputs("EOD\n", script);
}

void pp_timeline_print_boxes(const struct pp_timeline_page *page, int index)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    const struct pp_timeline *t = &panel->timeline;
    FILE *script = page->figure->script;

    fprintf(script,
            "# ops: row start end colour foot(share of the height) text colour-of-text\n"
            "$ops%d << EOD\n",
            index);
    for (int i = 0; i < t->count; i++) {
        const int row = pp_timeline_row(panel, t->boxes[i].rank);
        if (row >= 0)
            print_box(page, panel, &t->boxes[i], row);
    }
    fputs("EOD\n", script);
    if (pp_timeline_has_pairs(page, panel))
        print_pairs(page, index);
    if (panel->message_count > 0)
        print_messages(page, index);
    if (pp_timeline_lanes(t) > 0)
        pp_timeline_print_copies(page, index);
}

/* LaTeX takes font sizes from the text alone. */
static void plot_numbers(const struct pp_timeline_page *page, int index)
{
    const bool is_tex = page->figure->target->format == PP_PLOT_TEX;
    const char *text =
        is_tex ? pp_arena_printf(page->arena, "('\\\\fontsize{%g}{%g}\\\\selectfont '.strcol(6))",
                                 page->number_pt, page->number_pt)
               : "6";
    const struct pp_timeline_panel *panel = &page->panels[index];
    const double half = page->height_in / page->pitch_in / 2;
    const char *middle =
        pp_timeline_lanes(&panel->timeline) > 0
            ? pp_arena_printf(page->arena, "($1-%.3g)", (half - foot_of(page, panel)) / 2)
            : "1";

    fprintf(page->figure->script,
            ", \\\n  $ops%d using (($2+$3)/2):%s:%s:7 with labels center font ',%g' "
            "textcolor rgb variable",
            index, middle, text, page->number_pt);
}

void pp_timeline_plot_boxes(const struct pp_timeline_page *page, int index)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    const struct pp_timeline *t = &panel->timeline;
    FILE *script = page->figure->script;
    const double half = page->height_in / page->pitch_in / 2, foot = foot_of(page, panel);
    const bool is_framed = pp_timeline_is_framed(page, panel);

    fprintf(script, "plot $ops%d using (($2+$3)/2):1:2:3:($1-%.3g):($1+%.3g):4 with boxxyerror ",
            index, half, foot);
    fprintf(script, "fillstyle solid %s fillcolor rgb variable",
            is_framed ? "border lc rgb '#303030' lw 0.3" : "noborder");
    if (pp_timeline_classes(t) > 1)
        fprintf(script,
                ", \\\n  $ops%d using ($5 > 0 ? ($2+$3)/2 : NaN):1:2:3:($1+%.3g-%.3g*$5):($1+%.3g) "
                "with boxxyerror fillstyle solid noborder fillcolor rgb '#202020'",
                index, foot, half + foot, foot);
    if (pp_timeline_has_pairs(page, panel))
        fprintf(script,
                ", \\\n  $pairs%d using (($2+$3)/2):1:2:3:($1-%.3g):($1+%.3g) with boxxyerror "
                "fillstyle empty border lc rgb '#000000' lc rgb '#000000' lw 1.2",
                index, half, foot);
    if (pp_timeline_lanes(t) > 0)
        pp_timeline_plot_copies(page, index);
    if (panel->message_count > 0)
        fprintf(script,
                ", \\\n  $messages%d using 1:2:($3-$1):($4-$2) with vectors filled head "
                "size screen 0.006,18 lc rgb '#707070' lw 0.4",
                index);
    if (page->number_pt > 0)
        plot_numbers(page, index);
    fputc('\n', script);
}
