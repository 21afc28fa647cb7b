/* sim/page/page.h — --html: a run, several, a comparison or a plan as a page.
 *
 * A page needs no other file: it holds its pictures (SVG), style and script, and fetches
 * nothing. Figures of --json are marked with the name of their member and their full value
 * (core/text/html.h). No date and no host, so the same command gives the same bytes. A page
 * is below 2 MB: its pictures (plots/page/page.h), its tables (PP_PAGE_ROWS rows) and its
 * texts are bounded. */
#pragma once

#include "sim/cli/wish.h"
#include "sim/report/report.h"

#include <stdbool.h>

enum { PP_PAGE_ROWS = 64 };

/* ---- the option ------------------------------------------------------------------------------ */

/* Before the work: PP_EFAIL where the file cannot be written. */
enum pp_status pp_page_check(struct pp_arena *arena, const struct pp_wish *wish,
                             struct pp_error *err);

struct pp_page;
/* Writes what is on a page. */
typedef enum pp_status pp_page_content(struct pp_arena *arena, const struct pp_page *page,
                                       const void *subject, struct pp_error *err);
/* Writes the page that was asked for, if one was. What fails leaves no file. */
enum pp_status pp_page_write(struct pp_arena *arena, const struct pp_wish *wish,
                             pp_page_content *content, const void *subject, struct pp_error *err);

/* ---- contents -------------------------------------------------------------------------------- */

/* A run, or several: the same figures as in the other reports. */
struct pp_page_runs {
    const struct pp_result *results; /* of several, those refused too */
    int count;
    const struct pp_others *others; /* of one run: the same layout under other schedules */
};
pp_page_content pp_page_runs; /* of a struct pp_page_runs */

/* A prediction and a measurement, of a struct pp_compare_report. */
pp_page_content pp_page_compare;

/* A plan: one of layouts and state. */
struct pp_page_plan {
    const struct pp_search *layouts;
    const struct pp_state_plan *state;
    int rows; /* those that the report in text has */
};
pp_page_content pp_page_plan; /* of a struct pp_page_plan */
