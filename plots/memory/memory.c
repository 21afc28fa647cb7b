/* Bars of bytes, stacked by component. Bytes are doubles and are drawn in GiB. */
#include "plots/plot.h"

#include "plots/axis.h"

#include <math.h>
#include <string.h>

enum { PARTS = PP_PLOT_MEMORY_PARTS };
static const double GIB = 1024.0 * 1024.0 * 1024.0;

/* Lighter from bottom to top, so that neighbours differ in grey. */
const struct pp_plot_memory_part pp_plot_memory_parts[PARTS] = {
    {"params_bytes", "parameters", 0x14263f, 'P', false},
    {"grads_bytes", "gradients", 0x2f5f95, 'G', false},
    {"optimizer_bytes", "optimizer", 0x4a8f87, 'O', false},
    {"activations_bytes", "activations", 0xf2b350, 'A', false},
    {"kv_bytes", "cache", 0xd98a5b, 'K', true},
    {"buffers_bytes", "buffers", 0xf9e08f, 'B', false},
    {"other_bytes", "other", 0xf4f4f4, '-', false},
};
static const struct pp_plot_memory_part COUNTED = {"", "activations", 0xf2b350, 'A', false};

struct bars {
    const struct pp_plot_memory *memory;
    int parts;
    const struct pp_plot_memory_part *stack;
    double unit;     /* bytes in a GiB, or 1 activation */
    double capacity; /* in units; 0 = not known */
    double most;     /* the highest bar */
};

static double part_of(const struct bars *b, int bar, int part)
{
    const struct pp_plot_memory *m = b->memory;

    return (m->has_bytes ? m->bars[bar].part_bytes[part] : m->bars[bar].activations) / b->unit;
}

static double total_of(const struct bars *b, int bar)
{
    double total = 0;

    for (int k = 0; k < b->parts; k++)
        total += part_of(b, bar, k);
    return total;
}

static bool is_over(const struct bars *b, int bar)
{
    if (b->memory->has_fits)
        return b->memory->bars[bar].is_over;
    return b->capacity > 0 && total_of(b, bar) > b->capacity * (1 + 1e-12);
}

static bool is_any_over(const struct bars *b)
{
    for (int i = 0; i < b->memory->count; i++)
        if (is_over(b, i))
            return true;
    return false;
}

static bool occurs(const struct bars *b, int part)
{
    for (int i = 0; i < b->memory->count; i++)
        if (part_of(b, i, part) > 0)
            return true;
    return false;
}

static enum pp_status make_bars(const struct pp_plot_memory *m, struct bars *b,
                                struct pp_error *err)
{
    *b = (struct bars){.memory = m,
                       .parts = m->has_bytes ? PARTS : 1,
                       .stack = m->has_bytes ? pp_plot_memory_parts : &COUNTED,
                       .unit = m->has_bytes ? GIB : 1,
                       .capacity = m->has_bytes ? m->capacity_bytes / GIB : 0};
    for (int i = 0; i < m->count; i++)
        b->most = fmax(b->most, total_of(b, i));
    if (!(b->most > 0) || !isfinite(b->most))
        return pp_error_set(err, PP_EINVAL, "there is no memory to draw");
    return PP_OK;
}

const char *pp_plot_memory_title(struct pp_arena *arena, const char *schedule, bool is_unit)
{
    const char *what = is_unit ? "activations" : "peak memory";

    return schedule ? pp_arena_printf(arena, "%s: %s of each pipeline rank", schedule, what)
                    : pp_arena_printf(arena, "%s of the fullest rank", what);
}

/* ---- a figure -------------------------------------------------------------------------------- */

static double top_of(const struct bars *b)
{
    return 1.06 * fmax(b->capacity, is_any_over(b) ? 1.04 * b->most : b->most);
}

/* Columns: place, lower and upper end of every part, place of the mark. */
static void write_data(const struct bars *b, FILE *script)
{
    fputs("$memory << EOD\n", script);
    for (int i = 0; i < b->memory->count; i++) {
        double sum = 0;
        fprintf(script, "%d 0", i);
        for (int k = 0; k < b->parts; k++)
            fprintf(script, " %.6g", sum += part_of(b, i, k));
        if (is_over(b, i))
            fprintf(script, " %.6g\n", sum + 0.025 * top_of(b));
        else
            fputs(" NaN\n", script);
    }
    fputs("EOD\n", script);
}

