/* Memory over time in characters. */
#include "plots/memory/time.h"

#include <math.h>

enum { ROWS = 16, MARGIN = 8 };

struct chart {
    const struct pp_held_sheet *sheet;
    struct pp_held_range *all, *peak; /* [columns] */
    int columns;
    double per_row;
};

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
        const char letter = c->peak[i].most >= level  ? '#'
                            : c->all[i].most >= level ? ':'
                            : is_capacity             ? '-'
                                                      : ' ';
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

void pp_held_draw_text(struct pp_arena *arena, const struct pp_held_sheet *s,
                       const struct pp_plot_target *target)
{
    struct chart c = {.sheet = s, .columns = pp_axis_columns(target) - MARGIN - 2};

    c.all = pp_held_ranges(arena, c.columns);
    c.peak = pp_held_ranges(arena, c.columns);
    c.per_row = fmax(s->most, s->capacity) / ROWS;
    for (int r = 0; r < s->held->ranks; r++)
        pp_held_add_range(s, r, c.all, c.columns);
    pp_held_add_range(s, s->peak, c.peak, c.columns);
    pp_axis_heading(target, s->held->title);
    fprintf(target->out, "%7s\n", s->held->is_bytes ? "GiB" : "chunk activations");
    for (int row = ROWS - 1; row >= 0; row--)
        print_line(&c, row, target->out);
    print_axis(&c, target->out);
    fprintf(target->out, "  # rank %d, which holds most (%.*f)", s->peak, s->held->is_bytes ? 1 : 2,
            s->most);
    if (s->held->ranks > 1)
        fprintf(target->out, "  : the most of all %d ranks", s->held->ranks);
    if (s->capacity > 0)
        fprintf(target->out, "  - device %.1f GiB", s->capacity);
    fputc('\n', target->out);
}
