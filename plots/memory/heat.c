/* Utilisation of links: over time as a map of shades, and by class as bars. */
#include "plots/plot.h"

#include "plots/axis.h"

#include <math.h>
#include <string.h>

static double percent(double frac)
{
    return 100 * fmin(fmax(frac, 0), 1);
}

static double most_of(const double *values, int count)
{
    double most = 0;

    for (int i = 0; i < count; i++)
        most = fmax(most, values[i]);
    return most;
}

/* Is true if the names of two links differ only in numbers: they are of one class. */
static bool is_same_class(const char *a, const char *b)
{
    static const char DIGITS[] = "0123456789";

    for (;; a++, b++) {
        const size_t digits_a = strspn(a, DIGITS), digits_b = strspn(b, DIGITS);
        a += digits_a;
        b += digits_b;
        if (*a != *b || !digits_a != !digits_b)
            return false;
        if (!*a)
            return true;
    }
}

/* ---- a map ----------------------------------------------------------------------------------- */

static const char *const CLIPPED = "utilisation (%), more is drawn as 100";

static void write_rows(const struct pp_plot_heat *h, const struct pp_figure *f)
{
    fputs("$heat << EOD\n", f->script);
    for (int i = 0; i < h->row_count; i++)
        for (int k = 0; k < h->bins; k++)
            fprintf(f->script, "%.3g%c", percent(h->frac[i * h->bins + k]),
                    k + 1 < h->bins ? ' ' : '\n');
    fputs("EOD\n", f->script);
}

static const char *mean_text(struct pp_arena *arena, double frac)
{
    return pp_arena_printf(arena, "%.*f %%", frac < 0.0995 ? 1 : 0, 100 * frac);
}

/* Writes names at the left, means at the right, a line between classes. */
static void write_labels(const struct pp_plot_heat *h, const struct pp_figure *f)
{
    const double font_pt = f->target->is_paper ? 6 : 8;

    fprintf(f->script, "set ytics scale 0 font ',%g' (", font_pt);
    for (int i = 0; i < h->row_count; i++)
        fprintf(f->script, "%s%s %d", i ? ", " : "", pp_axis_tic(f, h->rows[i]), i);
    fprintf(f->script, ")\nset y2tics scale 0 font ',%g' (", font_pt);
    for (int i = 0; i < h->row_count; i++)
        fprintf(f->script, "%s%s %d", i ? ", " : "",
                pp_axis_tic(f, mean_text(f->arena, h->mean_frac[i])), i);
    fprintf(f->script, ")\nset label 'mean' at graph 1.01, graph 1 offset 0,0.7 font ',%g'\n",
            font_pt);
    for (int i = 1; i < h->row_count; i++)
        if (!is_same_class(h->rows[i - 1], h->rows[i]))
            fprintf(f->script,
                    "set arrow from graph 0, first %g to graph 1, first %g nohead front lw 0.8 "
                    "lc rgb '#404040'\n",
                    i - 0.5, i - 0.5);
}

static enum pp_status draw_map(struct pp_arena *arena, const struct pp_plot_heat *h,
                               const struct pp_plot_target *target, struct pp_error *err)
{
    const struct pp_axis_time time = pp_axis_time(h->end_s, NULL);
    const double bin = h->end_s * time.factor / h->bins;
    const bool is_clipped = most_of(h->frac, h->row_count * h->bins) > 1.0005;
    const struct pp_figure_wish wish = {.width_in = 7.5,
                                        .height_in = 1.8 + 0.14 * h->row_count,
                                        .paper_height_in = 1.2 + 0.098 * h->row_count,
                                        .title = h->title};
    struct pp_figure f;

    pp_figure_open(arena, target, &wish, &f);
    const double line = 1.2 * f.font_pt / 72 / f.height_in; /* line of text / picture's height */
    fprintf(f.script,
            "set border 15\nunset grid\nset xlabel 'time (%s)'\nset xrange [0:%.6g]\n"
            "set yrange [%g:-0.5]\nset y2range [%g:-0.5]\nset cbrange [0:100]\n"
            "set cblabel %s\nset bmargin 8\nset tmargin %s\n"
            "set colorbox horizontal user origin graph 0, screen %.4f size graph 1, screen %.4f\n"
            "set palette defined (0 '#ffffff', 1 '#faf0cc', 10 '#f7dc93', 30 '#f2a33c', "
            "60 '#b8442e', 100 '#2b0b2e')\n",
            time.unit, h->end_s * time.factor, h->row_count - 0.5, h->row_count - 0.5,
            pp_figure_quote(&f, is_clipped ? CLIPPED : "utilisation (%)"),
            target->is_paper ? "1.5" : "3", 3.2 * line, 0.7 * line);
    write_labels(h, &f);
    write_rows(h, &f);
    fprintf(f.script, "plot $heat matrix using (($1 + 0.5) * %.6g):2:3 with image\n", bin);
    return pp_figure_close(&f, err);
}

