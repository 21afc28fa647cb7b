/* sim/report/cost_file.h — measured costs, as lines of a report. */
#pragma once

#include "core/cost/measured/file.h"

#include <stdio.h>

/* A page of lines with labels. */
struct pp_cost_page {
    struct pp_arena *arena;
    FILE *out;
    int width;
};
void pp_cost_page_line(const struct pp_cost_page *page, const char *label, const char *text);
/* Text such as "1.20 ms", in the arena. */
const char *pp_cost_time_text(struct pp_arena *arena, double seconds);

/* Prints times of ops by kind, part and shape; the update; latency and bandwidth of channels. */
void pp_cost_file_print(const struct pp_cost_file *file, int width, FILE *out);
/* Prints source, rule and costs of pp_cost_file_apply(), in place of pp_costs_explain(). */
void pp_cost_file_explain(const struct pp_cost_file *file, const struct pp_costs *costs, int width,
                          FILE *out);
