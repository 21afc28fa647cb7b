/* sim/page/page.h — what all pages of --html have in common: the file, the frame, small
 * pieces.
 *
 * A page needs no other file: it holds its pictures (SVG), style and script, and fetches
 * nothing. Figures of --json are marked with the name of their member and their full value
 * (core/text/html.h). No date and no host, so the same command gives the same bytes. A page
 * is below 2 MB: its pictures (plots/page/page.h), its tables (PP_PAGE_ROWS rows) and its
 * texts are bounded. */
#ifndef PP_SIM_PAGE_PAGE_H
#define PP_SIM_PAGE_PAGE_H

#include "sim/cli/cli.h"

#include <stdbool.h>
#include <stdio.h>

enum { PP_PAGE_ROWS = 64 };

/* ---- the option ------------------------------------------------------------------------------ */

/* Is --html there? */
bool pp_page_is_wanted(const struct pp_parsed *parsed);
/* Before the work: PP_EFAIL where the file cannot be written. */
enum pp_status pp_page_check(struct pp_arena *arena, const struct pp_parsed *parsed,
                             struct pp_error *err);

/* What is on it: between pp_page_begin() and the end, which is the frame's. */
struct pp_page {
    FILE *out;
    const char *command; /* that made it */
    const char *prefix;  /* of the names of members: "", or "runs.3." for one of several runs */
};
typedef enum pp_status (*pp_page_content)(struct pp_arena *arena, const struct pp_page *page,
                                          const void *subject, struct pp_error *err);
/* Writes the page that was asked for, if one was. What fails leaves no file. */
enum pp_status pp_page_write(struct pp_arena *arena, const struct pp_parsed *parsed,
                             pp_page_content content, const void *subject, struct pp_error *err);

/* ---- pieces ---------------------------------------------------------------------------------- */

/* A part of the page by its id, listed at the top. */
struct pp_page_link {
    const char *id, *text;
    bool is_there;
};
void pp_page_begin(const struct pp_page *page, const char *title, const struct pp_page_link *links,
                   int count);
void pp_page_heading(const struct pp_page *page, const char *id, const char *text);
/* A card of a headline figure; `key` NULL: --json has no such member, `remark` "": none. */
struct pp_page_card {
    const char *label, *key, *figure, *remark, *meaning;
    double value;
    bool is_bad;
};
void pp_page_card(const struct pp_page *page, const struct pp_page_card *card);
/* A figure of --json, alone and as a cell of a table. */
void pp_page_figure(const struct pp_page *page, const char *key, double value, const char *text);
void pp_page_cell(const struct pp_page *page, const char *key, double value, const char *text);
/* A cell where the text is the value in percent. */
void pp_page_percent(const struct pp_page *page, const char *key, double frac);
/* What a report in text prints, as it is. */
void pp_page_printed(const struct pp_page *page, void (*print)(const void *subject, FILE *out),
                     const void *subject);
/* The command, at the end. */
void pp_page_command(const struct pp_page *page);
/* The parts of the time, by enum pp_time_part, as a bar whose width is `whole_s`; and their
 * colours. */
void pp_page_time_band(const struct pp_page *page, const double *part_s, double whole_s);
void pp_page_time_legend(const struct pp_page *page, const bool *occurs);

#endif
