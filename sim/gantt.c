#include "sim/gantt.h"
#include "sim/report.h"

#include "core/units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One column of one rank. */
struct cell {
    int event;          /* -1 = idle */
    int offset, length; /* which of the columns of the event */
};

enum { MARKER_COLUMNS = 4 }; /* " ..." instead of the closing bar */

int64_t pp_gantt_ps(double seconds)
{
    return llround(fmin(fmax(seconds * 1e12, 0), 4e18));
}

void pp_gantt_print_label(const struct pp_gantt *g, int rank)
{
    fprintf(g->out, "P%-*d|", g->label_width - 2, rank);
}

const char *pp_gantt_print_time(const struct pp_gantt *g, int64_t ps, char *text, size_t bytes)
{
    char seconds[PP_UNITS_TEXT_BYTES];

    if (g->is_unit)
        snprintf(text, bytes, "%.4g unit%s", pp_units_s(ps), ps == 1000000000000 ? "" : "s");
    else
        snprintf(text, bytes, "%s", pp_units_print(pp_units_s(ps), PP_UNIT_SECONDS, seconds));
    return text;
}

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

static int compare_ps(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

/* The common divisor of all times where that leaves the shortest op a few columns at most, else
 * the shortest op (so that rounding hides none), but not less than a quarter of the usual one. */
static int64_t choose_quantum(const struct pp_gantt *g)
{
    int64_t *durations = PP_ARRAY(g->arena, int64_t, g->events + 1), divisor = 0;
    int count = 0;

    for (int i = 0; i < g->events; i++) {
        const struct pp_trace_event *event = &g->trace->events[i];
        const int64_t start_ps = pp_gantt_ps(event->start_s), end_ps = pp_gantt_ps(event->end_s);
        if (event->stream != PP_STREAM_COMPUTE || end_ps == start_ps)
            continue;
        divisor = gcd(gcd(divisor, start_ps), end_ps);
        if (pp_op_kinds[event->kind].has_mb && !event->is_fused)
            durations[count++] = end_ps - start_ps;
    }
    if (count == 0)
        return divisor > 0 ? divisor : g->total_ps;
    qsort(durations, (size_t)count, sizeof(*durations), compare_ps);
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

static void number_chunks(struct pp_gantt *g)
{
    const struct pp_program *p = g->program;
    int *held = PP_ARRAY(g->arena, int, p->ranks);

    g->chunk_of = PP_ARRAY(g->arena, int, (size_t)p->pipelines *(size_t)p->stages);
    for (int pipe = 0; pipe < p->pipelines; pipe++) {
        memset(held, 0, sizeof(*held) * (size_t)p->ranks);
        for (int s = 0; s < p->stages; s++) {
            int *count = &held[pp_program_rank_of(p, pipe, s)];
            g->chunk_of[pipe * p->stages + s] = (*count)++;
            g->chunks = *count > g->chunks ? *count : g->chunks;
        }
    }
}

static bool measure(struct pp_gantt *g)
{
    const struct pp_program *p = g->program;

    g->step_end_ps = PP_ARRAY(g->arena, int64_t, g->trace->steps);
    while (g->events < g->trace->count && g->trace->events[g->events].replica == 0) {
        const struct pp_trace_event *event = &g->trace->events[g->events++];
        const int64_t end_ps = pp_gantt_ps(event->end_s);
        g->total_ps = end_ps > g->total_ps ? end_ps : g->total_ps;
        if (end_ps > g->step_end_ps[event->step])
            g->step_end_ps[event->step] = end_ps;
    }
    if (g->total_ps == 0)
        return false;
    g->quantum_ps = choose_quantum(g);
    g->columns = column_at(g, g->total_ps);
    if (g->columns == 0)
        g->columns = 1;
    number_chunks(g);
    g->label_width = digits(p->ranks - 1) + 3;
    g->mb_digits = digits(p->micro_batches * p->granules - 1);
    g->split_digits = p->splits > 1 ? 1 + digits(p->splits - 1) : 0;
    g->cell_width = 1 + g->mb_digits + g->split_digits + (g->chunks > 1);
    return true;
}

/* ---- the exact chart ------------------------------------------------------------------------- */

static void paint(const struct pp_gantt *g, struct cell *cells, int columns)
{
    for (int i = 0; i < g->program->ranks * columns; i++)
        cells[i].event = -1;
    for (int i = 0; i < g->events; i++) {
        const struct pp_trace_event *event = &g->trace->events[i];
        if (event->stream != PP_STREAM_COMPUTE)
            continue;
        const int first = column_at(g, pp_gantt_ps(event->start_s)),
                  end = column_at(g, pp_gantt_ps(event->end_s));
        struct cell *row = &cells[event->rank * columns];
        for (int c = first; c < end && c < columns; c++)
            row[c] = (struct cell){i, c - first, end - first};
        /* An op too short for a column still shows where nothing else would. */
        if (first == end && first < columns && event->end_s > event->start_s &&
            row[first].event < 0)
            row[first] = (struct cell){i, 0, 1};
    }
}

/* The op that a column shows, and whether it began in an earlier column. An overlapped pair shows
 * its forward, then its backward, though they run at the same time. */
static bool cell_op(const struct pp_gantt *g, struct cell cell, struct pp_op *op,
                    bool *is_continued)
{
    const struct pp_trace_event *event = &g->trace->events[cell.event];
    struct pp_op ops[2];
    int count;

    if (pp_op_parse(event->cell, ops, &count, NULL) != PP_OK)
        return false;
    int offset = cell.offset;
    *op = ops[0];
    if (count == 2) {
        const double share = isnan(event->forward_frac) ? 1.0 / 3 : event->forward_frac;
        int forward = (int)lround(share * cell.length);
        forward = forward > cell.length - 1 ? cell.length - 1 : forward;
        forward = forward < 1 ? 1 : forward;
        if (offset >= forward) {
            *op = ops[1];
            offset -= forward;
        }
    }
    *is_continued = offset > 0;
    return true;
}

static void add_suffixes(const struct pp_gantt *g, const struct pp_op *op, char *text, size_t bytes)
{
    const struct pp_program *p = g->program;
    const int ids = p->micro_batches * p->granules;
    const int pipe = op->mb >= 0 && op->mb < ids ? p->pipe_of[op->mb] : op->pipe;
    const bool is_known = pipe < p->pipelines && op->stage < p->stages;
    const int chunk = is_known ? g->chunk_of[pipe * p->stages + op->stage] : 0;
    size_t length = strlen(text);

    if (g->split_digits > 0 && op->mb >= 0)
        length += (size_t)snprintf(text + length, bytes - length, ".%d", op->split);
    if (g->chunks == 2 && chunk > 0)
        snprintf(text + length, bytes - length, "'");
    else if (g->chunks > 2)
        snprintf(text + length, bytes - length, "%c", chunk < 26 ? 'a' + chunk : '+');
}

/* One hue per micro-batch, light for forward, full for the rest. */
static void print_colored(const struct pp_gantt *g, const struct pp_op *op, const char *text)
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
    struct pp_op op;
    bool is_continued;

    if (cell.event < 0) {
        fprintf(g->out, "%*s%-*s", g->cell_width / 2, "", g->cell_width - g->cell_width / 2, ".");
        return;
    }
    if (!cell_op(g, cell, &op, &is_continued)) {
        fprintf(g->out, "%-*.*s", g->cell_width, g->cell_width, "?");
        return;
    }
    snprintf(text, sizeof(text), op.mb >= 0 ? "%c%d" : "%c", pp_op_kinds[op.kind].text[0], op.mb);
    if (is_continued)
        text[0] = (char)tolower((unsigned char)text[0]);
    add_suffixes(g, &op, text, sizeof(text));
    print_colored(g, &op, text);
}

/* Under the column in which a step ends: ^ */
static void print_steps(const struct pp_gantt *g, int columns, int gap)
{
    if (g->trace->steps == 1)
        return;
    fprintf(g->out, "%*s", g->label_width, "");
    for (int step = 0, at = 0; step < g->trace->steps; step++) {
        const int column = column_at(g, g->step_end_ps[step]) - 1;
        const int place = column * (g->cell_width + gap) + g->cell_width - 1;
        if (column >= columns)
            break;
        if (place < at)
            continue;
        fprintf(g->out, "%*s", place - at + 1, "^");
        at = place + 1;
    }
    fprintf(g->out, "\n%*s^ a step ends\n", g->label_width, "");
}

static void print_rows(const struct pp_gantt *g, int columns, int gap)
{
    struct cell *cells =
        PP_ARRAY(g->arena, struct cell, (size_t)g->program->ranks * (size_t)columns);

    paint(g, cells, columns);
    for (int r = 0; r < g->program->ranks; r++) {
        pp_gantt_print_label(g, r);
        for (int c = 0; c < columns; c++) {
            fprintf(g->out, "%*s", c > 0 ? gap : 0, "");
            print_cell(g, cells[r * columns + c]);
        }
        fputs(columns == g->columns  ? "|\n"
              : g->terminal.has_utf8 ? " \u2026\n"
                                     : " ...\n",
              g->out);
    }
    print_steps(g, columns, gap);
}

/* Micro-batches none of whose forwards begins within the first `columns` columns. */
static int hidden_micro_batches(const struct pp_gantt *g, int columns)
{
    const int ids = g->program->micro_batches * g->program->granules;
    bool *is_shown = PP_ARRAY(g->arena, bool, ids);
    int hidden = 0;

    for (int i = 0; i < g->events; i++) {
        const struct pp_trace_event *event = &g->trace->events[i];
        struct pp_op ops[2];
        int count;
        if (event->kind != PP_F || column_at(g, pp_gantt_ps(event->start_s)) >= columns ||
            pp_op_parse(event->cell, ops, &count, NULL) != PP_OK)
            continue;
        for (int k = 0; k < ops[0].granules && ops[0].mb + k < ids; k++)
            is_shown[ops[0].mb + k] = true;
    }
    for (int m = 0; m < g->program->micro_batches; m++)
        hidden += !is_shown[m * g->program->granules];
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

/* Everything when it fits (if need be without gaps), else the beginning, unless not even the
 * warm-up would be seen, and the whole step in little. */
static void print_chart(const struct pp_gantt *g)
{
    const int width = g->terminal.width;

    for (int gap = 1; gap >= 0; gap--)
        if (chart_width(g, g->columns, gap) <= width) {
            print_rows(g, g->columns, gap);
            print_scale(g);
            pp_gantt_print_legend(g);
            return;
        }
    const int columns = (width - g->label_width - MARKER_COLUMNS + 1) / (g->cell_width + 1);
    if (columns >= g->program->ranks) {
        print_rows(g, columns, 1);
        print_marker(g, columns);
        print_scale(g);
        pp_gantt_print_legend(g);
        fputs(g->trace->steps > 1 ? "\nall steps\n" : "\nthe whole step\n", g->out);
    }
    pp_gantt_print_overview(g);
}

void pp_gantt_print(const struct pp_result *result, struct pp_terminal terminal, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_gantt g = {.arena = arena,
                         .trace = result->trace,
                         .program = result->program,
                         .terminal = terminal,
                         .out = out,
                         .is_unit = result->costs != NULL && result->costs->is_unit};

    if (!measure(&g)) {
        fputs("nothing to draw: the step takes no time\n", out);
        return;
    }
    print_chart(&g);
}
