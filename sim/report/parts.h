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
void pp_report_tiers(const struct pp_report_page *page, const struct pp_result *result);
/* Is true for ranks in tables: all if they are few, else the ends and the peak. */
bool pp_report_shows(const struct pp_result *result, int rank);
/* generation.c: the report of a run that generates, below its title. */
void pp_report_generation(const struct pp_report_page *page, const struct pp_result *result);
/* The object "inference" of the JSON report. */
json_t *pp_generation_json(const struct pp_result *result);
