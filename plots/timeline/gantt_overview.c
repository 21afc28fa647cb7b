/* Overview of the whole step in the width of the terminal: a letter for the ops of many columns. */
#include "plots/timeline/parts.h"

#include <string.h>

enum { MAX_ROWS = 32, MIN_BINS = 10 };

/* Compute time of one rank in one bin. */
struct bin {
    int64_t forward_ps, other_ps;
    int64_t update_ps; /* of the others, where data move between tiers: the host may take long */
};

static void add_box(const struct pp_gantt *g, const struct pp_timeline_box *box, int bins,
                    struct bin *row)
{
    const int64_t start_ps = pp_trace_ps(box->start_s), end_ps = pp_trace_ps(box->end_s);
    const double width_ps = (double)g->total_ps / bins;

    for (int b = (int)((double)start_ps / width_ps); b < bins; b++) {
        const int64_t from_ps = (int64_t)(b * width_ps), to_ps = (int64_t)((b + 1) * width_ps);
        const int64_t inside_ps =
            (end_ps < to_ps ? end_ps : to_ps) - (start_ps > from_ps ? start_ps : from_ps);
        if (from_ps >= end_ps)
            return;
        if (inside_ps <= 0)
            continue;
        if (box->op.kind == PP_F && !box->is_fused)
            row[b].forward_ps += inside_ps;
        else
            row[b].other_ps += inside_ps;
        if (box->op.kind == PP_U && pp_timeline_lanes(&g->timeline) > 0)
            row[b].update_ps += inside_ps;
        if (box->is_fused) { /* counts as half forward */
            row[b].forward_ps += inside_ps / 2;
            row[b].other_ps -= inside_ps / 2;
        }
    }
}

static char bin_letter(const struct bin *bin, double width_ps)
{
    const double busy_ps = (double)(bin->forward_ps + bin->other_ps);

    if (busy_ps < 0.5 * width_ps)
        return '.';
    const bool is_full = busy_ps >= 0.9 * width_ps;
    if ((double)bin->forward_ps >= 0.8 * busy_ps)
        return is_full ? 'F' : 'f';
    if ((double)bin->update_ps >= 0.8 * busy_ps)
        return is_full ? 'U' : 'u';
    if ((double)bin->other_ps >= 0.8 * busy_ps)
        return is_full ? 'B' : 'b';
    return is_full ? '#' : '+';
}

/* Returns true if a letter of the row is an update. */
static bool print_row(const struct pp_gantt *g, int rank, struct bin *row, int bins)
{
    const struct pp_timeline *t = &g->timeline;
    bool has_update = false;

    memset(row, 0, sizeof(*row) * (size_t)bins);
    for (int i = t->begin[rank]; i < t->begin[rank + 1]; i++)
        add_box(g, &t->boxes[i], bins, row);
    pp_gantt_print_label(g, rank);
    for (int b = 0; b < bins; b++) {
        const char letter = bin_letter(&row[b], (double)g->total_ps / bins);
        has_update |= letter == 'U' || letter == 'u';
        fputc(letter, g->out);
    }
    fputs("|\n", g->out);
    pp_gantt_print_lanes(g, rank, bins, (double)g->total_ps / bins, 1, 0);
    return has_update;
}

void pp_gantt_print_overview(const struct pp_gantt *g)
{
    const int room = g->terminal.width - g->label_width - 1, ranks = g->end_rank - g->first_rank;
    const int most = room < MIN_BINS ? MIN_BINS : room;
    const int bins = g->columns < most ? g->columns : most;
    const int every = (ranks + MAX_ROWS - 1) / MAX_ROWS;
    struct bin *row = PP_ARRAY(g->arena, struct bin, bins);
    const bool has_backward = !pp_timeline_generates(&g->timeline);
    bool has_update = false;
    char text[64];

    for (int r = g->first_rank; r < g->end_rank; r += every)
        has_update |= print_row(g, r, row, bins);
    if (every > 1)
        fprintf(g->out, "... %d more ranks lie between those shown\n",
                ranks - (ranks + every - 1) / every);
    fprintf(g->out,
            "one character = %s; F forward,%s%s%cf %s%swith idle parts, . more than half idle\n",
            pp_gantt_print_time(g, g->total_ps / bins, text, sizeof(text)),
            has_backward ? " B backward, # both," : "", has_update ? " U optimizer," : "",
            has_backward ? '\n' : ' ', has_backward ? "b + " : "", has_update ? "u " : "");
}
