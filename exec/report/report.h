/* exec/report/report.h — a run for people, and for programs. */
#pragma once

#include "core/text/terminal.h"
#include "core/units.h"
#include "exec/resolve/config.h"

#include <stdio.h>

/* In the width of the terminal (paths, and the command that takes them, stay whole); ASCII unless
 * it has UTF-8. */
void pp_exec_report_print(const struct pp_exec_run *run, struct pp_terminal terminal, FILE *out);
/* One JSON object "pipeexec.report/1"; what is not finite is null. */
void pp_exec_report_json(const struct pp_exec_run *run, FILE *out);

/* What the gradient check may find: 0 with exact gradients; otherwise the relative L2 difference
 * that other orders of floating-point additions explain. */
double pp_exec_check_bound(const struct pp_exec_run *run);
bool pp_exec_check_holds(const struct pp_exec_run *run);
/* sqrt of a difference's sum of squares over that of the reference; 0 when both are. */
double pp_difference_rel_l2(const struct pp_difference *difference);

/* ---- exec/report/derived.c ---- */
/* Between which 80 % of the judged steps lie: 10 % of them are shorter, 10 % longer. */
struct pp_exec_spread {
    int steps;
    double low_s, high_s;
    double width_frac; /* of the median */
};
struct pp_exec_spread pp_exec_spread(const struct pp_exec_run *run);

/* ---- parts of the text, in exec/report/text.c ---- */
enum { PP_EXEC_LABEL = 13, PP_EXEC_TEXT_BYTES = 768 };
struct pp_exec_page {
    FILE *out;
    struct pp_terminal terminal;
    const char *bold, *plain;
};
/* A text of at most PP_EXEC_TEXT_BYTES, wrapped. */
void pp_exec_paragraph(const struct pp_exec_page *page, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* One line, whatever its length. */
void pp_exec_line(const struct pp_exec_page *page, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Text after `used` characters of `text`, as far as there is room: characters used then. */
size_t pp_exec_append(char text[PP_EXEC_TEXT_BYTES], size_t used, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *pp_exec_seconds(double value, char text[PP_UNITS_TEXT_BYTES]);
/* "*" after what the tool chose. */
const char *pp_exec_star(unsigned chosen, unsigned bit);
void pp_exec_report_head(const struct pp_exec_page *page, const struct pp_exec_run *run);
void pp_exec_report_losses(const struct pp_exec_page *page, const struct pp_exec_run *run);
void pp_exec_report_ranks(const struct pp_exec_page *page, const struct pp_exec_run *run);
/* In exec/report/prediction.c: where it comes from, what it has in addition to ops, and what it
 * does not explain. */
void pp_exec_report_prediction(const struct pp_exec_page *page, const struct pp_exec_run *run);
