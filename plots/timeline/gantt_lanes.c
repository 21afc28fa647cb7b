/* Copies between memory tiers in characters: lines below the row of a rank. */
#include "core/text/terminal.h"
#include "plots/timeline/parts.h"

#include <math.h>

static const char *const lane_names[PP_COPY_STREAMS] = {
    [PP_COPY_DOWN] = "d~copies~down", [PP_COPY_UP] = "u~copies~up", [PP_COPY_HOST] = "h~host"};

/* Adds the time of a copy to the columns that it runs in. */
static void add_copy(const struct pp_timeline_copy *copy, double column_ps, int columns,
                     double *busy_ps)
{
    const double start_ps = (double)pp_trace_ps(copy->start_s),
                 end_ps = (double)pp_trace_ps(copy->end_s);
    const int first = (int)fmax(0, fmin(start_ps / column_ps, columns));

    for (int c = first; c < columns && c * column_ps < end_ps; c++)
        busy_ps[c] += fmin(end_ps, (c + 1) * column_ps) - fmax(start_ps, c * column_ps);
}

static char letter_of(double busy_ps, double column_ps)
{
    return busy_ps >= 0.5 * column_ps ? '=' : busy_ps > 0 ? '-' : ' ';
}

static void print_lane(const struct pp_gantt *g, int rank, enum pp_copy_stream stream, int columns,
                       double column_ps, int width, int gap)
{
    const struct pp_timeline *t = &g->timeline;
    double *busy_ps = PP_ARRAY(g->arena, double, columns);
    int blanks = 0;

    for (int i = 0; i < t->copy_count; i++)
        if (t->copies[i].rank == rank && t->copies[i].stream == stream)
            add_copy(&t->copies[i], column_ps, columns, busy_ps);
    fprintf(g->out, "%*c |", g->label_width - 2, lane_names[stream][0]);
    for (int c = 0; c < columns; c++) {
        const char letter = letter_of(busy_ps[c], column_ps);
        const int cells = width + (c + 1 < columns ? gap : 0);
        if (letter == ' ') {
            blanks += cells;
            continue;
        }
        fprintf(g->out, "%*s", blanks, "");
        blanks = cells - width;
        for (int k = 0; k < width; k++)
            fputc(letter, g->out);
    }
    fputc('\n', g->out);
}

void pp_gantt_print_lanes(const struct pp_gantt *g, int rank, int columns, double column_ps,
                          int width, int gap)
{
    for (int stream = 0; stream < PP_COPY_STREAMS; stream++)
        if (g->timeline.has_lane[stream])
            print_lane(g, rank, (enum pp_copy_stream)stream, columns, column_ps, width, gap);
}

void pp_gantt_print_lane_names(const struct pp_gantt *g)
{
    const char *text = "";

    for (int stream = 0; stream < PP_COPY_STREAMS; stream++)
        if (g->timeline.has_lane[stream])
            text = pp_arena_printf(g->arena, "%s%s%s", text, *text ? ", " : "", lane_names[stream]);
    if (*text)
        pp_text_wrap(g->out, g->terminal.width, 0, 0,
                     pp_arena_printf(g->arena, "%s; = most of a column, - less", text));
}