static void write_plot(const struct bars *b, const struct pp_figure *f)
{
    fputs("plot", f->script);
    for (int k = 0; k < b->parts; k++)
        if (occurs(b, k))
            fprintf(f->script,
                    " $memory using 1:%d:($1-0.4):($1+0.4):%d:%d with boxxyerror fs solid 1 "
                    "border lc rgb '#303030' fc rgb '#%06x' lw 0.4 title %s, \\\n",
                    k + 3, k + 2, k + 3, b->stack[k].rgb,
                    b->parts > 1 ? pp_figure_quote(f, b->stack[k].name) : "''");
    pp_axis_capacity(f, b->capacity);
    if (is_any_over(b))
        fprintf(f->script,
                " $memory using 1:%d with points pt 11 ps %g lc rgb '#a81e3b' title "
                "'does not fit', \\\n",
                b->parts + 3, pp_figure_point(f, f->target->is_paper ? 0.9 : 1.2));
    fputs(" NaN notitle\n", f->script);
}

/* Bars with names longer than NUMBER need the height of a line; ranks may lack their label. */
enum { NUMBER = 4 };
static const double MARGINS_IN = 2.4, PAPER_MARGINS_IN = 0.7;

static size_t longest_label(const struct pp_plot_memory *m)
{
    size_t longest = 0;

    for (int i = 0; i < m->count; i++)
        longest = strlen(m->bars[i].label) > longest ? strlen(m->bars[i].label) : longest;
    return longest;
}

static struct pp_figure_wish wish_of(const struct bars *b)
{
    enum { USUAL = 6, LEVEL = 60 }; /* characters of a name; of all names of a level axis */
    const double WIDTH_IN = 7, MOST_IN = 14, BAR_IN = 0.2, TALL_IN = 0.075, PAPER_TALL_IN = 0.062;
    const size_t longest = longest_label(b->memory);
    const bool is_upright = b->memory->count * (longest + 1) > LEVEL;
    const double more = is_upright && longest > 2 * USUAL ? (double)(longest - USUAL) : 0;
    const double wide = longest > NUMBER ? MARGINS_IN + BAR_IN * b->memory->count : 0;

    return (struct pp_figure_wish){.width_in = fmin(MOST_IN, fmax(WIDTH_IN, wide)),
                                   .height_in = 4.2 + TALL_IN * more,
                                   .paper_height_in = 2.5 + PAPER_TALL_IN * more,
                                   .title = b->memory->title};
}

static enum pp_status check_room(const struct bars *b, const struct pp_figure *f,
                                 struct pp_error *err)
{
    const double room_in = f->width_in - (f->target->is_paper ? PAPER_MARGINS_IN : MARGINS_IN);
    const int most = (int)fmax(1, floor(room_in / (1.1 * f->font_pt / 72)));

    if (longest_label(b->memory) <= NUMBER || b->memory->count <= most)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%d bars, but the names of at most %d can be read in %.3g inches: choose "
                        "some, in a sweep with --where COLUMN=VALUE, or draw in the terminal",
                        b->memory->count, most, f->width_in);
}

static enum pp_status draw_figure(struct pp_arena *arena, const struct bars *b,
                                  const struct pp_plot_target *target, struct pp_error *err)
{
    const struct pp_figure_wish wish = wish_of(b);
    struct pp_figure figure;

    pp_figure_open(arena, target, &wish, &figure);
    const enum pp_status status = check_room(b, &figure, err);
    if (status != PP_OK) {
        pp_figure_discard(&figure);
        return status;
    }
    const char **labels = PP_ARRAY(arena, const char *, b->memory->count);
    for (int i = 0; i < b->memory->count; i++)
        labels[i] = b->memory->bars[i].label;
    pp_axis_labels(&figure, labels, b->memory->count, b->memory->axis);
    fprintf(figure.script,
            "set ylabel %s\nset yrange [0:%.6g]\nset key outside Left reverse samplen %s\n",
            b->memory->has_bytes     ? "'memory per device (GiB)'"
            : b->memory->is_of_ranks ? "'activations held (micro-batches of a rank)'"
                                     : "'chunk activations held'",
            top_of(b), target->is_paper ? "1 above horizontal" : "1.5 right top vertical invert");
    write_data(b, figure.script);
    write_plot(b, &figure);
    return pp_figure_close(&figure, err);
}

