/* Memory over the time of a step: curves of tiers or of a few ranks. Of many ranks the range is
 * drawn, too. */
#include "plots/memory/time.h"

#include <math.h>

/* ---- equal spans of time --------------------------------------------------------------------- */

struct range {
    double least, most;
};

/* Index of the span that a time is in, of `bins` equal ones. */
static int bin_of(const struct pp_plot_held *h, double time_s, int bins)
{
    const int bin = (int)(time_s / h->end_s * bins);

    return bin < 0 ? 0 : bin >= bins ? bins - 1 : bin;
}

static void widen(struct range *range, double value)
{
    range->least = fmin(range->least, value);
    range->most = fmax(range->most, value);
}

/* Adds a curve to ranges; a value counts in every bin that it reaches into. */
static void add_range(const struct pp_held_sheet *s, int curve, struct range *ranges, int bins)
{
    const struct pp_plot_held *h = s->held;
    const struct pp_held_curve *c = &s->curves[curve];

    for (int i = 0; i < c->count; i++) {
        const double until_s = i + 1 < c->count ? c->time_s[i + 1] : h->end_s;
        for (int bin = bin_of(h, c->time_s[i], bins); bin <= bin_of(h, until_s, bins); bin++)
            widen(&ranges[bin], c->held[i]);
    }
}

static struct range *make_ranges(struct pp_arena *arena, int bins)
{
    struct range *ranges = PP_ARRAY(arena, struct range, bins);

    for (int i = 0; i < bins; i++)
        ranges[i] = (struct range){INFINITY, 0};
    return ranges;
}

static double peak_of(const struct pp_held_curve *c)
{
    double most = 0;

    for (int i = 0; i < c->count; i++)
        most = fmax(most, c->held[i]);
    return most;
}

/* ---- in characters --------------------------------------------------------------------------- */

enum { ROWS = 16, MARGIN = 8 };

static const char LETTERS[] = "#:.o*+";
enum { SERIES = sizeof(LETTERS) - 1 };

/* Series are named curves; of ranks the one that holds most, and the most of all. */
struct chart {
    const struct pp_held_sheet *sheet;
    struct range *series[SERIES]; /* [columns] */
    int series_count, columns;
    double per_row;
};

/* Returns the letter of the lowest series that reaches a level, or a blank. */
static char letter_at(const struct chart *c, int column, double level)
{
    double least = INFINITY;
    char letter = ' ';

    for (int k = 0; k < c->series_count; k++) {
        const double most = c->series[k][column].most;
        if (most < level || most >= least)
            continue;
        least = most;
        letter = LETTERS[k];
    }
    return letter;
}

static void print_line(const struct chart *c, int row, FILE *out)
{
    const struct pp_held_sheet *s = c->sheet;
    const double level = (row + 0.5) * c->per_row * s->unit;
    const bool is_capacity = s->capacity > 0 && (int)lround(s->capacity / c->per_row) - 1 == row;

    if (row % 4 == 3)
        fprintf(out, "%7.*f ", c->per_row < 1 ? 1 : 0, (row + 1) * c->per_row);
    else
        fprintf(out, "%*s", MARGIN, "");
    fputc('|', out);
    for (int i = 0, blanks = 0; i < c->columns; i++) {
        char letter = letter_at(c, i, level);
        if (letter == ' ' && is_capacity)
            letter = '-';
        if (letter != ' ')
            fprintf(out, "%*s%c", blanks, "", letter);
        blanks = letter == ' ' ? blanks + 1 : 0;
    }
    fputc('\n', out);
}

static void print_axis(const struct chart *c, FILE *out)
{
    const struct pp_held_sheet *s = c->sheet;
    char end[32];

    fprintf(out, "%7d +", 0);
    for (int i = 0; i < c->columns; i++)
        fputc('-', out);
    snprintf(end, sizeof(end), "%.4g %s", s->held->end_s * s->time.factor, s->time.unit);
    fprintf(out, "\n%*s0%*s\n\n", MARGIN + 1, "", c->columns - 1, end);
}

static void add_series(struct pp_arena *arena, struct chart *c, int first, int count)
{
    struct range *ranges = make_ranges(arena, c->columns);

    for (int k = first; k < first + count; k++)
        add_range(c->sheet, k, ranges, c->columns);
    c->series[c->series_count++] = ranges;
}

static void print_legend(const struct pp_held_sheet *s, FILE *out)
{
    const struct pp_plot_held *h = s->held;

    for (int k = 0; h->names && k < h->count; k++)
        fprintf(out, "  %c %s", LETTERS[k], h->names[k]);
    if (!h->names)
        fprintf(out, "  # rank %d, which holds most (%.*f)", s->peak, h->is_bytes ? 1 : 2, s->most);
    if (!h->names && h->count > 1)
        fprintf(out, "  : the most of all %d ranks", h->count);
    if (s->capacity > 0)
        fprintf(out, "  - device %.1f GiB", s->capacity);
    fputc('\n', out);
}

