/* sim/report/lines.h — what a report says of a run in one sentence or one figure. The report in
 * text and the page say it alike. Texts are in the arena. A "~" is a blank at which no line ends.
 */
#pragma once

#include "sim/report/text.h"

/* "chimera on 2,048 GPUs"; "chimera, 4 ranks, 8 micro-batches" in unit mode. */
const char *pp_line_title(struct pp_arena *arena, const struct pp_result *result);
/* Not in unit mode. */
const char *pp_line_model(struct pp_arena *arena, const struct pp_config *config);
const char *pp_line_cluster(struct pp_arena *arena, const struct pp_config *config);
const char *pp_line_layout(struct pp_arena *arena, const struct pp_config *config);
const char *pp_line_state(struct pp_arena *arena, const struct pp_result *result);
const char *pp_line_costs(struct pp_arena *arena, const struct pp_result *result);
/* In unit mode: what an op of each kind costs. */
const char *pp_line_units(struct pp_arena *arena, const struct pp_config *config);
/* How many ranks were simulated, and whom else they stand for. Not in unit mode. */
const char *pp_line_folding(struct pp_arena *arena, const struct pp_result *result);

/* Of the parts of the time, in the order of enum pp_time_part. */
extern const char *const pp_time_part_words[PP_TIME_PARTS];
/* The same with blanks. */
enum { PP_PART_NAME_BYTES = 32 };
const char *pp_time_part_name(int part, char name[static PP_PART_NAME_BYTES]);

/* ---- sim/report/headline.c ---- */
struct pp_headline {
    const char *label; /* "peak memory" */
    const char *key;   /* of --json; NULL: it has no such member */
    double value;      /* of that member, in its unit */
    char figure[PP_TEXT_BYTES], remark[PP_TEXT_BYTES];
};
enum { PP_HEADLINES = 6 };
/* The figures that come first; returns how many. */
int pp_headlines(const struct pp_result *result, struct pp_headline rows[PP_HEADLINES]);
