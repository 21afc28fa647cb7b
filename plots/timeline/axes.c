/* A page of timelines as a script: axes, lines, headings, and each panel in its place. */
#include "plots/axis.h"
#include "plots/timeline/parts.h"

#include <math.h>

enum { MOST_STEP_LINES = 100, MOST_TICS = 100 };

/* Distance of tics whose labels do not touch. */
static double tic_step(const struct pp_timeline_page *page)
{
    const double label_in = 6.5 * pp_figure_character_in(page->figure);

    return pp_axis_step(page->span, fmax((page->right_in - page->left_in) / label_in, 1));
}

static void print_ranks(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel)
{
    FILE *script = page->figure->script;
    int every = 1;

    while (every * page->pitch_in < 1.1 * page->figure->font_pt / 72)
        every *= 2;
    fputs("set ytics scale 0 offset 0.6,0 (", script);
    for (int row = 0; row < panel->rows; row += every)
        fprintf(script, "%s\"P%d\" %d", row > 0 ? ", " : "", panel->first_rank + row * panel->every,
                row);
    fputs(")\n", script);
}

/* Labels tics of a part of the time with the times of the whole. */
static void print_tics(const struct pp_timeline_page *page, bool has_labels)
{
    const double step = tic_step(page);
    FILE *script = page->figure->script;
    const char *before = "";

    if (page->origin == 0)
        return;
    fputs("set xtics (", script);
    for (int i = 0; i < MOST_TICS; i++) {
        const double at = (ceil(page->origin / step - 1e-9) + i) * step;
        if (at > page->origin + page->span)
            break;
        fprintf(script, "%s\"", before);
        if (has_labels)
            fprintf(script, "%.10g", at);
        fprintf(script, "\" %.7g", at - page->origin);
        before = ", ";
    }
    fputs(") out\n", script);
}

static void print_axes(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                       bool is_last)
{
    const struct pp_figure *f = page->figure;
    /* gnuplot's SVG places numbers and the name of an axis lower, into the legend. */
    const bool is_low = f->target->format == PP_PLOT_SVG;

    fprintf(f->script, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
            panel->top_in / f->height_in, panel->foot_in / f->height_in);
    fprintf(f->script, "set yrange [%g:-0.5]\n", panel->rows - 0.5);
    print_ranks(page, panel);
    print_tics(page, is_last);
    if (is_low)
        fputs("set xtics offset 0,0.45\n", f->script);
    if (is_last)
        fprintf(f->script, "set format x '%%g'\nset xlabel %s offset 0,%g\n",
                pp_figure_quote(f, page->axis), is_low ? 1.0 : 0.5);
    else
        fputs("set format x ''\nunset xlabel\n", f->script);
}

static void print_line(const struct pp_timeline_page *page, double x, const char *style)
{
    fprintf(page->figure->script, "set arrow from %.7g, graph 0 to %.7g, graph 1 nohead front %s\n",
            x, x, style);
}

/* Draws ends of steps; two compared panels show the ends of both. */
static void print_lines(const struct pp_timeline_page *page, int index)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    const struct pp_timeline *t = &panel->timeline;

    fputs("unset arrow\n", page->figure->script);
    if (t->step_count > 1 && t->step_count <= MOST_STEP_LINES)
        for (int i = 0; i < t->step_count; i++)
            if (t->steps[i].end_s > panel->from_s && t->steps[i].end_s <= panel->to_s)
                print_line(page, pp_timeline_x(page, panel, t->steps[i].end_s),
                           "lc rgb '#000000' lw 0.6");
    for (int p = 0; p < page->count && page->count > 1; p++)
        if (p == index || page->count == 2)
            print_line(page, pp_timeline_x(page, &page->panels[p], page->panels[p].to_s),
                       p == index ? "lc rgb '#000000' lw 0.8" : "lc rgb '#808080' lw 0.8 dt 3");
}

static void print_heading(const struct pp_timeline_page *page,
                          const struct pp_timeline_panel *panel)
{
    const struct pp_figure *f = page->figure;

    if (panel->heading)
        fprintf(f->script, "set label %s at screen %.4f,%.4f left\n",
                pp_figure_quote(f, panel->heading), page->left_in / f->width_in,
                (panel->top_in + 0.6 * pp_timeline_line_in(page)) / f->height_in);
}

static void print_panel(const struct pp_timeline_page *page, int index)
{
    const struct pp_timeline_panel *panel = &page->panels[index];
    FILE *script = page->figure->script;

    print_axes(page, panel, index == page->count - 1);
    print_lines(page, index);
    print_heading(page, panel);
    if (panel->is_binned)
        pp_timeline_plot_bins(page, index);
    else
        pp_timeline_plot_boxes(page, index);
    fputs("unset label\n", script);
}

static void print_data(const struct pp_timeline_page *page)
{
    for (int p = 0; p < page->count; p++)
        if (page->panels[p].is_binned)
            pp_timeline_print_bins(page, p);
        else
            pp_timeline_print_boxes(page, p);
}

void pp_timeline_print(const struct pp_timeline_page *page, const char *title)
{
    const struct pp_figure *f = page->figure;

    print_data(page);
    fputs("unset title\nunset grid\nset border 1\nset tics nomirror\n", f->script);
    fprintf(f->script, "set lmargin at screen %.4f\nset rmargin at screen %.4f\n",
            page->left_in / f->width_in, page->right_in / f->width_in);
    fprintf(f->script, "set xrange [0:%.7g]\nset xtics 0,%g out\n", page->span, tic_step(page));
    if (page->count > 1)
        fputs("set multiplot\n", f->script);
    if (title)
        fprintf(f->script, "set label %s at screen %.4f,%.4f center\n", pp_figure_quote(f, title),
                0.5, 1 - 0.8 * pp_timeline_line_in(page) / f->height_in);
    pp_timeline_legend(page);
    for (int p = 0; p < page->count; p++) {
        print_panel(page, p);
        fputs(p == 0 ? "unset object\n" : "", f->script);
    }
    if (page->count > 1)
        fputs("unset multiplot\n", f->script);
}