/* Unit of bytes, or what is held else. */
static const char *unit_name(const struct pp_plot_held *h, const char *other)
{
    return h->is_small ? "MiB" : h->is_bytes ? "GiB" : other;
}

static void draw_text(struct pp_arena *arena, const struct pp_held_sheet *s,
                      const struct pp_plot_target *target)
{
    struct chart c = {.sheet = s,
                      .columns = pp_axis_columns(target) - MARGIN - 2,
                      .per_row = fmax(s->most, s->capacity) / ROWS};

    for (int k = 0; s->held->names && k < s->held->count; k++)
        add_series(arena, &c, k, 1);
    if (!s->held->names) {
        add_series(arena, &c, s->peak, 1);
        add_series(arena, &c, 0, s->held->count);
    }
    pp_axis_heading(target, s->held->title);
    fprintf(target->out, "%7s\n", unit_name(s->held, "chunk activations"));
    for (int row = ROWS - 1; row >= 0; row--)
        print_line(&c, row, target->out);
    print_axis(&c, target->out);
    print_legend(s, target->out);
}

/* ---- the curves ------------------------------------------------------------------------------ */

static const double MIB = 1024.0 * 1024.0, GIB = 1024.0 * 1024.0 * 1024.0;

/* Copies a curve; of points at one time it keeps the last, and the greatest, a possible peak. */
static struct pp_held_curve curve_of(struct pp_arena *arena, const struct pp_held_curve *of)
{
    const double *time_s = of->time_s, *held = of->held;
    const size_t room = (size_t)of->count + 1;
    struct pp_held_curve c = {PP_ARRAY(arena, double, room), PP_ARRAY(arena, double, room), 0};

    for (int first = 0, last; first < of->count; first = last + 1) {
        double most = held[first];
        for (last = first; last + 1 < of->count && time_s[last + 1] <= time_s[first];)
            most = fmax(most, held[++last]);
        if (most > held[last] && (c.count == 0 || most > c.held[c.count - 1]))
            pp_held_add(&c, time_s[first], most);
        pp_held_add(&c, time_s[first], held[last]);
    }
    return c;
}

static bool is_same(const struct pp_held_curve *a, const struct pp_held_curve *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->time_s[i] != b->time_s[i] || a->held[i] != b->held[i])
            return false;
    return true;
}

/* Adds a rank to the shown curves; equal curves are drawn once, with both names. */
static void show(struct pp_arena *arena, struct pp_held_sheet *s, int rank)
{
    for (int i = 0; i < s->shown_count; i++) {
        if (s->shown[i] == rank)
            return;
        if (!s->held->names && is_same(&s->curves[s->shown[i]], &s->curves[rank])) {
            s->names[i] = pp_arena_printf(arena, "%s, %d", s->names[i], rank);
            return;
        }
    }
    s->names[s->shown_count] =
        s->held->names ? s->held->names[rank] : pp_arena_printf(arena, "rank %d", rank);
    s->shown[s->shown_count++] = rank;
}

static bool shows_all(const struct pp_held_sheet *s)
{
    return s->held->count <= PP_HELD_CURVES;
}

static void choose_ranks(struct pp_arena *arena, struct pp_held_sheet *s)
{
    const int ranks = s->held->count;

    if (shows_all(s)) {
        for (int r = 0; r < ranks; r++)
            show(arena, s, r);
        return;
    }
    show(arena, s, s->peak);
    s->names[0] = pp_arena_printf(arena, "%s (most)", s->names[0]);
    show(arena, s, 0);
    show(arena, s, ranks / 2);
    show(arena, s, ranks - 1);
}

enum pp_status pp_held_open(struct pp_arena *arena, const struct pp_plot_held *h,
                            struct pp_held_sheet *s, struct pp_error *err)
{
    *s = (struct pp_held_sheet){.held = h,
                                .curves = PP_ARRAY(arena, struct pp_held_curve, h->count),
                                .time = pp_axis_time(h->end_s, h->time_unit),
                                .unit = h->is_small   ? MIB
                                        : h->is_bytes ? GIB
                                                      : 1};
    for (int r = 0; r < h->count; r++) {
        s->curves[r] = curve_of(arena, &h->curves[r]);
        const double most = peak_of(&s->curves[r]) / s->unit;
        if (most > s->most) {
            s->most = most;
            s->peak = r;
        }
    }
    s->capacity = h->capacity / s->unit;
    if (!(s->most > 0) || !(h->end_s > 0) || !isfinite(h->end_s))
        return pp_error_set(err, PP_EINVAL, "no rank holds anything over time");
    choose_ranks(arena, s);
    return PP_OK;
}

/* ---- a figure -------------------------------------------------------------------------------- */

/* Keeps the first, least, greatest and last point of each bin: more cannot be seen. */
static void keep_bin(const struct pp_held_curve *c, int first, int last, struct pp_held_curve *kept)
{
    int least = first, most = first;

    for (int i = first; i <= last; i++) {
        least = c->held[i] < c->held[least] ? i : least;
        most = c->held[i] > c->held[most] ? i : most;
    }
    const int points[] = {first, least < most ? least : most, least < most ? most : least, last};
    for (int k = 0, before = -1; k < 4; before = points[k++])
        if (points[k] != before)
            pp_held_add(kept, c->time_s[points[k]], c->held[points[k]]);
}

