/* sim/report/lines.h — sentences and figures of a run that the text report and the page share.
 * Texts are in the arena. A "~" is a blank at which no line ends. */
#pragma once

#include "sim/report/text.h"

/* Title: "chimera on 2,048 GPUs"; "chimera, 4 ranks, 8 micro-batches" in unit mode. */
const char *pp_line_title(struct pp_arena *arena, const struct pp_result *result);
/* Model, cluster, layout, state and costs; not in unit mode. */
const char *pp_line_model(struct pp_arena *arena, const struct pp_config *config);
const char *pp_line_cluster(struct pp_arena *arena, const struct pp_config *config);
const char *pp_line_layout(struct pp_arena *arena, const struct pp_config *config);
const char *pp_line_state(struct pp_arena *arena, const struct pp_result *result);
/* Sequences, groups and tokens of a run that generates: in place of layout and state. */
const char *pp_line_serve(struct pp_arena *arena, const struct pp_config *config);
const char *pp_line_costs(struct pp_arena *arena, const struct pp_result *result);
/* Costs of the kinds of ops, in unit mode. */
const char *pp_line_units(struct pp_arena *arena, const struct pp_config *config);
/* Steps of a run with --seeds, and of its strict order; NULL without. */
const char *pp_line_seeds(struct pp_arena *arena, const struct pp_result *result);
/* Number of simulated ranks, and of the GPUs that they stand for; not in unit mode. */
const char *pp_line_folding(struct pp_arena *arena, const struct pp_result *result);

/* Exposed communication and transfers that share links; NULL without a network. */
const char *pp_line_network(struct pp_arena *arena, const struct pp_result *result);
/* Returns the name of the simulated time: a run that generates is no step. */
const char *pp_line_whole(const struct pp_config *config);
/* The demand on the busiest link, if it is near its capacity; else NULL. */
struct pp_link_loads;
const char *pp_line_demand(struct pp_arena *arena, const struct pp_result *result,
                           const struct pp_link_loads *loads);

/* Names of the parts of the time, [enum pp_time_part]. */
extern const char *const pp_time_part_words[PP_TIME_PARTS];
/* Name of a part, with blanks in place of "~". */
enum { PP_PART_NAME_BYTES = 32 };
const char *pp_time_part_name(int part, char name[static PP_PART_NAME_BYTES]);

enum { PP_BAND_BYTES = 16 };
struct pp_headline {
    const char *label; /* "peak memory" */
    const char *key;   /* member of --json; NULL = none */
    double value;      /* of the member, in its unit */
    /* median error of runs like this one: "8 %", "3.0" points of a share; "" = not known */
    char band[PP_BAND_BYTES];
    char figure[PP_TEXT_BYTES], remark[PP_TEXT_BYTES];
};
/* Text about the runs of `band`; NULL in unit mode and with measured costs. */
const char *pp_line_error(struct pp_arena *arena, const struct pp_config *config);
/* Text about the same error of the first row of a list, in one line where it is known. */
const char *pp_line_error_short(struct pp_arena *arena, const struct pp_config *config);
enum { PP_HEADLINES = 7 };
/* Fills the first figures of a report; returns their number. */
int pp_headlines(const struct pp_result *result, struct pp_headline rows[PP_HEADLINES]);
