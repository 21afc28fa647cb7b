/* sim/report/text.h — small pieces of text that several printers of a result share. */
#pragma once

#include "sim/fit/fit.h"
#include "sim/report/report.h"

#include <jansson.h>

enum { PP_TEXT_BYTES = 512 };

/* "*" when the tool chose it, else "". */
const char *pp_text_star(const struct pp_config *config, unsigned bit);
/* "6 layers a stage" or "layers by stage 7 7 6 6", with embedding and head where they are. */
const char *pp_text_split(const struct pp_config *config, char text[PP_TEXT_BYTES]);
/* Stages held by a rank: "stages 0,15". */
const char *pp_text_stages(const struct pp_program *program, int rank, char text[PP_TEXT_BYTES]);
/* "16 s" with three digits; "16 units" in unit mode. */
const char *pp_text_time(const struct pp_config *config, double seconds, char text[PP_TEXT_BYTES]);
/* "steady step of 4 steps, no barrier"; "" with one step. */
const char *pp_text_steps(struct pp_arena *arena, const struct pp_config *config);
/* "concat doubling (auto: direct 30 units, doubling 27 units, halving refused, ...)". Only
 * where config->origin.trials are there. */
const char *pp_text_trials(struct pp_arena *arena, const struct pp_config *config);
/* What the costs of a program with granules leave out. */
#define PP_TEXT_GRANULES                                                                           \
    "; part of a micro-batch costs its share, though kernels on less work are less efficient"
/* "schedule", "schedule, eager", "schedule, eager:4". */
const char *pp_text_schedule(struct pp_arena *arena, const struct pp_config *config);
/* "full", "selective", "selective=act+mlp": as --recompute takes it; a stage-aware ratio is left
 * out. */
const char *pp_text_recompute(const struct pp_config *config, char text[PP_TEXT_BYTES]);
/* Time for a sample relative to the first of a ranking: "+4.7 %", "tie", "no fit". Not in
 * unit mode. */
enum { PP_VERSUS_BYTES = 32 };
const char *pp_text_versus(const struct pp_result *result, const struct pp_result *first,
                           char text[PP_VERSUS_BYTES]);
/* The same layout under other schedules, best first; nothing when there are none. */
void pp_report_others(const struct pp_others *others, FILE *out);
/* Settings of a what-if, and flags that had no effect; nothing when there are none. */
void pp_report_what_if(const struct pp_config *config, int width, int indent, FILE *out);
/* Exposed communication, the busiest links, what shared them; the same with all links for
 * --explain. Nothing where the run has no network. */
void pp_report_network(const struct pp_result *result, int width, FILE *out);
void pp_explain_network(const struct pp_result *result, FILE *out);
/* One sentence: a way out of memory, where the bubble comes from, a faster schedule. */
const char *pp_report_advice(struct pp_arena *arena, const struct pp_result *result,
                             const struct pp_others *others);
/* Of a run with result->oom: what takes the memory, and what would help. The labels of paragraphs
 * in a report take PP_TEXT_LABEL columns. */
enum { PP_TEXT_LABEL = 11 };
void pp_oom_print(const struct pp_result *result, int width, FILE *out);
/* The same after the message of an error; in one sentence; as members "oom" and
 * "oom_tensors". */
void pp_oom_append(const struct pp_oom *oom, struct pp_error *err);
const char *pp_oom_advice(struct pp_arena *arena, const struct pp_oom *oom);
void pp_oom_json(const struct pp_oom *oom, json_t *object);
/* Degrees and batch, without "seq": an object of the JSON reports. */
json_t *pp_report_layout_json(const struct pp_layout *layout);
/* Of the time, in shares or seconds. */
json_t *pp_report_parts_json(const double parts[PP_TIME_PARTS]);
/* A tie: two step times closer than analytic costs can tell apart. */
#define PP_TIE_FRAC 0.01
