/* Where panels, axes and legend stand on the page. */
#include "plots/timeline_parts.h"

#include <math.h>
#include <string.h>

/* Sizes on a page and in a column of a paper. */
static const struct size {
    double width_in, font_pt;
    double pitch_in, rows_in; /* of a row at most, of all rows together at most */
    int arrows;               /* more messages would be a grey area */
} PAGE = {7, 10, 0.3, 5.5, 300}, COLUMN = {3.3, 8, 0.19, 3.6, 70};
/* Thinner rows would not be seen: every k-th is drawn instead. */
static const double LEAST_PITCH_IN = 0.02;
enum { MOST_STEP_LINES = 100, MOST_TICS = 100 };

/* ---- what is shown --------------------------------------------------------------------------- */

static enum pp_status choose_ranks(struct pp_timeline_panel *panel,
                                   const struct pp_plot_timeline *options, struct pp_error *err)
{
    const int ranks = panel->timeline.ranks;
    const int first = options->first_rank < 0 ? 0 : options->first_rank,
              last = options->last_rank < 0 ? ranks - 1 : options->last_rank;

    if (first > last || last >= ranks)
        return pp_error_set(err, PP_EINVAL, "%s: ranks %d to %d: it has 0 to %d",
                            panel->timeline.trace->program, first, last, ranks - 1);
    panel->first_rank = first;
    panel->rows = last - first + 1;
    panel->every = 1;
    return PP_OK;
}

/* All, from 0 on; a trace that begins late is shown from its begin. */
static enum pp_status choose_time(struct pp_timeline_panel *panel,
                                  const struct pp_plot_timeline *options, struct pp_error *err)
{
    const struct pp_timeline *t = &panel->timeline;
    const bool is_late = t->begin_s > 0.5 * t->end_s || t->begin_s < 0;

    if (t->count == 0 || !(t->end_s > t->begin_s))
        return pp_error_set(err, PP_EINVAL, "%s: nothing to draw: it takes no time",
                            t->trace->program);
    panel->from_s = !isnan(options->from_s) ? options->from_s : is_late ? t->begin_s : 0;
    panel->to_s = !isnan(options->to_s) ? fmin(options->to_s, t->end_s) : t->end_s;
    if (!(panel->to_s > panel->from_s))
        return pp_timeline_refuse_time(t, panel->from_s, panel->to_s,
                                       options->time_unit ? options->time_unit : "s", err);
    return PP_OK;
}

enum pp_status pp_timeline_open(struct pp_arena *arena, const struct pp_trace *trace,
                                const struct pp_plot_timeline *options,
                                struct pp_timeline_panel *panel, struct pp_error *err)
{
    *panel = (struct pp_timeline_panel){.heading = NULL};
    PP_TRY(pp_timeline_make(arena, trace, 0, &panel->timeline, err));
    PP_TRY(choose_ranks(panel, options, err));
    return choose_time(panel, options, err);
}

