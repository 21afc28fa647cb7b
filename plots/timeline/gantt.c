/* The chart of a terminal: a row for each rank, a column for each quantum of time. */
#include "core/quantile.h"
#include "core/units.h"
#include "plots/timeline/parts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One column of one rank. */
struct cell {
    const struct pp_timeline_box *box; /* NULL = idle */
    int offset, length;                /* column within the box, columns of the box */
};

enum { MARKER_COLUMNS = 4 }; /* " ..." instead of the closing bar */

/* ---- scale ----------------------------------------------------------------------------------- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The common divisor of all times, if the shortest op then has a few columns at most. Else the
 * shortest op, so that rounding hides none, but at least a quarter of the median op. */
static int64_t choose_quantum(const struct pp_gantt *g)
{
    const struct pp_timeline *t = &g->timeline;
    int64_t *durations = PP_ARRAY(g->arena, int64_t, t->count + 1), divisor = 0;
    int count = 0;

    for (int i = 0; i < t->count; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        const int64_t start_ps = pp_trace_ps(box->start_s), end_ps = pp_trace_ps(box->end_s);
        if (end_ps == start_ps)
            continue;
        divisor = gcd(gcd(divisor, start_ps), end_ps);
        if (pp_op_kinds[box->op.kind].has_mb && !box->is_fused)
            durations[count++] = end_ps - start_ps;
    }
    if (count == 0)
        return divisor > 0 ? divisor : g->total_ps;
    qsort(durations, (size_t)count, sizeof(*durations), pp_ascending_int64);
    const int64_t usual = durations[count / 2];
    const int64_t shortest = durations[0] < usual / 4 ? usual / 4 : durations[0];
    return shortest / 4 <= divisor ? divisor : shortest;
}

static int column_at(const struct pp_gantt *g, int64_t ps)
{
    const int64_t column = ps / g->quantum_ps + (2 * (ps % g->quantum_ps) >= g->quantum_ps);

    return column > INT32_MAX / 64 ? INT32_MAX / 64 : (int)column;
}

static int digits(int number)
{
    return snprintf(NULL, 0, "%d", number);
}

static void measure(struct pp_gantt *g)
{
    const struct pp_timeline *t = &g->timeline;

    g->total_ps = pp_trace_ps(t->end_s);
    g->columns = column_at(g, g->total_ps);
    if (g->columns == 0)
        g->columns = 1;
    g->label_width = digits(t->ranks - 1) + 3;
    g->mb_digits = digits(t->ids > 0 ? t->ids - 1 : 0);
    g->split_digits = t->splits > 1 ? 1 + digits(t->splits - 1) : 0;
    g->cell_width = 1 + g->mb_digits + g->split_digits + (t->chunks > 1);
}

/* ---- the exact chart ------------------------------------------------------------------------- */

static void paint(const struct pp_gantt *g, int rank, struct cell *row, int columns)
{
    const struct pp_timeline *t = &g->timeline;

    memset(row, 0, sizeof(*row) * (size_t)columns);
    for (int i = t->begin[rank]; i < t->begin[rank + 1]; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        const int first = column_at(g, pp_trace_ps(box->start_s)),
                  end = column_at(g, pp_trace_ps(box->end_s));
        for (int c = first; c < end && c < columns; c++)
            row[c] = (struct cell){box, c - first, end - first};
        /* An op too short for a column is shown if the column is idle. */
        if (first == end && first < columns && box->end_s > box->start_s && !row[first].box)
            row[first] = (struct cell){box, 0, 1};
    }
}

/* The op that a column shows, and whether it began in an earlier column. An overlapped pair shows
 * its forward, then its backward, though they run concurrently. */
static const struct pp_timeline_op *cell_op(struct cell cell, bool *is_continued)
{
    int offset = cell.offset;
    const struct pp_timeline_op *op = &cell.box->op;

    if (cell.box->is_fused) {
        int forward = (int)lround((double)cell.box->forward_frac * cell.length);
        forward = forward > cell.length - 1 ? cell.length - 1 : forward;
        forward = forward < 1 ? 1 : forward;
        if (offset >= forward) {
            op = &cell.box->second;
            offset -= forward;
        }
    }
    *is_continued = offset > 0;
    return op;
}

