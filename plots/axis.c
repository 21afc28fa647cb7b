/* Axes of several kinds of pictures: units of time, labels of places, round steps. */
#include "plots/axis.h"

#include "core/units.h"

#include <math.h>
#include <string.h>

struct pp_axis_time pp_axis_time(double end_s, const char *unit)
{
    if (unit)
        return (struct pp_axis_time){1, unit};
    if (end_s >= 1)
        return (struct pp_axis_time){1, "s"};
    if (end_s >= 1e-3)
        return (struct pp_axis_time){1e3, "ms"};
    return (struct pp_axis_time){1e6, "us"};
}

const char *pp_axis_time_text(struct pp_arena *arena, double seconds, const char *unit)
{
    char text[PP_UNITS_TEXT_BYTES];

    return unit ? pp_arena_printf(arena, "%.4g %s", seconds, unit)
                : pp_arena_strdup(arena, pp_units_print(seconds, PP_UNIT_SECONDS, text));
}

/* The step, 1, 2, 4, 5, 8 ..., at which `count` labels of `width_in` inches fit into `room_in`. */
static int step_of_labels(int count, double width_in, double room_in)
{
    static const int STEPS[] = {1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500};
    const int last = (int)PP_COUNT(STEPS) - 1;

    for (int i = 0; i < last; i++)
        if ((double)count / STEPS[i] * width_in <= room_in)
            return STEPS[i];
    return STEPS[last] > count ? count : STEPS[last];
}

static size_t longest(const char *const *labels, int count)
{
    size_t longest = 1;

    for (int i = 0; i < count; i++)
        longest = strlen(labels[i]) > longest ? strlen(labels[i]) : longest;
    return longest;
}

const char *pp_axis_tic(const struct pp_figure *f, const char *text)
{
    const char *quoted = pp_figure_quote(f, text);
    char *tic = pp_arena_alloc(f->arena, 2 * strlen(quoted) + 1), *to = tic;

    for (; *quoted; quoted++) {
        if (*quoted == '%')
            *to++ = '%';
        *to++ = *quoted;
    }
    return tic;
}

void pp_axis_labels(const struct pp_figure *f, const char *const *labels, int count,
                    const char *axis)
{
    static const double PLOT_FRAC = 0.82; /* share of the width; the rest is margins */
    enum { SHORT = 4, LONG = 12, GAP = 1 };
    const double room_in = PLOT_FRAC * f->width_in, char_in = pp_figure_character_in(f);
    const size_t characters = longest(labels, count);
    const bool is_turned =
        characters > SHORT && count * (double)(characters + GAP) * char_in > room_in;
    const double width_in = is_turned ? 2 * char_in : (double)(characters + GAP) * char_in;
    const int every = step_of_labels(count, width_in, room_in);
    const char *turn = !is_turned           ? ""
                       : characters <= LONG ? " rotate by 35 right"
                                            : " rotate by 90 right";

    fprintf(f->script, "set xtics scale 0%s (", turn);
    for (int i = 0; i < count; i += every)
        fprintf(f->script, "%s%s %d", i ? ", " : "", pp_axis_tic(f, labels[i]), i);
    fprintf(f->script, ")\nset xrange [-0.6:%g]\n", count - 0.4);
    if (axis && *axis)
        fprintf(f->script, "set xlabel %s\n", pp_figure_quote(f, axis));
}

void pp_axis_capacity(const struct pp_figure *f, double gib)
{
    if (gib > 0)
        fprintf(f->script, " %.6g with lines lw 1.8 dt (6,3) lc rgb '#a81e3b' title %s, \\\n", gib,
                pp_figure_quote(f, pp_arena_printf(f->arena, "device %.1f GiB", gib)));
}

double pp_axis_step(double span, double count)
{
    static const double ROUND[] = {1, 2, 5};
    const double least = span / count;
    const double ten = pow(10, floor(log10(least)));

    for (size_t i = 0; i < PP_COUNT(ROUND); i++)
        if (ROUND[i] * ten >= least * (1 - 1e-9))
            return ROUND[i] * ten;
    return 10 * ten;
}

int pp_axis_columns(const struct pp_plot_target *target)
{
    enum { LEAST = 60, MOST = 200 };
    const int width = target->terminal.width;

    return width < LEAST ? LEAST : width > MOST ? MOST : width;
}

void pp_axis_heading(const struct pp_plot_target *target, const char *title)
{
    const char *heading = target->title ? target->title : title;

    if (heading && *heading)
        fprintf(target->out, "%s\n\n", heading);
}