/* ---- in the terminal ------------------------------------------------------------------------- */

enum { MAX_ROWS = 40, MAX_LABEL = 40, VALUE = 16 };

static int label_width(const struct pp_plot_memory *m, int columns)
{
    const size_t axis = strlen(m->axis ? m->axis : ""), longest = longest_label(m);
    const int width = (int)(axis > longest ? axis : longest), most = columns / 2;

    return width > most ? most : width > MAX_LABEL ? MAX_LABEL : width;
}

/* Prints a part up to the rounded sum so far, so that the whole bar is as long as the total. */
static void print_bar(const struct bars *b, int bar, int width, double per_column, FILE *out)
{
    const int line = b->capacity > 0 ? (int)lround(b->capacity / per_column) : -1;
    double sum = 0;
    int at = 0;

    for (int k = 0; k < b->parts; k++) {
        sum += part_of(b, bar, k);
        for (const int end = (int)lround(sum / per_column); at < end && at < width; at++)
            fputc(at == line ? '|' : b->stack[k].letter, out);
    }
    for (; at < width; at++)
        fputc(at == line ? '|' : ' ', out);
}

static void print_row(const struct bars *b, int bar, int label, int width, FILE *out)
{
    const double per_column = fmax(b->most, b->capacity) / (width - 1);

    fprintf(out, "%*.*s ", label, label, b->memory->bars[bar].label);
    print_bar(b, bar, width, per_column, out);
    fprintf(out, " %.*f%s\n", b->memory->has_bytes ? 1 : 2, total_of(b, bar),
            is_over(b, bar) ? " OVER" : "");
}

static void print_legend(const struct bars *b, FILE *out)
{
    fputs("\n ", out);
    for (int k = 0; k < b->parts; k++)
        if (occurs(b, k))
            fprintf(out, " %c %s", b->stack[k].letter, b->stack[k].name);
    if (b->capacity > 0)
        fprintf(out, "\n  | device %.1f GiB", b->capacity);
    fputc('\n', out);
}

static int fullest(const struct bars *b)
{
    int most = 0;

    for (int i = 1; i < b->memory->count; i++)
        if (total_of(b, i) > total_of(b, most))
            most = i;
    return most;
}

static void draw_text(const struct bars *b, const struct pp_plot_target *target)
{
    const int columns = pp_axis_columns(target), label = label_width(b->memory, columns);
    const int width = columns - label - VALUE, peak = fullest(b);
    const int every = (b->memory->count + MAX_ROWS - 1) / MAX_ROWS;

    pp_axis_heading(target, b->memory->title);
    fprintf(target->out, "%*.*s %-*s %s\n", label, label, b->memory->axis ? b->memory->axis : "",
            width, "",
            b->memory->has_bytes     ? "GiB"
            : b->memory->is_of_ranks ? "micro-batches"
                                     : "activations");
    for (int i = 0; i < b->memory->count; i++)
        if (i % every == 0 || i == peak)
            print_row(b, i, label, width, target->out);
    print_legend(b, target->out);
    if (every > 1)
        fprintf(target->out, "  1 of %d shown, and the fullest\n", every);
}

enum pp_status pp_plot_memory(struct pp_arena *arena, const struct pp_plot_memory *memory,
                              const struct pp_plot_target *target, struct pp_error *err)
{
    struct bars bars;

    PP_TRY(make_bars(memory, &bars, err));
    if (target->format != PP_PLOT_TERMINAL)
        return draw_figure(arena, &bars, target, err);
    draw_text(&bars, target);
    return PP_OK;
}
