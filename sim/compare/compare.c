/* The comparison as text: the error of the step, then its parts. */
#include "sim/compare/compare.h"

#include "core/units.h"
#include "sim/report/lines.h"
#include "sim/report/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 18, INDENT = 13, MAX_RANKS = 8 };

/* A time, of `--unit` without its unit, which a note names. */
static const char *time_text(const char *unit, double time_s, char text[PP_UNITS_TEXT_BYTES])
{
    if (!unit)
        return pp_units_print(time_s, PP_UNIT_SECONDS, text);
    snprintf(text, PP_UNITS_TEXT_BYTES, "%.4g", time_s);
    return text;
}

static void print_time(FILE *out, const char *unit, double seconds)
{
    char text[PP_UNITS_TEXT_BYTES];

    if (isnan(seconds))
        fprintf(out, "%11s", "-");
    else
        fprintf(out, "%11s", time_text(unit, seconds, text));
}

/* Step errors below this are rounding: other tools round stamps to nanoseconds. */
static const double ROUNDING_FRAC = 1e-7;

/* Prints a signed difference; zero has no sign. Less than a picosecond is rounding. */
static void print_difference(FILE *out, const char *unit, double seconds)
{
    const double size_s = fabs(seconds) < 1e-12 ? 0 : fabs(seconds);
    char text[PP_UNITS_TEXT_BYTES + 1];

    text[0] = seconds < 0 ? '-' : '+';
    time_text(unit, size_s, text + 1);
    fprintf(out, "%11s", size_s == 0 ? text + 1 : text);
}

/* Rounds a value for printing without decimals; never returns -0. */
static double whole(double value)
{
    return round(value) + 0.0;
}

static const char *print_frac(double frac, char text[PP_UNITS_TEXT_BYTES])
{
    if (isnan(frac))
        return "-";
    snprintf(text, PP_UNITS_TEXT_BYTES, fabs(frac) < 0.0005 ? "%.1f %%" : "%+.1f %%",
             fabs(frac) < 0.0005 ? 0 : 100 * frac);
    return text;
}

const char *pp_compare_tolerance(double error_frac, double tolerance_frac,
                                 char text[PP_TOLERANCE_BYTES])
{
    text[0] = '\0';
    if (!isnan(tolerance_frac))
        snprintf(text, PP_TOLERANCE_BYTES, ", %s the tolerance of %g %%",
                 fabs(error_frac) <= tolerance_frac ? "within" : "OUTSIDE", 100 * tolerance_frac);
    return text;
}

static void print_answer(const struct pp_compare_report *report, int width, FILE *out)
{
    const struct pp_comparison *c = report->comparison;
    const char *unit = c->time_unit ? " units" : "";
    char p[PP_UNITS_TEXT_BYTES], q[PP_UNITS_TEXT_BYTES], frac[PP_UNITS_TEXT_BYTES],
        tolerance[PP_TOLERANCE_BYTES], line[256];

    snprintf(line, sizeof(line), "step: predicted %s%s, measured %s%s, error %s%s",
             time_text(c->time_unit, c->predicted.step_s, p), unit,
             time_text(c->time_unit, c->measured.step_s, q), unit,
             print_frac(c->step_error_frac, frac),
             pp_compare_tolerance(c->step_error_frac, report->tolerance_frac, tolerance));
    pp_text_wrap(out, width, fprintf(out, "pipesim %s  ", PP_VERSION), 2, line);
}

static void print_side(const struct pp_compare_side *side, const char *label, int width, FILE *out)
{
    const struct pp_trace *trace = side->trace;
    char text[PP_TEXT_BYTES], count[PP_UNITS_TEXT_BYTES];

    snprintf(text, sizeof(text), "%.300s: %d rank%s x %d replica%s, %s%d step%s%s, %s~events",
             trace->program, trace->ranks, trace->ranks == 1 ? "" : "s", trace->replicas,
             trace->replicas == 1 ? "" : "s",
             side->steps > 1 && !side->is_overlapping ? "median of " : "", side->steps,
             side->steps == 1 ? "" : "s", side->is_overlapping ? " that run into each other" : "",
             pp_units_print_count(trace->count, count));
    if (!trace->is_partial)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ", program~%016" PRIx64,
                 trace->program_hash);
    pp_text_paragraph(out, width, INDENT, label, text);
}