static void add_suffixes(const struct pp_gantt *g, const struct pp_timeline_op *op, char *text,
                         size_t bytes)
{
    const int chunks = g->timeline.chunks;
    size_t length = strlen(text);

    if (g->split_digits > 0 && op->mb >= 0)
        length += (size_t)snprintf(text + length, bytes - length, ".%d", op->split);
    if (chunks == 2 && op->chunk > 0)
        snprintf(text + length, bytes - length, "'");
    else if (chunks > 2)
        snprintf(text + length, bytes - length, "%c", op->chunk < 26 ? 'a' + op->chunk : '+');
}

/* Prints a cell: one hue per micro-batch, light for forward, full for the rest. */
static void print_colored(const struct pp_gantt *g, const struct pp_timeline_op *op,
                          const char *text)
{
    static const unsigned char light[] = {153, 223, 157, 225, 229, 159, 217, 189};
    static const unsigned char full[] = {75, 215, 77, 176, 221, 80, 210, 141};
    const unsigned hue = op->mb < 0 ? 0 : (unsigned)op->mb % sizeof(light);

    if (g->terminal.has_color && op->mb >= 0)
        fprintf(g->out, "\033[30;48;5;%dm%-*s\033[0m", op->kind == PP_F ? light[hue] : full[hue],
                g->cell_width, text);
    else
        fprintf(g->out, "%-*s", g->cell_width, text);
}

static void print_cell(const struct pp_gantt *g, struct cell cell)
{
    char text[64];
    bool is_continued;

    if (!cell.box) {
        fprintf(g->out, "%*s%-*s", g->cell_width / 2, "", g->cell_width - g->cell_width / 2, ".");
        return;
    }
    const struct pp_timeline_op *op = cell_op(cell, &is_continued);
    snprintf(text, sizeof(text), op->mb >= 0 ? "%c%d" : "%c", pp_op_kinds[op->kind].text[0],
             op->mb);
    if (is_continued)
        text[0] = (char)tolower((unsigned char)text[0]);
    add_suffixes(g, op, text, sizeof(text));
    print_colored(g, op, text);
}

static int column_of_end(const struct pp_gantt *g, int step)
{
    return column_at(g, pp_trace_ps(g->timeline.steps[step].end_s)) - 1;
}

static bool is_within(int column, int columns)
{
    return column >= 0 && column < columns;
}

/* Prints ^ below the column in which a step ends. */
static void print_steps(const struct pp_gantt *g, int columns, int gap)
{
    bool has_ends = false;

    for (int step = 0; step < g->timeline.step_count && g->timeline.step_count > 1; step++)
        has_ends |= is_within(column_of_end(g, step), columns);
    if (!has_ends)
        return;
    fprintf(g->out, "%*s", g->label_width, "");
    for (int step = 0, at = 0; step < g->timeline.step_count; step++) {
        const int column = column_of_end(g, step);
        const int place = column * (g->cell_width + gap) + g->cell_width - 1;
        if (!is_within(column, columns) || place < at)
            continue;
        fprintf(g->out, "%*s", place - at + 1, "^");
        at = place + 1;
    }
    fprintf(g->out, "\n%*s^ a step ends\n", g->label_width, "");
}

static void print_rows(const struct pp_gantt *g, int columns, int gap)
{
    struct cell *row = PP_ARRAY(g->arena, struct cell, columns);

    for (int r = g->first_rank; r < g->end_rank; r++) {
        paint(g, r, row, columns);
        pp_gantt_print_label(g, r);
        for (int c = 0; c < columns; c++) {
            fprintf(g->out, "%*s", c > 0 ? gap : 0, "");
            print_cell(g, row[c]);
        }
        fputs(columns == g->columns  ? "|\n"
              : g->terminal.has_utf8 ? " \u2026\n"
                                     : " ...\n",
              g->out);
        pp_gantt_print_lanes(g, r, columns, (double)g->quantum_ps, g->cell_width, gap);
    }
    print_steps(g, columns, gap);
}

