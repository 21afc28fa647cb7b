/* exec/report/report.h — the report of a run, as text and as JSON. */
#pragma once

#include "core/text/terminal.h"
#include "core/units.h"
#include "exec/resolve/config.h"

#include <jansson.h>
#include <stdio.h>

struct json_t; /* of jansson */

/* Prints the report in the terminal's width, but paths whole, in ASCII unless it has UTF-8. */
void pp_exec_report_print(const struct pp_exec_run *run, struct pp_terminal terminal, FILE *out);
/* Prints one JSON object "pipeexec.report/1"; numbers that are not finite are null. */
void pp_exec_report_json(const struct pp_exec_run *run, FILE *out);

/* Returns the tolerance of the gradient check: 0 with exact gradients, else the relative L2
 * difference that other orders of floating-point additions explain. */
double pp_exec_check_bound(const struct pp_exec_run *run);
bool pp_exec_check_holds(const struct pp_exec_run *run);
/* Returns sqrt(squares / reference_squares); 0 if the vectors are equal. */
double pp_difference_rel_l2(const struct pp_difference *difference);
/* Returns the cosine of the angle between the vectors; NAN if one is zero. */
double pp_difference_cosine(const struct pp_difference *difference);

/* Range of 80 % of the judged steps: 10 % of the steps are shorter, 10 % longer. */
struct pp_exec_spread {
    int steps;
    double low_s, high_s;
    double width_frac; /* of the median */
};
struct pp_exec_spread pp_exec_spread(const struct pp_exec_run *run);

/* speed.c: speed of the judged steps, on the run's clock and by the model's flops (MEGATRON, as in
 * pipesim). NAN and NULL where there is none: durations are given, or the device has no known
 * peak. */
struct pp_exec_speed {
    double tokens_per_s, model_flops_per_s;
    double mfu, peak_flops_per_s; /* dense, of all devices in the run's precision */
    const char *device;
};
struct pp_exec_speed pp_exec_speed(const struct pp_exec_run *run);

enum { PP_EXEC_LABEL = 13, PP_EXEC_TEXT_BYTES = 768 };
struct pp_exec_page {
    FILE *out;
    struct pp_terminal terminal;
    const char *bold, *plain;
};
/* Prints a text of at most PP_EXEC_TEXT_BYTES, wrapped. */
void pp_exec_paragraph(const struct pp_exec_page *page, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints one line of any length. */
void pp_exec_line(const struct pp_exec_page *page, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends to `used` characters of `text`, as far as there is room; returns the new number. */
size_t pp_exec_append(char text[PP_EXEC_TEXT_BYTES], size_t used, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *pp_exec_seconds(double value, char text[PP_UNITS_TEXT_BYTES]);
/* Returns "*" for a value that the tool chose, else "". */
const char *pp_exec_star(unsigned chosen, unsigned bit);
void pp_exec_report_head(const struct pp_exec_page *page, const struct pp_exec_run *run);
/* notes.c: one paragraph for each thing that a reader should know before the figures. */
void pp_exec_report_notes(const struct pp_exec_page *page, const struct pp_exec_run *run);
void pp_exec_report_losses(const struct pp_exec_page *page, const struct pp_exec_run *run);
void pp_exec_report_valid(const struct pp_exec_page *page, const struct pp_exec_run *run);
void pp_exec_report_ranks(const struct pp_exec_page *page, const struct pp_exec_run *run);
/* numerics.c: what the model computes. The value of --recompute; "full" for a program file with R.
 */
void pp_exec_report_numerics(const struct pp_exec_page *page, const struct pp_exec_run *run);
struct json_t *pp_exec_numerics_json(const struct pp_exec_run *run);
enum { PP_EXEC_RECOMPUTE_BYTES = PP_RECOMPUTE_TEXT_BYTES + 32 };
const char *pp_exec_recompute_value(const struct pp_exec_run *run,
                                    char text[PP_EXEC_RECOMPUTE_BYTES]);
/* fallbacks.c: says which work slower kernels did, because a library refused it; "" if none. */
void pp_exec_fallbacks_text(const struct pp_exec_run *run, char text[PP_EXEC_TEXT_BYTES]);
void pp_exec_report_fallbacks(const struct pp_exec_page *page, const struct pp_exec_run *run);
/* experts.c: the load of experts; nothing, or null, without any. */
void pp_exec_report_experts(const struct pp_exec_page *page, const struct pp_exec_run *run);
json_t *pp_exec_experts_json(const struct pp_exec_run *run);
/* tiers.c: what lives on other memory tiers, and what copies cost; nothing, or null, if all is on
 * the device. */
void pp_exec_report_state(const struct pp_exec_page *page, const struct pp_exec_run *run);
void pp_exec_report_tiers(const struct pp_exec_page *page, const struct pp_exec_run *run);
json_t *pp_exec_tiers_json(const struct pp_exec_run *run);
void pp_exec_rank_tiers_json(const struct pp_exec_run *run, int rank, json_t *rank_json);
/* bits.c: saved activations in few bits, and what that changes; nothing, or null, without. */
void pp_exec_report_bits(const struct pp_exec_page *page, const struct pp_exec_run *run);
json_t *pp_exec_bits_json(const struct pp_exec_run *run);
void pp_exec_report_speed(const struct pp_exec_page *page, const struct pp_exec_run *run);
/* prediction.c: prints source and overheads of the prediction, and what it does not explain. */
void pp_exec_report_prediction(const struct pp_exec_page *page, const struct pp_exec_run *run);