static void print_heading(FILE *out, const char *label, const char *remark)
{
    fprintf(out, "\n  %-*s%11s%11s%11s%s\n", LABEL, label, "predicted", "measured", "error",
            remark);
}

static void print_points(FILE *out, const char *label, double predicted, double measured,
                         const char *remark)
{
    fprintf(out, "  %-*s%9.1f %%%9.1f %%%+7.1f pts%s\n", LABEL, label, 100 * predicted,
            100 * measured, whole(1000 * (predicted - measured)) / 10, remark);
}

static void print_times(FILE *out, const char *unit, const char *label, double predicted_s,
                        double measured_s)
{
    fprintf(out, "  %-*s", LABEL, label);
    print_time(out, unit, predicted_s);
    print_time(out, unit, measured_s);
    print_difference(out, unit, predicted_s - measured_s);
}

/* Prints the step and its parts, whose differences add up to that of the step. */
static void print_step(const struct pp_comparison *c, FILE *out)
{
    const struct pp_compare_side *p = &c->predicted, *q = &c->measured;
    char text[PP_UNITS_TEXT_BYTES], name[PP_PART_NAME_BYTES];

    print_heading(out, "", "");
    print_times(out, c->time_unit, "step", p->step_s, q->step_s);
    fprintf(out, "   %s\n", print_frac(c->step_error_frac, text));
    print_points(out, "bubble", p->bubble_frac, q->bubble_frac, "   waiting for other stages");
    print_points(out, "span idle", p->span_bubble_frac, q->span_bubble_frac, "");
    print_heading(out, "where the time is", "   of the step's error");
    for (int part = 0; part < PP_TIME_PARTS; part++) {
        const double error_s = p->part_s[part] - q->part_s[part];
        if (p->part_s[part] == 0 && q->part_s[part] == 0)
            continue;
        print_times(out, c->time_unit, pp_time_part_name(part, name), p->part_s[part],
                    q->part_s[part]);
        if (fabs(c->step_error_s) < ROUNDING_FRAC * q->step_s)
            fputc('\n', out);
        else
            fprintf(out, "   %5.0f %%\n", whole(100 * error_s / c->step_error_s));
    }
    if (p->before_s > 0 || q->before_s > 0) {
        print_times(out, c->time_unit, "before any rank", p->before_s, q->before_s);
        fputs("   part of waiting\n", out);
    }
}

