/* sim/report/report.h — results as text and as JSON, on stdout. Every printed figure has a unit. */
#pragma once

#include "core/text/terminal.h"
#include "sim/config/config.h"

/* Other schedules at the layout of a run, all by one engine. `reference` is the run, or the run
 * without contention if all of them would take long with it. */
struct pp_others {
    const struct pp_result *reference, *list;
    int count; /* may be 0 */
    bool is_contention_free;
    bool is_too_large; /* a program of that size: none are compared */
};
/* Prints the report of one run. */
void pp_report_print(const struct pp_result *result, const struct pp_others *others,
                     struct pp_terminal terminal, FILE *out);
/* Prints schedules, ranked by bubble_frac in unit mode, else by iteration time; refused ones last,
 * with the reason. Ties are named: they are within the error of uncalibrated costs. */
void pp_report_table(const struct pp_result *results, int count, FILE *out);
/* Order of pp_report_table(): pointers into `results`, in the arena. */
const struct pp_result **pp_report_rank(struct pp_arena *arena, const struct pp_result *results,
                                        int count);
/* Prints one JSON object "pipesim.report/1", or "pipesim.comparison/1" for several. */
void pp_report_json(const struct pp_result *result, FILE *out);
void pp_report_json_table(const struct pp_result *results, int count, FILE *out);
/* Prints the source of each number. */
void pp_explain_print(const struct pp_result *result, int width, FILE *out);
