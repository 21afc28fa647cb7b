/* Predicted over measured durations: good predictions lie on the diagonal. */
#include "plots/plot.h"

#include "core/quantile.h"
#include "plots/axis.h"
#include "traces/compare/compare.h"

#include <math.h>

static const struct {
    const char *name;
    int kind; /* PP_OP_KINDS: no kind of its own */
} SERIES[] = {{"F forward", PP_F},         {"B backward", PP_B},      {"I input gradient", PP_I},
              {"W weight gradient", PP_W}, {"F+B pair", PP_OP_KINDS}, {"R recompute", PP_R},
              {"U optimizer", PP_U},       {"message", PP_OP_KINDS},  {"sum", PP_OP_KINDS},
              {"other", PP_OP_KINDS}};
enum { PAIR = 4, MESSAGE = 7, SUM = 8, OTHER = 9, SERIES_COUNT };

static int series_of(const struct pp_compare_pair *pair)
{
    int k = 0;

    if (pair->is_fused)
        return PAIR;
    if (pp_op_is_recv(pair->kind) || pp_op_is_send(pair->kind))
        return MESSAGE;
    if (pp_op_is_collective(pair->kind))
        return SUM;
    while (k < OTHER && SERIES[k].kind != pair->kind)
        k++;
    return k;
}

struct series {
    double *measured_s, *predicted_s;
    int count;
    double median_measured_s, median_predicted_s;
};

struct scatter {
    struct pp_arena *arena;
    const struct pp_comparison *comparison;
    struct series series[SERIES_COUNT];
    int without_duration; /* left out: a logarithmic axis has no place for 0 */
    double least_s, most_s;
};

static double median(struct pp_arena *arena, const double *values, int count)
{
    const size_t bytes = sizeof(double) * (size_t)count;

    return pp_median(pp_arena_grow(arena, values, bytes, bytes), count);
}

static void add_pair(struct scatter *s, const struct pp_compare_pair *pair)
{
    struct series *series = &s->series[series_of(pair)];

    if (!(pair->measured_s > 0 && pair->predicted_s > 0)) {
        s->without_duration++;
        return;
    }
    if (!series->measured_s) {
        series->measured_s = PP_ARRAY(s->arena, double, s->comparison->pair_count);
        series->predicted_s = PP_ARRAY(s->arena, double, s->comparison->pair_count);
    }
    series->measured_s[series->count] = pair->measured_s;
    series->predicted_s[series->count++] = pair->predicted_s;
    s->least_s = fmin(s->least_s, fmin(pair->measured_s, pair->predicted_s));
    s->most_s = fmax(s->most_s, fmax(pair->measured_s, pair->predicted_s));
}

static enum pp_status make_scatter(struct pp_arena *arena, const struct pp_comparison *comparison,
                                   struct scatter *s, struct pp_error *err)
{
    *s = (struct scatter){.arena = arena, .comparison = comparison, .least_s = INFINITY};
    for (int i = 0; i < comparison->pair_count; i++)
        add_pair(s, &comparison->pairs[i]);
    if (!(s->most_s > 0))
        return pp_error_set(err, PP_EINVAL, "%s and %s: no op takes any time in both",
                            comparison->predicted.trace->program,
                            comparison->measured.trace->program);
    for (int k = 0; k < SERIES_COUNT; k++) {
        struct series *series = &s->series[k];
        if (series->count == 0)
            continue;
        series->median_measured_s = median(arena, series->measured_s, series->count);
        series->median_predicted_s = median(arena, series->predicted_s, series->count);
    }
    return PP_OK;
}

/* ---- script ---------------------------------------------------------------------------------- */

enum { CELLS = 160 }; /* cells of an axis; a cell shows one point of each series */

static int cell_of(const struct scatter *s, double seconds)
{
    const double span = log(s->most_s / s->least_s);

    return span > 0 ? (int)(log(seconds / s->least_s) / span * (CELLS - 1)) : 0;
}

static void write_series(const struct scatter *s, int k, double factor, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct series *series = &s->series[k];
    bool *is_taken = PP_ARRAY(scratch, bool, CELLS *CELLS);

    fprintf(out, "$series%d << EOD\n", k);
    for (int i = 0; i < series->count; i++) {
        bool *taken = &is_taken[cell_of(s, series->measured_s[i]) * CELLS +
                                cell_of(s, series->predicted_s[i])];
        if (!*taken)
            fprintf(out, "%.5g %.5g\n", series->measured_s[i] * factor,
                    series->predicted_s[i] * factor);
        *taken = true;
    }
    fputs("EOD\n", out);
}

static void write_medians(const struct scatter *s, double factor, FILE *out)
{
    fputs("$medians << EOD\n", out);
    for (int k = 0; k < SERIES_COUNT; k++)
        if (s->series[k].count)
            fprintf(out, "%.5g %.5g\n", s->series[k].median_measured_s * factor,
                    s->series[k].median_predicted_s * factor);
    fputs("EOD\n", out);
}

