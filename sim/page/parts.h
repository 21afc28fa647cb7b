/* sim/page/parts.h — small pieces of pages, and the parts of the page of a run. */
#pragma once

#include "sim/page/page.h"
#include "sim/report/lines.h"

/* Page that is being written, between pp_page_begin() and the end of its frame. */
struct pp_page {
    FILE *out;
    const char *command; /* that made it */
    const char *prefix;  /* before names of members: "", or "runs.3." for one of several runs */
};
/* Part of the page by its id, linked at the top. */
struct pp_page_link {
    const char *id, *text;
    bool is_there;
};
void pp_page_begin(const struct pp_page *page, const char *title, const struct pp_page_link *links,
                   int count);
void pp_page_heading(const struct pp_page *page, const char *id, const char *text);
/* Card of a headline figure; `key` NULL: --json has no such member, `remark` "": none. */
struct pp_page_card {
    const char *label, *key, *figure, *remark, *meaning;
    double value;
    bool is_bad;
};
void pp_page_card(const struct pp_page *page, const struct pp_page_card *card);
/* Table of choices: a number, columns of words, columns of figures. Begins it with names and a
 * legend, and returns how many rows are shown, of `count`. */
struct pp_page_choices {
    int count;
    const char *legend;
    const char *const *words, *const *figures;
    int word_count, figure_count;
};
int pp_page_begin_choices(const struct pp_page *page, const struct pp_page_choices *choices);
/* Write a figure of --json, alone and as a cell of a table. */
void pp_page_figure(const struct pp_page *page, const char *key, double value, const char *text);
void pp_page_cell(const struct pp_page *page, const char *key, double value, const char *text);
/* Writes a cell with the value in percent as its text. */
void pp_page_percent(const struct pp_page *page, const char *key, double frac);
/* Writes the output of a report in text, as it is. */
void pp_page_printed(const struct pp_page *page, void (*print)(const void *subject, FILE *out),
                     const void *subject);
/* Writes paragraphs of a report in text, "  label      text", as a list of facts; further lines of
 * a paragraph begin at column `indent`. */
void pp_page_facts(const struct pp_page *page, int indent,
                   void (*print)(const void *subject, FILE *out), const void *subject);
/* Writes the command, at the end. */
void pp_page_command(const struct pp_page *page);
/* Write the parts of the time (enum pp_time_part): a bar of width `whole_s`, and their colours. */
void pp_page_time_band(const struct pp_page *page, const double *part_s, double whole_s);
void pp_page_time_legend(const struct pp_page *page, const bool *occurs);

void pp_page_headlines(const struct pp_page *page, const struct pp_result *result);
void pp_page_time(const struct pp_page *page, const struct pp_result *result);
/* Writes a cell with a bar of the parts of the step, of width `longest_s`. */
void pp_page_step(const struct pp_page *page, const struct pp_result *result, double longest_s);

/* Writes a cell with a bar of a rank's peak memory and the device's, of width `whole_bytes`. */
void pp_page_memory(const struct pp_page *page, const struct pp_rank_memory *memory,
                    double capacity_bytes, double whole_bytes);
/* Is true if a part of the memory has a column: a rare one only where some rank has it. */
bool pp_page_has_part(const struct pp_result *result, int part);
enum pp_status pp_page_ranks(struct pp_arena *arena, const struct pp_page *page,
                             const struct pp_result *result, struct pp_error *err);

void pp_page_others(const struct pp_page *page, const struct pp_others *others);
void pp_page_ranking(struct pp_arena *arena, const struct pp_page *page,
                     const struct pp_result *const *rows, int count);
/* Writes given options, choices and the sources of costs of runs, the accepted ones first. A run
 * alone has --explain, too. */
void pp_page_inputs(struct pp_arena *arena, const struct pp_page *page,
                    const struct pp_result *const *rows, int count);
/* Writes the network of a run that has one, under the id "network". */
void pp_page_network(struct pp_arena *arena, const struct pp_page *page,
                     const struct pp_result *result);