struct pp_held_curve pp_held_thin(struct pp_arena *arena, const struct pp_held_sheet *s, int rank)
{
    enum { BINS = 700 };
    const struct pp_plot_held *h = s->held;
    const struct pp_held_curve *c = &s->curves[rank];
    const size_t room = (size_t)c->count < 4 * BINS ? (size_t)c->count + 1 : 4 * BINS + 1;
    struct pp_held_curve kept = {PP_ARRAY(arena, double, room), PP_ARRAY(arena, double, room), 0};

    for (int first = 0, last; first < c->count; first = last + 1) {
        const int bin = bin_of(h, c->time_s[first], BINS);
        for (last = first; last + 1 < c->count && bin_of(h, c->time_s[last + 1], BINS) == bin;)
            last++;
        keep_bin(c, first, last, &kept);
    }
    return kept;
}

static void write_curve(struct pp_arena *arena, const struct pp_held_sheet *s, int rank, FILE *out)
{
    const struct pp_held_curve c = pp_held_thin(arena, s, rank);

    fprintf(out, "$rank%d << EOD\n", rank);
    for (int i = 0; i < c.count; i++)
        fprintf(out, "%.6g %.6g\n", c.time_s[i] * s->time.factor, c.held[i] / s->unit);
    if (c.count)
        fprintf(out, "%.6g %.6g\n", s->held->end_s * s->time.factor, c.held[c.count - 1] / s->unit);
    fputs("EOD\n", out);
}

static void write_range(struct pp_arena *arena, const struct pp_held_sheet *s, FILE *out)
{
    enum { BINS = 400 };
    const double bin_s = s->held->end_s / BINS;
    struct range *ranges = make_ranges(arena, BINS);

    for (int r = 0; r < s->held->count; r++)
        add_range(s, r, ranges, BINS);
    fputs("$all << EOD\n", out);
    for (int i = 0; i < 2 * BINS; i++)
        fprintf(out, "%.6g %.6g %.6g\n", bin_s * ((i + 1) / 2) * s->time.factor,
                ranges[i / 2].least / s->unit, ranges[i / 2].most / s->unit);
    fputs("EOD\n", out);
}

static void write_plot(const struct pp_held_sheet *s, const struct pp_figure *f)
{
    const double scale = f->target->is_paper ? 0.6 : 1;

    fputs("plot", f->script);
    if (!shows_all(s))
        fprintf(f->script,
                " $all using 1:2:3 with filledcurves fc rgb '#d9d9d9' title 'all %d ranks', \\\n",
                s->held->count);
    for (int i = 0; i < s->shown_count;
         i++) /* thinner and thinner, so that earlier curves are visible */
        fprintf(f->script, " $rank%d with steps linestyle %d lw %.2g title '%s', \\\n", s->shown[i],
                i % PP_STYLES + 1, scale * (3.2 - 0.5 * i), s->names[i]);
    pp_axis_capacity(f, s->capacity);
    fputs(" NaN notitle\n", f->script);
}

static enum pp_status draw_figure(struct pp_arena *arena, const struct pp_held_sheet *s,
                                  const struct pp_plot_target *target, struct pp_error *err)
{
    const struct pp_figure_wish wish = {
        .width_in = 7, .height_in = 4, .paper_height_in = 2.5, .title = s->held->title};
    struct pp_figure f;

    pp_figure_open(arena, target, &wish, &f);
    fprintf(f.script,
            "set xlabel 'time (%s)'\nset ylabel '%s'\nset xrange [0:%.6g]\nset yrange [0:%.6g]\n"
            "set key outside Left reverse samplen %s\n",
            s->time.unit,
            s->held->is_small   ? "memory per device (MiB)"
            : s->held->is_bytes ? "memory per device (GiB)"
                                : "chunk activations held",
            s->held->end_s * s->time.factor, 1.06 * fmax(s->most, s->capacity),
            target->is_paper ? "1.5 above horizontal" : "2 right top vertical");
    if (!s->held->is_bytes && s->most <= 12)
        fputs("set ytics 1\n", f.script);
    if (!shows_all(s))
        write_range(arena, s, f.script);
    for (int i = 0; i < s->shown_count; i++)
        write_curve(arena, s, s->shown[i], f.script);
    write_plot(s, &f);
    return pp_figure_close(&f, err);
}

/* ---- both ------------------------------------------------------------------------------------ */

enum pp_status pp_plot_held(struct pp_arena *arena, const struct pp_plot_held *held,
                            const struct pp_plot_target *target, struct pp_error *err)
{
    struct pp_held_sheet sheet;

    PP_TRY(pp_held_open(arena, held, &sheet, err));
    if (target->format != PP_PLOT_TERMINAL)
        return draw_figure(arena, &sheet, target, err);
    draw_text(arena, &sheet, target);
    return PP_OK;
}
