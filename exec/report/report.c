/* The report of one run: what ran, what was learned, prediction and measurement, memory. */
#include "exec/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB (1024.0 * 1024.0)
enum { FIGURES = PP_EXEC_LABEL + 34 }; /* columns of the table of figures, without remarks */

/* ---- the gradient check ---------------------------------------------------------------------- */

static void print_difference(const struct pp_exec_page *page, const char *label, const char *what,
                             const struct pp_difference *d)
{
    char all[PP_UNITS_TEXT_BYTES], some[PP_UNITS_TEXT_BYTES];

    pp_units_print_count(d->elements, all);
    if (d->differing == 0)
        pp_exec_paragraph(page, label,
                          "%s equal those of training on one rank to the bit (%s~elements)", what,
                          all);
    else
        pp_exec_paragraph(page, label,
                          "%s differ from those of training on one rank: rel~L2~%.1e, at most %.1e "
                          "in %s of layer %d; %s of %s~elements",
                          what, pp_difference_rel_l2(d), d->max_abs, d->worst ? d->worst : "-",
                          d->worst_layer, pp_units_print_count(d->differing, some), all);
}

static void print_check(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const bool is_all = run->training.check == PP_CHECK_ALL;

    if (!r->is_checked) {
        pp_exec_paragraph(page, "check", "none (--no-check)");
        return;
    }
    print_difference(page, "check",
                     is_all ? "gradients of every step" : "gradients of the first step",
                     &r->gradients);
    if (r->weights.elements > 0)
        print_difference(page, "", "weights after the last step", &r->weights);
    if (run->config.tp > 1)
        pp_exec_paragraph(page, "", "that rank runs the %d~parts of --tp in turn", run->config.tp);
    if (r->gradients.differing != 0 && !run->config.recipe.is_exact)
        pp_exec_paragraph(page, "",
                          "additions in another order explain rel~L2~%.1e; --exact-grad makes the "
                          "order irrelevant",
                          pp_exec_check_bound(run));
}

/* ---- prediction and measurement -------------------------------------------------------------- */

static void print_pair(const struct pp_exec_page *page, const char *label, const char *measured,
                       const char *predicted, double error_frac, const char *remark)
{
    char error[32] = "";

    if (isfinite(error_frac))
        snprintf(error, sizeof(error), "%+.1f %%", 100 * error_frac);
    fprintf(page->out, "  %s%-*s%s%12s%12s", page->bold, PP_EXEC_LABEL - 2, label, page->plain,
            measured, predicted);
    if (error[0] || remark[0])
        fprintf(page->out, "%10s", error);
    if (remark[0] && FIGURES + 3 + (int)strlen(remark) <= page->terminal.width)
        fprintf(page->out, "   %s\n", remark);
    else
        fprintf(page->out, remark[0] ? "\n  %*s\n" : "\n", FIGURES - 2, remark);
}

static const char *figure(double value, int digits, const char *unit,
                          char text[PP_UNITS_TEXT_BYTES])
{
    if (isfinite(value))
        snprintf(text, PP_UNITS_TEXT_BYTES, "%.*f %s", digits, value, unit);
    else
        strcpy(text, "-");
    return text;
}

static void print_figures(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const struct pp_exec_spread spread = pp_exec_spread(run);
    char a[PP_UNITS_TEXT_BYTES], b[PP_UNITS_TEXT_BYTES], remark[64];

    fprintf(page->out, "  %-*s%12s%12s%10s\n", PP_EXEC_LABEL - 2, "", "measured", "predicted",
            "error");
    if (spread.steps > 1)
        snprintf(remark, sizeof(remark), "%s .. %s, %d steps", pp_exec_seconds(spread.low_s, a),
                 pp_exec_seconds(spread.high_s, b), spread.steps);
    else
        strcpy(remark, "1 step");
    print_pair(page, "step", pp_exec_seconds(r->step_median_s, a),
               pp_exec_seconds(r->prediction.step_s, b), r->model_error_frac, remark);
    if (isfinite(r->null_step_s))
        print_pair(page, "", "", pp_exec_seconds(r->null_step_s, b), r->null_error_frac,
                   "by formula");
    if (isfinite(r->slowdown)) {
        snprintf(a, sizeof(a), "x %.3f", r->slowdown);
        snprintf(b, sizeof(b), "x %.3f", r->predicted_slowdown);
        print_pair(page, "slowdown", a, b, r->predicted_slowdown / r->slowdown - 1, "by what-if");
    }
    print_pair(page, "bubble", figure(100 * r->metrics.bubble_frac, 1, "%", a),
               figure(100 * r->prediction.metrics.bubble_frac, 1, "%", b), NAN, "");
    snprintf(remark, sizeof(remark), "worst rank: %d", r->peak_rank);
    print_pair(page, "memory", figure(r->peak_mem_bytes / MIB, 2, "MiB", a),
               figure(r->predicted_peak_mem_bytes / MIB, 2, "MiB", b),
               isfinite(r->peak_mem_bytes) && r->peak_mem_bytes > 0
                   ? r->predicted_peak_mem_bytes / r->peak_mem_bytes - 1
                   : (double)NAN,
               remark);
    fputc('\n', page->out);
}