static void write_plot(const struct scatter *s, const struct pp_figure *f)
{
    const bool is_paper = f->target->is_paper, is_text = f->target->format == PP_PLOT_TERMINAL;
    int style = 0;

    fputs("plot", f->script);
    if (!is_text)
        fprintf(f->script, " $band using 1:2:3 with filledcurves fc rgb '#e3e3e3' title %s, \\\n",
                pp_figure_quote(f, "within 10 %"));
    fprintf(f->script, " $band using 1:1 with lines%s, \\\n",
            is_text ? " dt '.' title 'equal'"
                    : " lw 0.8 lc rgb '#606060' title 'predicted = measured'");
    for (int k = 0; k < SERIES_COUNT; k++) {
        if (s->series[k].count == 0)
            continue;
        if (is_text)
            fprintf(f->script, " $series%d with points pt '%c' title '%s', \\\n", k, 'a' + style,
                    SERIES[k].name);
        else
            fprintf(f->script, " $series%d with points linestyle %d ps %g title '%s', \\\n", k,
                    style + 1, pp_figure_point(f, is_paper ? 0.45 : 0.6), SERIES[k].name);
        style++;
    }
    if (is_text)
        fputs(" $medians with points pt 'X' title 'medians'\n", f->script);
    else
        fprintf(f->script,
                " $medians with points pt 6 ps %g lw 3.5 lc rgb 'white' notitle, \\\n"
                " $medians with points pt 6 ps %g lw 1.6 lc rgb 'black' title 'medians'\n",
                pp_figure_point(f, is_paper ? 1.1 : 1.6), pp_figure_point(f, is_paper ? 1.1 : 1.6));
}

static const char *title_of(const struct scatter *s)
{
    const struct pp_comparison *c = s->comparison;
    const char *left =
        s->without_duration
            ? pp_arena_printf(s->arena, "\n(%d of no duration left out)", s->without_duration)
            : "";

    return pp_arena_printf(s->arena, "step: predicted %s, measured %s, %+.1f %%%s",
                           pp_axis_time_text(s->arena, c->predicted.step_s, c->time_unit),
                           pp_axis_time_text(s->arena, c->measured.step_s, c->time_unit),
                           100 * c->step_error_frac + 0.0, left);
}

static void write_axes(const struct scatter *s, const struct pp_axis_time *time,
                       const struct pp_figure *f)
{
    const double low = s->least_s * time->factor / 1.4, high = s->most_s * time->factor * 1.4;

    fprintf(f->script,
            "set logscale xy\nset xrange [%.5g:%.5g]\nset yrange [%.5g:%.5g]\n"
            "set xlabel 'measured (%s)'\nset ylabel 'predicted (%s)'\n",
            low, high, low, high, time->unit, time->unit);
    if (high / low <= 1e4) /* gnuplot's own tics are the decades */
        fputs("set for [e=-15:18] for [m in '2 5'] xtics add (m*10.**e)\n"
              "set for [e=-15:18] for [m in '2 5'] ytics add (m*10.**e)\n",
              f->script);
    if (f->target->format == PP_PLOT_TERMINAL)
        fputs("set key outside right top vertical\n", f->script);
    else
        fprintf(f->script,
                "set size ratio 1\nset grid xtics ytics\nset format xy '%%g'\n"
                "set key outside Left reverse samplen 1 %s\n",
                f->target->is_paper ? "above horizontal width -3" : "right top vertical");
    fprintf(f->script, "$band << EOD\n%.5g %.5g %.5g\n%.5g %.5g %.5g\nEOD\n", low, 0.9 * low,
            1.1 * low, high, 0.9 * high, 1.1 * high);
}

enum pp_status pp_plot_error(struct pp_arena *arena, const struct pp_trace *predicted,
                             const struct pp_trace *measured, const struct pp_plot_target *target,
                             struct pp_error *err)
{
    static const struct pp_compare_options PAIRS = {.keeps_pairs = true};
    struct pp_comparison comparison;
    struct scatter scatter;
    struct pp_figure figure;

    PP_TRY(pp_plot_compare(arena, predicted, measured, &PAIRS, &comparison, err));
    PP_TRY(make_scatter(arena, &comparison, &scatter, err));
    const struct pp_axis_time time = pp_axis_time(scatter.most_s, comparison.time_unit);
    const struct pp_figure_wish wish = {.width_in = 6.5,
                                        .height_in = 5,
                                        .paper_height_in = 3.5,
                                        .rows = 30,
                                        .title = title_of(&scatter)};
    pp_figure_open(arena, target, &wish, &figure);
    write_axes(&scatter, &time, &figure);
    for (int k = 0; k < SERIES_COUNT; k++)
        if (scatter.series[k].count)
            write_series(&scatter, k, time.factor, figure.script);
    write_medians(&scatter, time.factor, figure.script);
    write_plot(&scatter, &figure);
    return pp_figure_close(&figure, err);
}
