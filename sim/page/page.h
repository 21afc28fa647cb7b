/* sim/page/page.h — --html: a page of a run, several runs, a comparison or a plan.
 *
 * A page needs no other file: it holds its pictures (SVG), style and script, and fetches nothing.
 * Figures of --json are marked with the name of their member and their full value
 * (core/text/html.h). It has no date and no host, so the same command gives the same bytes. It is
 * below 2 MB: its pictures (plots/page/page.h), tables (PP_PAGE_ROWS rows) and texts are
 * bounded. */
#pragma once

#include "sim/cli/wish.h"
#include "sim/report/report.h"

#include <stdbool.h>

enum { PP_PAGE_ROWS = 64 };

/* PP_EFAIL, before the work, if the file cannot be written. */
enum pp_status pp_page_check(struct pp_arena *arena, const struct pp_wish *wish,
                             struct pp_error *err);

struct pp_page;
/* Writes the content of a page. */
typedef enum pp_status pp_page_content(struct pp_arena *arena, const struct pp_page *page,
                                       const void *subject, struct pp_error *err);
/* Writes the page of --html, if it is given. A failure leaves no file. */
enum pp_status pp_page_write(struct pp_arena *arena, const struct pp_wish *wish,
                             pp_page_content *content, const void *subject, struct pp_error *err);

/* One run or several, with the figures of the other reports. */
struct pp_page_runs {
    const struct pp_result *results; /* of several, refused ones too */
    int count;
    const struct pp_others *others; /* of one run: the same layout under other schedules */
};
pp_page_content pp_page_runs; /* subject: a struct pp_page_runs */

/* A prediction and a measurement; subject: a struct pp_compare_report. */
pp_page_content pp_page_compare;

/* Plan of layouts, or of the state of one; the other is NULL. */
struct pp_page_plan {
    const struct pp_search *layouts;
    const struct pp_state_plan *state;
    int rows; /* as many as in the report in text */
};
pp_page_content pp_page_plan; /* subject: a struct pp_page_plan */

/* Plan to serve. */
struct pp_page_serving {
    const struct pp_serving *serving;
    int rows; /* as many as in the report in text */
};
pp_page_content pp_page_serving; /* subject: a struct pp_page_serving */
