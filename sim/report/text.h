/* sim/report/text.h — short texts that several printers of a result share. */
#pragma once

#include "sim/fit/fit.h"
#include "sim/report/report.h"

#include <jansson.h>

enum { PP_TEXT_BYTES = 512 };

/* "*" if the tool chose the value, else "". */
const char *pp_text_star(const struct pp_config *config, unsigned bit);
/* "6 layers a stage", with the place of embedding and head, or "layers by stage 7, 6 x 2". */
const char *pp_text_split(const struct pp_config *config, char text[PP_TEXT_BYTES]);
/* Stages of a rank, such as "0,15" or "0,4..28". */
const char *pp_text_stages(const struct pp_program *program, int rank, char text[PP_TEXT_BYTES]);
/* Time with three digits, "16 s"; "16 units" in unit mode. */
const char *pp_text_time(const struct pp_config *config, double seconds, char text[PP_TEXT_BYTES]);
/* Rounds to GiB as printed, so that differences are those of the printed figures. */
double pp_text_gib(double bytes);
/* Returns "37.6 %", or "-" where no peak of a device is known. */
const char *pp_text_mfu(const struct pp_result *result, char text[PP_TEXT_BYTES]);
/* Text such as "steady step of 4 steps, no barrier"; "" with one step. */
const char *pp_text_steps(struct pp_arena *arena, const struct pp_config *config);
/* Text that explains the mark of runs that fit, but leave less than the memory margin free. */
const char *pp_text_tight(struct pp_arena *arena, const struct pp_config *config);
/* "concat doubling (auto: direct 30 units, doubling 27 units, ...)"; needs origin.trials. */
const char *pp_text_trials(struct pp_arena *arena, const struct pp_config *config);
/* Remark on costs of a program with granules. */
#define PP_TEXT_GRANULES                                                                           \
    "; part of a micro-batch costs its share, though kernels on less work are less efficient"
/* Origin of costs: "fitted on published runs, not on yours", or those of another device. */
const char *pp_text_constants(struct pp_arena *arena, const struct pp_config *config);
/* "SCHEDULE", "SCHEDULE, eager" or "SCHEDULE, eager:4". */
const char *pp_text_schedule(struct pp_arena *arena, const struct pp_config *config);
/* Value of --recompute, such as "selective=act+mlp,late"; its words follow `separator` each. */
const char *pp_text_recompute(const struct pp_config *config, const char *separator,
                              char text[PP_TEXT_BYTES]);
/* Sample time relative to a ranking's first: "+4.7 %", "tie", "no fit", "-". Not in unit mode. */
enum { PP_VERSUS_BYTES = 32 };
const char *pp_text_versus(const struct pp_result *result, const struct pp_result *first,
                           char text[PP_VERSUS_BYTES]);
/* Prints the same layout under other schedules, best first; nothing if there are none. */
void pp_report_others(const struct pp_others *others, FILE *out);
/* Prints settings of a what-if, and flags without effect; nothing if there are none. */
void pp_report_what_if(const struct pp_config *config, int width, int indent, FILE *out);
/* Print exposed communication, the busiest links and transfers that share links; for --explain all
 * links. They print nothing without a network. */
void pp_report_network(const struct pp_result *result, int width, FILE *out);
void pp_explain_network(const struct pp_result *result, FILE *out);
/* Prints "  label    command", continued after a backslash where a line would be too long. */
void pp_text_command(FILE *out, int width, int indent, const char *label,
                     const struct pp_parsed *command);
/* One sentence of advice: a way out of memory, the cause of the bubble, a faster schedule. It is
 * simulated before it is given. */
struct pp_advice {
    const char *text;
    const struct pp_parsed *command; /* the run that the advice speaks of, or NULL */
};
struct pp_advice pp_report_advice(struct pp_arena *arena, const struct pp_result *result,
                                  const struct pp_others *others);
/* Prints the memory of a run with result->oom, and flags that would help. Labels of a report's
 * paragraphs take PP_TEXT_LABEL columns. */
enum { PP_TEXT_LABEL = 11 };
void pp_oom_print(const struct pp_result *result, int width, FILE *out);
/* Give memory and flags in an error, as a sentence, as members "oom" and "oom_tensors". */
void pp_oom_append(const struct pp_oom *oom, struct pp_error *err);
struct pp_advice pp_oom_advice(struct pp_arena *arena, const struct pp_result *r);
void pp_oom_json(const struct pp_oom *oom, json_t *object);
/* Returns changes with which a run that generates fits, each simulated; NULL: none is known. */
const char *pp_generation_to_fit(struct pp_arena *arena, const struct pp_result *result);
/* Adds to an error how many sequences fit, or else such changes. */
void pp_generation_to_fit_append(const struct pp_result *result, struct pp_error *err);
/* Degrees and batch as an object of the JSON reports, without "seq". */
json_t *pp_report_layout_json(const struct pp_layout *layout);
/* Parts of the time as an object, in shares or seconds. */
json_t *pp_report_parts_json(const double parts[PP_TIME_PARTS]);
/* Errors of published runs like this one as an object of the JSON reports; all null if the runs are
 * too few. */
json_t *pp_error_json(const struct pp_config *config);
/* Highest published MFU on the device as an object, and whether `mfu` is above it; or null. */
json_t *pp_published_mfu_json(const struct pp_config *config, double mfu);
/* Difference of two step times that analytic costs cannot tell apart. */
#define PP_TIE_FRAC 0.01
