/* sim/report_html.h — a run, or several, as one page that needs nothing beside it: pictures as SVG,
 * style and script inside, nothing fetched. The same figures as in the other reports; those that
 * --json has are marked with the name of their member and their full value (core/html.h). Without
 * clock or host, so the same run gives the same bytes.
 *
 * Its size is bounded by that of its pictures (plots/html.h), of at most PP_HTML_RANKS rows of
 * ranks and of the explanation, whatever the run: below 2 MB. */
#ifndef PP_SIM_REPORT_HTML_H
#define PP_SIM_REPORT_HTML_H

#include "sim/report_lines.h"

struct pp_html_report {
    const struct pp_result *results; /* of several, those refused too */
    int count;
    const struct pp_others *others; /* of one run: the same layout under other schedules */
    const char *command;            /* that made it */
};
/* PP_EFAIL where the file cannot be written; then nothing of it is there. */
enum pp_status pp_report_html(struct pp_arena *arena, const struct pp_html_report *report,
                              const char *path, struct pp_error *err);

/* ---- parts of the page; private to sim/report_html*.c ---- */
enum { PP_HTML_RANKS = 64 };
/* A figure by its member of --json: "KEY", or "runs.INDEX.KEY" where there are several runs. */
struct pp_html_place {
    FILE *out;
    int run; /* -1: there is one */
};
void pp_html_member(const struct pp_html_place *place, const char *key, double value,
                    const char *text);

/* What a part of the report in text prints, as it is. */
void pp_html_printed(void (*print)(const struct pp_result *, int width, FILE *),
                     const struct pp_result *result, FILE *out);

/* ---- sim/report_html_time.c ---- */
void pp_html_headlines(const struct pp_html_place *place, const struct pp_result *result);
void pp_html_time(const struct pp_html_place *place, const struct pp_result *result);
/* The colours of those that occur in one of the runs. */
void pp_html_time_legend(const struct pp_result *const *results, int count, FILE *out);
/* The parts of its step beside each other, where the width stands for `whole_s`. */
void pp_html_time_band(const struct pp_result *result, double whole_s, FILE *out);
/* ---- sim/report_html_memory.c ---- */
enum pp_status pp_html_ranks(struct pp_arena *arena, const struct pp_html_place *place,
                             const struct pp_result *result, struct pp_error *err);
/* ---- sim/report_html_runs.c ---- */
void pp_html_others(const struct pp_others *others, FILE *out);
void pp_html_ranking(const struct pp_result *const *rows, int count, FILE *out);
/* ---- sim/report_html_inputs.c ---- */
/* What was asked for, what the tool chose, where costs come from, and the whole explanation. */
void pp_html_inputs(struct pp_arena *arena, const struct pp_html_report *report,
                    const struct pp_result *result, FILE *out);

#endif