/* Arrows only where they are few enough to be followed. */
static void choose_messages(struct pp_arena *arena, struct pp_timeline_panel *panel, int most)
{
    int count, shown = 0;
    struct pp_timeline_message *messages = pp_timeline_messages(arena, &panel->timeline, &count);

    for (int i = 0; i < count; i++)
        shown += messages[i].from != messages[i].to && messages[i].end_s >= panel->from_s &&
                 messages[i].start_s <= panel->to_s;
    if (shown > 0 && shown <= most) {
        panel->messages = messages;
        panel->message_count = count;
    }
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void choose_unit(struct pp_timeline_page *page, const char *unit)
{
    static const struct {
        const char *name;
        double seconds;
    } UNITS[] = {{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
    enum { COUNT = sizeof(UNITS) / sizeof(*UNITS) };
    double longest_s = 0;
    int i = 0;

    for (int p = 0; p < page->count; p++)
        longest_s = fmax(longest_s, page->panels[p].to_s - page->panels[p].from_s);
    while (!unit && i + 1 < COUNT && longest_s < UNITS[i].seconds)
        i++;
    page->unit = unit ? unit : UNITS[i].name;
    page->unit_s = UNITS[i].seconds;
    page->span = longest_s / page->unit_s;
}

static int digits(int number)
{
    return snprintf(NULL, 0, "%d", number);
}

static double line_in(const struct pp_timeline_page *page)
{
    return 1.4 * page->font_pt / 72;
}

static int all_rows(const struct pp_timeline_page *page)
{
    int rows = 0;

    for (int p = 0; p < page->count; p++)
        rows += page->panels[p].rows;
    return rows;
}

static void thin_rows(struct pp_timeline_page *page, double rows_in)
{
    const int most = (int)(rows_in / LEAST_PITCH_IN), rows = all_rows(page);
    const int every = (rows + most - 1) / most;

    for (int p = 0; p < page->count && every > 1; p++) {
        page->panels[p].every = every;
        page->panels[p].rows = (page->panels[p].rows + every - 1) / every;
    }
}

/* Everything on the page but the rows. */
static double around_in(const struct pp_timeline_page *page, bool has_title)
{
    double sum_in = page->legend_in + 2.3 * line_in(page) + (has_title ? 1.4 : 0.4) * line_in(page);

    for (int p = 0; p < page->count; p++)
        sum_in +=
            (page->panels[p].heading ? 1.2 : 0) * line_in(page) + (p > 0 ? 0.4 : 0) * line_in(page);
    return sum_in;
}

static void choose_sizes(struct pp_timeline_page *page, const struct pp_plot_target *target,
                         const struct size *size)
{
    const double character_in = pp_figure_character_in(page->figure);
    int last = 0;

    for (int p = 0; p < page->count; p++) {
        const struct pp_timeline_panel *panel = &page->panels[p];
        const int rank = panel->first_rank + panel->every * (panel->rows - 1);
        last = rank > last ? rank : last;
    }
    page->width_in = target->width_in > 0 ? target->width_in : size->width_in;
    page->left_in = (digits(last) + 2.8) * character_in;
    page->right_in = page->width_in - 2.2 * character_in;
    if (page->right_in < 1.2 * page->left_in)
        page->right_in = 1.2 * page->left_in;
    thin_rows(page, size->rows_in);
    page->pitch_in = fmin(size->pitch_in, size->rows_in / all_rows(page));
    page->legend_in = pp_timeline_legend(page);
}

/* From the foot of the page up. */
static void place_panels(struct pp_timeline_page *page, bool has_title)
{
    const double rows_in = fmax(page->figure->height_in - around_in(page, has_title), 0.1);
    double at_in = page->legend_in + 2.3 * line_in(page);
    bool is_binned = false;

    for (int p = 0; p < page->count; p++)
        is_binned |= page->panels[p].is_binned;
    page->pitch_in = rows_in / all_rows(page);
    page->height_in = page->pitch_in * (is_binned ? 0.92 : 0.8);
    for (int p = page->count - 1; p >= 0; p--) {
        struct pp_timeline_panel *panel = &page->panels[p];
        panel->foot_in = at_in;
        panel->top_in = at_in + panel->rows * page->pitch_in;
        at_in = panel->top_in + (panel->heading ? 1.2 : 0) * line_in(page) + 0.4 * line_in(page);
    }
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* 1, 2 or 5 times a power of ten, so that labels keep a distance. */
static double tic_step(const struct pp_timeline_page *page)
{
    const double character_in = pp_figure_character_in(page->figure);
    const double labels = fmax((page->right_in - page->left_in) / (6.5 * character_in), 1);
    const double least = page->span / labels, power = pow(10, floor(log10(least)));

    return least <= power * 1.0001   ? power
           : least <= 2.0001 * power ? 2 * power
           : least <= 5.0001 * power ? 5 * power
                                     : 10 * power;
}

static void print_ranks(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel)
{
    FILE *script = page->figure->script;
    int every = 1;

    while (every * page->pitch_in < 1.1 * page->font_pt / 72)
        every *= 2;
    fputs("set ytics scale 0 offset 0.6,0 (", script);
    for (int row = 0; row < panel->rows; row += every)
        fprintf(script, "%s\"P%d\" %d", row > 0 ? ", " : "", panel->first_rank + row * panel->every,
                row);
    fputs(")\n", script);
}

/* Labels of a part of the time are those of the whole. */
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

    fprintf(f->script, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
            panel->top_in / f->height_in, panel->foot_in / f->height_in);
    fprintf(f->script, "set yrange [%g:-0.5]\n", panel->rows - 0.5);
    print_ranks(page, panel);
    print_tics(page, is_last);
    if (is_last)
        fprintf(f->script, "set format x '%%g'\nset xlabel %s offset 0,0.5\n",
                pp_figure_quote(f, pp_arena_printf(page->arena, "time (%s)", page->unit)));
    else
        fputs("set format x ''\nunset xlabel\n", f->script);
}

static void print_line(const struct pp_timeline_page *page, double x, const char *style)
{
    fprintf(page->figure->script, "set arrow from %.7g, graph 0 to %.7g, graph 1 nohead front %s\n",
            x, x, style);
}

/* Ends of steps; of panels beside each other, the ends of both in either. */
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
                (panel->top_in + 0.6 * line_in(page)) / f->height_in);
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

static void print_page(const struct pp_timeline_page *page, const char *title)
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
                0.5, 1 - 0.8 * line_in(page) / f->height_in);
    pp_timeline_legend(page);
    for (int p = 0; p < page->count; p++) {
        print_panel(page, p);
        fputs(p == 0 ? "unset object\n" : "", f->script);
    }
    if (page->count > 1)
        fputs("unset multiplot\n", f->script);
}

/* ---- the page -------------------------------------------------------------------------------- */

enum pp_status pp_timeline_draw(struct pp_arena *arena, struct pp_timeline_panel *panels, int count,
                                const struct pp_plot_timeline *options, const char *title,
                                const struct pp_plot_target *target, struct pp_error *err)
{
    const struct size *size = target->is_paper ? &COLUMN : &PAGE;
    struct pp_figure figure = {.target = target, .font_pt = size->font_pt};
    struct pp_timeline_page page = {.arena = arena,
                                    .figure = &figure,
                                    .panels = panels,
                                    .count = count,
                                    .font_pt = size->font_pt};
    const char *shown = target->title ? target->title : target->is_paper ? NULL : title;
    const bool has_title = shown && *shown;

    choose_unit(&page, options->time_unit);
    page.origin = isnan(options->from_s) ? 0 : options->from_s / page.unit_s;
    choose_sizes(&page, target, size);
    for (int p = 0; p < count; p++) {
        panels[p].is_binned = pp_timeline_is_dense(&page, &panels[p]);
        if (options->has_arrows && !panels[p].is_binned)
            choose_messages(arena, &panels[p], size->arrows);
    }
    page.legend_in = pp_timeline_legend(&page);
    const double height_in = around_in(&page, has_title) + page.pitch_in * all_rows(&page);
    const struct pp_figure_wish wish = {
        .width_in = size->width_in, .height_in = height_in, .paper_height_in = height_in};
    pp_figure_open(arena, target, &wish, &figure);
    place_panels(&page, has_title);
    pp_timeline_choose_numbers(&page);
    print_page(&page, has_title ? shown : NULL);
    return pp_figure_close(&figure, err);
}
