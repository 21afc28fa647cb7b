/* sim/report/report.h — results for people and for programs. stdout only; every printed figure has
 * a unit.
 */
#pragma once

#include "core/text/terminal.h"
#include "sim/config/config.h"

/* The same layout under other schedules, all by one engine. `reference` is the run itself, or,
 * where that would take long for all of them, the run without contention. */
struct pp_others {
    const struct pp_result *reference, *list;
    int count; /* may be 0 */
    bool is_contention_free;
};
/* The report of one run. */
void pp_report_print(const struct pp_result *result, const struct pp_others *others,
                     struct pp_terminal terminal, FILE *out);
/* Several schedules, ranked (by bubble_frac in unit mode, else by iteration time; refused last,
 * with the reason). Ties are called ties: within the model's error when costs are not calibrated.
 */
void pp_report_table(const struct pp_result *results, int count, FILE *out);
/* The order of that table: pointers into `results`, in the arena. */
const struct pp_result **pp_report_rank(struct pp_arena *arena, const struct pp_result *results,
                                        int count);
/* One JSON object "pipesim.report/1", or "pipesim.comparison/1" for several. */
void pp_report_json(const struct pp_result *result, FILE *out);
void pp_report_json_table(const struct pp_result *results, int count, FILE *out);
/* Where each number comes from. */
void pp_explain_print(const struct pp_result *result, FILE *out);