static void print_rows(const char *unit, const struct pp_compare_row *rows, int count,
                       const char *label, const char *share, FILE *out)
{
    char text[PP_UNITS_TEXT_BYTES];

    if (count == 0)
        return;
    fprintf(out, "\n  %-9s%9s%11s%11s%11s%11s%9s%s\n", label, "count", "predicted", "measured",
            "p50", "p95", "error", share);
    for (int i = 0; i < count; i++) {
        const struct pp_compare_row *row = &rows[i];
        fprintf(out, "    %-7s%9s", pp_compare_kind_name(row),
                pp_units_print_count(row->count, text));
        print_time(out, unit, row->predicted_mean_s);
        print_time(out, unit, row->measured_mean_s);
        print_time(out, unit, row->measured_p50_s);
        print_time(out, unit, row->measured_p95_s);
        fprintf(out, "%9s", print_frac(row->error_frac, text));
        if (*share)
            fprintf(out, "%5.0f %%", 100 * row->share_frac);
        fputc('\n', out);
    }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

struct rank_error {
    int rank;
    double error_s;
};

static int by_error(const void *left, const void *right)
{
    const struct rank_error *a = left, *b = right;

    if (a->error_s != b->error_s)
        return a->error_s > b->error_s ? -1 : 1;
    return a->rank - b->rank;
}

static int by_rank(const void *left, const void *right)
{
    return ((const struct rank_error *)left)->rank - ((const struct rank_error *)right)->rank;
}

static void print_rank(const struct pp_comparison *c, int rank, FILE *out)
{
    const struct pp_rank_times *p = &c->predicted.ranks[rank], *q = &c->measured.ranks[rank];

    fprintf(out, "    rank %-5d", rank);
    print_time(out, c->time_unit, p->busy_s);
    print_time(out, c->time_unit, q->busy_s);
    print_time(out, c->time_unit, p->idle_s);
    print_time(out, c->time_unit, q->idle_s);
    print_time(out, c->time_unit, p->span_s);
    print_time(out, c->time_unit, q->span_s);
    fputc('\n', out);
}

/* Prints all ranks, or the MAX_RANKS whose busy times differ most. */
static void print_ranks(const struct pp_comparison *c, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const int both = c->predicted.trace->ranks < c->measured.trace->ranks
                         ? c->predicted.trace->ranks
                         : c->measured.trace->ranks;
    const int count = both < MAX_RANKS ? both : MAX_RANKS;
    struct rank_error *errors = PP_ARRAY(arena, struct rank_error, both);

    for (int r = 0; r < both; r++)
        errors[r] = (struct rank_error){
            r, fabs(c->predicted.ranks[r].busy_s - c->measured.ranks[r].busy_s)};
    qsort(errors, (size_t)both, sizeof(*errors), by_error);
    qsort(errors, (size_t)count, sizeof(*errors), by_rank);
    fprintf(out, "\n  %-12s%11s%11s%11s%11s%11s%11s\n", "by rank", "busy", "measured", "idle",
            "measured", "span", "measured");
    for (int i = 0; i < count; i++)
        print_rank(c, errors[i].rank, out);
    if (count < both)
        fprintf(out, "    ... %d more, whose busy times differ less\n", both - count);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void print_worst(const struct pp_comparison *c, FILE *out)
{
    const bool has_replicas = c->measured.trace->replicas > 1;

    if (c->worst_count == 0)
        return;
    fprintf(out, "\n  %-12s%11s%11s%11s%11s%11s  %s\n", "worst events", "starts", "measured",
            "takes", "measured", "error", "rank step");
    for (int i = 0; i < c->worst_count; i++) {
        const struct pp_compare_event *e = &c->worst[i];
        const int length = fprintf(out, "    %s", e->cell);
        if (length > 14)
            fprintf(out, "\n%14s", "");
        else
            fprintf(out, "%*s", 14 - length, "");
        print_time(out, c->time_unit, e->predicted_start_s);
        print_time(out, c->time_unit, e->measured_start_s);
        print_time(out, c->time_unit, e->predicted_s);
        print_time(out, c->time_unit, e->measured_s);
        print_difference(out, c->time_unit, e->error_s);
        if (has_replicas)
            fprintf(out, "  P%d.%d %d\n", e->rank, e->replica, e->step);
        else
            fprintf(out, "  P%d %d\n", e->rank, e->step);
    }
}

void pp_report_compare(const struct pp_compare_report *report, struct pp_terminal terminal,
                       FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_comparison *c = report->comparison;
    const int width = terminal.width < 80 ? 80 : terminal.width > 100 ? 100 : terminal.width;

    print_answer(report, width, out);
    fputc('\n', out);
    print_side(&c->predicted, "predicted", width, out);
    print_side(&c->measured, "measured", width, out);
    for (const char *const *note = pp_compare_notes(arena, c); *note; note++)
        pp_text_paragraph(out, width, INDENT, "note", *note);
    print_step(c, out);
    print_rows(c->time_unit, c->kinds, c->kind_count, "takes", "  share", out);
    print_rows(c->time_unit, c->waits, c->wait_count, "waits", "", out);
    print_ranks(c, out);
    print_worst(c, out);
}
