/* sim/page/parts.h — the parts of the page of a run, or of several. Private to sim/page. */
#ifndef PP_SIM_PAGE_PARTS_H
#define PP_SIM_PAGE_PARTS_H

#include "sim/page/page.h"
#include "sim/page/run.h"
#include "sim/report/lines.h"

/* ---- sim/page/time.c ---- */
void pp_page_headlines(const struct pp_page *page, const struct pp_result *result);
void pp_page_time(const struct pp_page *page, const struct pp_result *result);
/* A cell of a table: a bar with the parts of the step, whose width is `longest_s`. */
void pp_page_step(const struct pp_page *page, const struct pp_result *result, double longest_s);

/* ---- sim/page/ranks.c ---- */
/* A cell of a table: a bar with what a rank holds at its peak and the device's memory, whose
 * width is `whole_bytes`. */
void pp_page_memory(const struct pp_page *page, const struct pp_rank_memory *memory,
                    double capacity_bytes, double whole_bytes);
enum pp_status pp_page_ranks(struct pp_arena *arena, const struct pp_page *page,
                             const struct pp_result *result, struct pp_error *err);

/* ---- sim/page/runs.c ---- */
void pp_page_others(const struct pp_page *page, const struct pp_others *others);
void pp_page_ranking(struct pp_arena *arena, const struct pp_page *page,
                     const struct pp_result *const *rows, int count);

/* ---- sim/page/inputs.c ---- */
/* What was asked for, what the tool chose, where costs come from; of one run the whole explanation,
 * too. */
void pp_page_inputs(struct pp_arena *arena, const struct pp_page *page,
                    const struct pp_result *result, bool is_explained);

#endif
