/* sim/calibrate/calibrate.h — from traces of real runs to costs of layers
 * (core/cost/measured/file.h), and how wrong those are on a schedule that they were not made from.
 * Everything lives in an arena. */
#pragma once

#include "core/cost/measured/file.h"
#include "schedules/evaluate/band.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"
#include "traces/formats/files.h"
#include "traces/trace.h"

#include <stdio.h>

/* A trace, and the run that it is of. */
struct pp_calibrate_run {
    const char *path, *schedule; /* schedule NULL: the trace does not say */
    const struct pp_trace *trace;
    const struct pp_trace_about *about; /* NULL: CSV does not say */
    struct pp_config config;
    struct pp_cost_inputs inputs;
    bool is_left_out;
};

/* Durations of the same op on stages that are alike, of one granule, seconds. */
struct pp_calibrate_group {
    int kind, set; /* of the costs; U has no set: -1 */
    int blocks;
    bool has_embedding, has_head;
    double params; /* U */
    double *s;
    int count, capacity;
    double median_s; /* filled by the fit */
};
struct pp_calibrate_message {
    double bytes, s;
};

struct pp_calibrate {
    struct pp_arena *arena;
    struct pp_calibrate_run *runs;
    int run_count;
    const char *left_out;    /* schedule, NULL = none */
    bool is_left_out_chosen; /* by the tool */
    struct pp_calibrate_group *groups;
    int group_count, group_capacity;
    struct pp_calibrate_message *messages;
    int message_count, message_capacity;
    int op_count, fused_count; /* durations used, and pairs that were left aside */
    struct pp_cost_file *file; /* the result */
    const char *logs[64];
    int log_count;
};

/* What became of a run that was left out. */
struct pp_calibrate_trial {
    const struct pp_calibrate_run *run;
    double measured_s, predicted_s, null_s;
    struct pp_band band; /* of draws from what ops took */
};

/* ---- sim/calibrate/read.c ---- */
/* Read traces, find out what ran, leave a schedule out, refuse what does not go together. */
enum pp_status pp_calibrate_open(struct pp_calibrate *c, const struct pp_wish *wish,
                                 struct pp_error *err);

/* ---- sim/calibrate/look.c ---- */
/* What can be seen in the events. */
struct pp_calibrate_seen {
    int stages, micro_batches, splits;
    double bytes; /* of a message of one granule and split, 0 = there is none */
};
enum pp_status pp_calibrate_look(const struct pp_trace *trace, struct pp_calibrate_seen *seen,
                                 struct pp_error *err);
/* A command line that describes a run. */
struct pp_calibrate_words {
    struct pp_arena *arena;
    char **list;
    int count, capacity;
};
void pp_calibrate_add(struct pp_calibrate_words *words, const char *word);
void pp_calibrate_add_int(struct pp_calibrate_words *words, const char *option, int value);
/* What was seen. Order does not matter to what layers take, so any schedule of as many stages says
 * which layers a stage has. */
void pp_calibrate_add_seen(struct pp_calibrate_words *words, const struct pp_calibrate_seen *seen);
/* The options of the command line that name the model. */
void pp_calibrate_add_model(struct pp_calibrate_words *words, const struct pp_wish *wish);
bool pp_calibrate_is_of_model(const char *option); /* "--layers" */

/* ---- sim/calibrate/kineto.c ---- */
/* PP_EINVAL where options say what a run of PyTorch was and there is none, or the other way round.
 */
enum pp_status pp_calibrate_check_kineto(const struct pp_wish *wish, int files,
                                         struct pp_error *err);
/* The one run of all files of PyTorch. Its `about` is made of the command line and the
 * events. */
enum pp_status pp_calibrate_read_kineto(struct pp_arena *arena, const struct pp_wish *wish,
                                        const struct pp_trace_files *files,
                                        struct pp_calibrate_run *run, struct pp_error *err);
/* Its messages get the bytes that they have in the run as resolved. */
void pp_calibrate_fill_bytes(const struct pp_calibrate_run *run);

/* ---- sim/calibrate/samples.c ---- */
enum pp_status pp_calibrate_collect(struct pp_calibrate *c, struct pp_error *err);

/* ---- sim/calibrate/fit.c ---- */
/* Fill c->file from the samples. */
enum pp_status pp_calibrate_fit(struct pp_calibrate *c, struct pp_error *err);
/* alpha and beta of messages, and the median error over their sizes. `given`: where only one size
 * was seen, NULL = nothing is known. */
struct pp_measured_line pp_calibrate_line(struct pp_arena *arena, const char *name,
                                          const struct pp_calibrate_message *messages, int count,
                                          const struct pp_measured_line *given);

/* ---- sim/calibrate/check.c ---- */
enum pp_status pp_calibrate_try(const struct pp_calibrate *c, const struct pp_calibrate_run *run,
                                uint64_t seed, struct pp_calibrate_trial *trial,
                                struct pp_error *err);

/* ---- sim/calibrate/report.c ---- */
void pp_calibrate_print(const struct pp_calibrate *c, const struct pp_calibrate_trial *trials,
                        int count, const char *output, FILE *out);

/* ---- sim/calibrate/write.c ---- */
enum pp_status pp_calibrate_write(const struct pp_calibrate *c,
                                  const struct pp_calibrate_trial *trials, int count,
                                  const char *path, struct pp_error *err);