/* ---- a map in the terminal ------------------------------------------------------------------- */

static const char SHADES[] = " .:-=+*#%@";
enum { MAX_NAME = 22, MEAN = 6 };

/* Width of a column that has room for `name`, too. */
static size_t widened(size_t width, const char *name)
{
    const size_t length = strlen(name) > MAX_NAME ? MAX_NAME : strlen(name);

    return length > width ? length : width;
}

/* Cuts the beginning of a long name: its end tells links apart. */
static const char *name_of(const char *name, int width)
{
    const size_t length = strlen(name);

    return length > (size_t)width ? name + length - (size_t)width : name;
}

/* Mean over the bins that a column covers. */
static double column_frac(const double *frac, int bins, int column, int columns)
{
    const double from = (double)column * bins / columns, to = (double)(column + 1) * bins / columns;
    double sum = 0;

    for (int k = (int)from; k < bins && k < to; k++)
        sum += frac[k] * (fmin(k + 1, to) - fmax(k, from));
    return sum / (to - from);
}

static char shade_of(double frac)
{
    const int last = (int)sizeof(SHADES) - 2;
    const int shade = (int)ceil(percent(frac) / 100 * last - 1e-9); /* small values are not blank */

    return SHADES[shade > last ? last : shade];
}

static void print_map(const struct pp_plot_heat *h, const struct pp_plot_target *target)
{
    const struct pp_axis_time time = pp_axis_time(h->end_s, NULL);
    size_t names = strlen("link");
    char end[32];

    for (int i = 0; i < h->row_count; i++)
        names = widened(names, h->rows[i]);
    const int width = (int)names, columns = pp_axis_columns(target) - width - MEAN - 4;
    pp_axis_heading(target, h->title);
    fprintf(target->out, "%*s |%*s| mean\n", width, "link", columns, "");
    for (int i = 0; i < h->row_count; i++) {
        if (i > 0 && !is_same_class(h->rows[i - 1], h->rows[i]))
            fputc('\n', target->out);
        fprintf(target->out, "%*s |", width, name_of(h->rows[i], width));
        for (int k = 0; k < columns; k++)
            fputc(shade_of(column_frac(&h->frac[i * h->bins], h->bins, k, columns)), target->out);
        fprintf(target->out, "|%4.*f %%\n", h->mean_frac[i] < 0.0995 ? 1 : 0,
                100 * h->mean_frac[i]);
    }
    snprintf(end, sizeof(end), "%.4g %s", h->end_s * time.factor, time.unit);
    fprintf(target->out, "%*s 0%*s\n\n  utilisation: blank none, . to %.0f %%, ", width, "",
            columns, end, 100.0 / (sizeof(SHADES) - 2));
    fprintf(target->out, "then : - = + * # %% and @ full\n");
}

static enum pp_status check_end(double end_s, struct pp_error *err)
{
    return end_s > 0 && isfinite(end_s)
               ? PP_OK
               : pp_error_set(err, PP_EINVAL, "there is no time in which links carry anything");
}

enum pp_status pp_plot_heat(struct pp_arena *arena, const struct pp_plot_heat *heat,
                            const struct pp_plot_target *target, struct pp_error *err)
{
    if (heat->row_count == 0 || heat->bins == 0)
        return pp_error_set(err, PP_EINVAL, "no link carries anything");
    PP_TRY(check_end(heat->end_s, err));
    if (target->format != PP_PLOT_TERMINAL)
        return draw_map(arena, heat, target, err);
    print_map(heat, target);
    return PP_OK;
}

/* ---- classes --------------------------------------------------------------------------------- */

static double busiest(const struct pp_plot_links *l)
{
    double most = 0;

    for (int i = 0; i < l->count; i++)
        most = fmax(most, l->links[i].max_frac);
    return most;
}

