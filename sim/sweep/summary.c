/* Prints the summary of a sweep. */
#include "core/units.h"
#include "sim/sweep/sweep.h"

#include <math.h>

static void count(const char *before, int64_t number, const char *after, FILE *out)
{
    char text[PP_UNITS_TEXT_BYTES];

    fprintf(out, "%s%s%s", before, pp_units_print_count(number, text), after);
}

static void print_rows(const struct pp_sweep_summary *s, FILE *out)
{
    const struct pp_sweep_counts *c = &s->counts;

    count("pipesim: ", c->rows, c->rows == 1 ? " point" : " points", out);
    if (s->path)
        fprintf(out, " in %s", s->path);
    if (s->part.count > 1)
        fprintf(out, " (part %d of %d)", s->part.index, s->part.count);
    if (c->resumed > 0)
        count(", ", c->resumed, " from before", out);
    if (c->refused > 0) {
        count(", ", c->refused, " without figures", out);
        fprintf(out, " (%s%s)", c->refused > 1 ? "first: " : "", c->first_reason);
    }
    if (c->unfit > 0)
        count(", ", c->unfit, c->unfit == 1 ? " does not fit" : " do not fit", out);
    if (s->computed > 0 && s->seconds > 0)
        count(", ", llround((double)s->computed / s->seconds), " points/s", out);
    fputc('\n', out);
}

/* Prints that no point has figures, with the whole reason of the first. */
static void print_nothing(const struct pp_sweep_counts *c, FILE *out)
{
    count("pipesim: warning: no point has figures, ", c->rows, " of ", out);
    count("", c->rows, " refused; ", out);
    fprintf(out, "%s%s\n", c->rows > 1 ? "the first: " : "", c->first_reason);
}

void pp_sweep_summary(const struct pp_sweep_summary *s, FILE *out)
{
    const struct pp_sweep_counts *c = &s->counts;

    if (c->rows > 0 && c->refused == c->rows) {
        print_nothing(c, out);
        return;
    }
    if (!s->path)
        return;
    print_rows(s, out);
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    if (s->merged_path || s->part.count > 1)
        fprintf(out, "  next  pipesim sweep --merge FILE... -o %s, when all %d parts are there\n",
                s->merged_path ? pp_command_quoted(arena, s->merged_path) : "FILE", s->part.count);
    else if (s->is_file)
        fprintf(out, "  next  pipesim plot %s\n", pp_command_quoted(arena, s->path));
}
