/* sim/compare/compare.h — a comparison of two traces, as text and as JSON. */
#pragma once

#include "sim/report/report.h"
#include "traces/compare/compare.h"

#include <math.h>

struct pp_compare_report {
    const struct pp_comparison *comparison;
    double tolerance_frac; /* NAN = none */
};

static inline bool pp_compare_is_within(const struct pp_compare_report *report)
{
    return fabs(report->comparison->step_error_frac) <= report->tolerance_frac;
}
/* Text such as ", within the tolerance of 5 %"; "" without a tolerance. */
enum { PP_TOLERANCE_BYTES = 64 };
const char *pp_compare_tolerance(double error_frac, double tolerance_frac,
                                 char text[PP_TOLERANCE_BYTES]);

/* Prints the error of the step, then its parts. */
void pp_report_compare(const struct pp_compare_report *report, struct pp_terminal terminal,
                       FILE *out);
/* Prints one JSON object "pipesim.compare/1". */
void pp_report_compare_json(const struct pp_compare_report *report, FILE *out);
/* Name of a kind: "F", or "F+B" for a fused pair. */
const char *pp_compare_kind_name(const struct pp_compare_row *row);
/* Notes of the readers, and on the match if it is not by event. In the arena, ended by NULL. */
const char *const *pp_compare_notes(struct pp_arena *arena, const struct pp_comparison *comparison);