static void print_time(const struct pp_exec_page *page, const struct pp_metrics *metrics)
{
    static const struct {
        enum pp_time_part part;
        const char *name;
    } PARTS[] = {
        {PP_TIME_FORWARD, "forward"},     {PP_TIME_BACKWARD, "backward"},
        {PP_TIME_RECOMPUTE, "recompute"}, {PP_TIME_OPTIMIZER, "update"},
        {PP_TIME_TP_COMM, "exchanges"},   {PP_TIME_EP_COMM, "rows of experts"},
        {PP_TIME_P2P, "messages"},        {PP_TIME_DP_SYNC, "gradient sums"},
        {PP_TIME_MOVES, "copies"},        {PP_TIME_BUBBLE, "waiting"},
    };
    char text[PP_EXEC_TEXT_BYTES];
    size_t used = 0;

    for (size_t i = 0; i < PP_COUNT(PARTS); i++)
        if (metrics->time_frac[PARTS[i].part] > 0)
            used = pp_exec_append(text, used, "%s%s~%.1f~%%", used ? " | " : "", PARTS[i].name,
                                  100 * metrics->time_frac[PARTS[i].part]);
    pp_exec_paragraph(page, "time", "%s", text);
}

static void print_issue(const struct pp_exec_page *page, const struct pp_training_result *r)
{
    char text[PP_EXEC_TEXT_BYTES], each[PP_UNITS_TEXT_BYTES];
    const struct pp_graph_stats *stats = &r->graphs;
    size_t used = pp_exec_append(text, 0, "%s of the host to issue an op",
                                 pp_exec_seconds(r->issue_s / (double)r->issued, each));

    if (stats->why_not)
        used = pp_exec_append(text, used, "; no graphs: %s", stats->why_not);
    else if (stats->count + stats->left_out > 0)
        used = pp_exec_append(text, used, "; %d~graphs of %" PRId64 "~kernels", stats->count,
                              stats->kernels);
    if (stats->left_out > 0)
        pp_exec_append(text, used, ", %d~left out (%s)", stats->left_out, stats->why_left);
    pp_exec_paragraph(page, "runtime", "%s", text);
}

static void print_machinery(const struct pp_exec_page *page, const struct pp_training_result *r)
{
    char each[PP_UNITS_TEXT_BYTES];

    if (!(r->cpu_s > 0) || r->instructions == 0)
        return;
    if (r->issued > 0)
        print_issue(page, r);
    else
        pp_exec_paragraph(page, "runtime",
                          "%.2f~%% of CPU time is spent between ops, %s~an instruction",
                          100 * r->outside_s / r->cpu_s,
                          pp_exec_seconds(r->outside_s / (double)r->instructions, each));
}

static void print_compare(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *const words[] = {"pipesim compare", pp_command_quoted(arena, run->predicted_trace),
                                 pp_command_quoted(arena, run->trace), NULL};

    pp_exec_line(page, "next", "%s",
                 pp_command_lines(arena, words, page->terminal.width, PP_EXEC_LABEL + 1));
}

static void print_next(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    char copy[PP_UNITS_TEXT_BYTES];

    if (run->result.checkpoint)
        pp_exec_line(page, "checkpoint", "%s", run->result.checkpoint);
    if (run->result.checkpoint_copy_bytes > 0)
        pp_exec_paragraph(
            page, "", "those before it were written in the background, from copies of up to %s",
            pp_units_print((double)run->result.checkpoint_copy_bytes, PP_UNIT_BYTES, copy));
    if (run->training.export && run->result.export_error.status == PP_OK)
        pp_exec_line(page, "saved", "%s",
                     pp_exec_check_holds(run) ? run->training.export->folder->path
                                              : run->training.export->folder->differs);
    if (run->trace)
        pp_exec_line(page, "trace", "%s", run->trace);
    if (run->predicted_trace)
        pp_exec_line(page, run->trace ? "" : "trace", "%s", run->predicted_trace);
    if (run->trace && run->predicted_trace)
        print_compare(page, run);
    else
        pp_exec_paragraph(
            page, "next",
            "--trace measured.csv --predicted-trace predicted.csv, then: pipesim compare "
            "predicted.csv measured.csv");
}

void pp_exec_report_print(const struct pp_exec_run *run, struct pp_terminal terminal, FILE *out)
{
    const struct pp_exec_page page = {.out = out,
                                      .terminal = terminal,
                                      .bold = terminal.has_color ? "\033[1m" : "",
                                      .plain = terminal.has_color ? "\033[0m" : ""};

    pp_exec_report_head(&page, run);
    pp_exec_report_losses(&page, run);
    pp_exec_report_valid(&page, run);
    pp_exec_report_experts(&page, run);
    print_check(&page, run);
    pp_exec_report_bits(&page, run);
    fputc('\n', out);
    print_figures(&page, run);
    pp_exec_report_speed(&page, run);
    print_time(&page, &run->result.metrics);
    pp_exec_report_tiers(&page, run);
    pp_exec_report_prediction(&page, run);
    print_machinery(&page, &run->result);
    pp_exec_report_fallbacks(&page, run);
    fputc('\n', out);
    pp_exec_report_ranks(&page, run);
    fputc('\n', out);
    print_next(&page, run);
    pp_exec_report_notes(&page, run);
}