static enum pp_status draw_bars(struct pp_arena *arena, const struct pp_plot_links *l,
                                const struct pp_plot_target *target, struct pp_error *err)
{
    const struct pp_figure_wish wish = {.width_in = 7,
                                        .height_in = 1.5 + 0.4 * l->count,
                                        .paper_height_in = 1 + 0.26 * l->count,
                                        .title = l->title};
    struct pp_figure f;
    const double most = busiest(l), full = fmax(100, 105 * most);
    const double room = target->is_paper ? 0.65 : 0.36; /* for the numbers after a bar */
    const double right = fmax(full, 100 * most + room * full);

    pp_figure_open(arena, target, &wish, &f);
    fprintf(
        f.script,
        "set xlabel %s\nset xrange [0:%.6g]\nset xtics 0,%g,%g\nset yrange [%g:-0.6]\nunset grid\n"
        "set grid xtics lw 0.5 lc rgb '#dcdcdc' dt 1\n"
        "set key outside right top vertical Left reverse samplen 1%s\nset ytics scale 0 (",
        pp_figure_quote(&f, "utilisation (%)"), right, pp_axis_step(full / 1.05, 5), full,
        l->count - 0.4, target->is_paper ? "\nset key above horizontal" : "");
    for (int i = 0; i < l->count; i++)
        fprintf(
            f.script, "%s%s %d", i ? ", " : "",
            pp_axis_tic(&f, pp_arena_printf(arena, "%s (%d)", l->links[i].name, l->links[i].count)),
            i);
    fputs(")\n$links << EOD\n", f.script);
    for (int i = 0; i < l->count; i++)
        fprintf(f.script, "%d %.6g %.6g\n", i, 100 * l->links[i].mean_frac,
                100 * l->links[i].max_frac);
    fputs("EOD\n", f.script);
    for (int i = 0; i < l->count; i++)
        fprintf(f.script, "set label %s at %.6g,%d left offset 0.6,0\n",
                pp_figure_quote(&f, pp_arena_printf(arena, "%.1f / %.1f %%",
                                                    100 * l->links[i].mean_frac,
                                                    100 * l->links[i].max_frac)),
                100 * fmax(l->links[i].mean_frac, l->links[i].max_frac), i);
    fputs("plot $links using 3:1:(0):3:($1-0.38):($1+0.38) with boxxyerror fs solid 1 border "
          "lc rgb '#303030' fc rgb '#a9cdec' lw 0.4 title 'busiest link', \\\n"
          " $links using 2:1:(0):2:($1-0.2):($1+0.2) with boxxyerror fs solid 1 border "
          "lc rgb '#303030' fc rgb '#1b3a6b' lw 0.4 title 'mean'\n",
          f.script);
    return pp_figure_close(&f, err);
}

static void print_bars(const struct pp_plot_links *l, const struct pp_plot_target *target)
{
    enum { FIGURES = 24 };
    const double full = fmax(1, busiest(l));
    size_t names = strlen("link");

    for (int i = 0; i < l->count; i++)
        names = widened(names, l->links[i].name);
    const int width = (int)names, columns = pp_axis_columns(target) - width - FIGURES - 3;
    pp_axis_heading(target, l->title);
    fprintf(target->out, "%*s |%*s| links   mean    most\n", width, "link", columns, "");
    for (int i = 0; i < l->count; i++) {
        fprintf(target->out, "%*s |", width, name_of(l->links[i].name, width));
        for (int k = 0; k < columns; k++)
            fputc(k < lround(l->links[i].mean_frac / full * columns)  ? '#'
                  : k < lround(l->links[i].max_frac / full * columns) ? '-'
                                                                      : ' ',
                  target->out);
        fprintf(target->out, "|%6d %5.1f %% %5.1f %%\n", l->links[i].count,
                100 * l->links[i].mean_frac, 100 * l->links[i].max_frac);
    }
    fprintf(target->out, "\n  # mean of the class  - its busiest link  full width %.0f %%\n",
            100 * full);
}

enum pp_status pp_plot_links(struct pp_arena *arena, const struct pp_plot_links *links,
                             const struct pp_plot_target *target, struct pp_error *err)
{
    if (links->count == 0)
        return pp_error_set(err, PP_EINVAL, "no link carries anything");
    if (target->format != PP_PLOT_TERMINAL)
        return draw_bars(arena, links, target, err);
    print_bars(links, target);
    return PP_OK;
}