/* Micro-batches with forwards, all of which begin after the first `columns` columns. */
static int hidden_micro_batches(const struct pp_gantt *g, int columns)
{
    const struct pp_timeline *t = &g->timeline;
    bool *is_there = PP_ARRAY(g->arena, bool, t->ids + 1);
    bool *is_shown = PP_ARRAY(g->arena, bool, t->ids + 1);
    int hidden = 0;

    for (int i = 0; i < t->count; i++) {
        const struct pp_timeline_op *op = &t->boxes[i].op;
        if (op->kind != PP_F)
            continue;
        for (int k = 0; k < op->granules; k++) {
            is_there[op->mb + k] = true;
            is_shown[op->mb + k] |= column_at(g, pp_trace_ps(t->boxes[i].start_s)) < columns;
        }
    }
    for (int id = 0; id < t->ids; id += g->granules)
        hidden += is_there[id] && !is_shown[id];
    return hidden;
}

static void print_marker(const struct pp_gantt *g, int columns)
{
    const int more = hidden_micro_batches(g, columns);
    char count[PP_UNITS_TEXT_BYTES];

    fputs(g->terminal.has_utf8 ? "\u2026 " : "... ", g->out);
    if (more > 0)
        fprintf(g->out, "%s more micro-batch%s, ", pp_units_print_count(more, count),
                more == 1 ? "" : "es");
    fprintf(g->out, "%s more columns\n", pp_units_print_count(g->columns - columns, count));
}

static int chart_width(const struct pp_gantt *g, int columns, int gap)
{
    const int64_t width = (int64_t)columns * (g->cell_width + gap) - gap + g->label_width + 1;

    return width > INT32_MAX ? INT32_MAX : (int)width;
}

static void print_scale(const struct pp_gantt *g)
{
    char text[64];

    fprintf(g->out, "one column = %s, %d columns in all\n",
            pp_gantt_print_time(g, g->quantum_ps, text, sizeof(text)), g->columns);
}

/* Prints the whole chart if it fits, without gaps if necessary. Letters of chunks or passes need a
 * gap, unless colours part the labels. Else an overview of the whole step, and its beginning if
 * that shows the warm-up. */
static void print_chart(const struct pp_gantt *g)
{
    const int width = g->terminal.width;
    const int least_gap = g->timeline.chunks > 2 && !g->terminal.has_color;

    for (int gap = 1; gap >= least_gap; gap--)
        if (chart_width(g, g->columns, gap) <= width) {
            print_rows(g, g->columns, gap);
            print_scale(g);
            pp_gantt_print_legend(g);
            return;
        }
    const int columns = (width - g->label_width - MARKER_COLUMNS + 1) / (g->cell_width + 1);
    const bool has_beginning = columns >= g->timeline.ranks;
    if (has_beginning && !g->is_part)
        fputs(g->timeline.step_count > 1            ? "all steps\n"
              : pp_timeline_generates(&g->timeline) ? "the whole run\n"
                                                    : "the whole step\n",
              g->out);
    pp_gantt_print_overview(g);
    if (!has_beginning) {
        pp_gantt_print_lane_names(g);
        return;
    }
    fputs("\nthe beginning, op by op\n", g->out);
    print_rows(g, columns, 1);
    print_marker(g, columns);
    print_scale(g);
    pp_gantt_print_legend(g);
}

static void print_part(const struct pp_gantt *g)
{
    const int64_t from_ps = pp_trace_ps(g->from_s);
    char from[64], to[64];

    if (g->is_part)
        fprintf(g->out, "from %s to %s\n", pp_gantt_print_time(g, from_ps, from, sizeof(from)),
                pp_gantt_print_time(g, from_ps + g->total_ps, to, sizeof(to)));
}

enum pp_status pp_gantt_print(const struct pp_trace *trace, const struct pp_plot_timeline *options,
                              struct pp_terminal terminal, FILE *out, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_gantt g = {.arena = arena,
                         .terminal = terminal,
                         .out = out,
                         .is_unit = options->time_unit != NULL,
                         .divisor = options->divisor > 0 ? options->divisor : 1,
                         .granules = options->granules > 0 ? options->granules : 1};

    PP_TRY(pp_timeline_make(arena, trace, &g.timeline, err));
    PP_TRY(pp_timeline_choose_ranks(&g.timeline, options, &g.first_rank, &g.end_rank, err));
    g.total_ps = pp_trace_ps(g.timeline.end_s);
    if (g.total_ps == 0) {
        fputs("nothing to draw: the step takes no time\n", out);
        return PP_OK;
    }
    g.quantum_ps = choose_quantum(&g);
    PP_TRY(pp_gantt_choose_time(&g, options, err));
    measure(&g);
    print_part(&g);
    print_chart(&g);
    return PP_OK;
}
