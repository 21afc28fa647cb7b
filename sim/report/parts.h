/* sim/report/parts.h — parts of a printed report that training and generation share; private to
 * this folder. */
#pragma once

#include "sim/report/lines.h"

struct pp_report_page {
    struct pp_arena *arena;
    FILE *out;
    int width;
    bool has_utf8;
    const char *bold, *plain;
};

void pp_report_paragraph(const struct pp_report_page *page, const char *label, const char *text);
void pp_report_title(const struct pp_report_page *page, const struct pp_result *result);
void pp_report_model(const struct pp_report_page *page, const struct pp_config *config);
/* Prints a figure, its error if rows have one, and a remark. */
void pp_report_headline(const struct pp_report_page *page, const struct pp_headline *row,
                        bool has_bands);
void pp_report_seeds(const struct pp_report_page *page, const struct pp_result *result);
/* Prints the error of published runs like this one, if costs are analytic. */
void pp_report_error(const struct pp_report_page *page, const struct pp_config *config);
void pp_report_tiers(const struct pp_report_page *page, const struct pp_result *result);
/* Is true for ranks in tables: all if they are few, else the ends and the peak. */
bool pp_report_shows(const struct pp_result *result, int rank);
/* generation.c: the report of a run that generates, below its title. */
void pp_report_generation(const struct pp_report_page *page, const struct pp_result *result);
/* generation_rows.c: figures as texts in the arena. */
const char *pp_text_of_count(struct pp_arena *arena, double value);
const char *pp_text_of_whole(struct pp_arena *arena, int64_t value);
const char *pp_text_of_time(struct pp_arena *arena, const struct pp_config *config, double seconds);
/* Fills the first figures of such a report; returns their number. */
int pp_generation_headlines(const struct pp_result *result, struct pp_headline rows[PP_HEADLINES]);
/* Simulates a larger batch and more devices; says which of them is faster, or NULL. */
const char *pp_generation_faster(struct pp_arena *arena, const struct pp_result *result);
/* The object "inference" of the JSON report. */
json_t *pp_generation_json(const struct pp_result *result);
/* generation_explain.c: --explain of such a run: its choices, and what is not in that of training.
 */
void pp_generation_explain_choices(const struct pp_config *config, FILE *out);
void pp_generation_explain(const struct pp_result *result, FILE *out);
