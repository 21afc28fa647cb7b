/* sim/calibrate/calibrate.h — fits costs of layers (core/cost/measured/file.h) to traces of real
 * runs, and tests them on a schedule that is left out of the fit. Everything lives in an arena. */
#pragma once

#include "core/cost/measured/file.h"
#include "schedules/evaluate/band.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"
#include "traces/formats/files.h"
#include "traces/trace.h"

#include <stdio.h>

/* A trace and the run that it records. */
struct pp_calibrate_run {
    const char *path, *schedule; /* schedule: NULL if the trace does not name it */
    const struct pp_trace *trace;
    const struct pp_trace_about *about; /* NULL for CSV */
    struct pp_config config;
    struct pp_cost_inputs inputs;
    bool is_left_out;
};

/* Durations of one op, of one granule each, on stages with the same layers. */
struct pp_calibrate_group {
    int kind, set; /* set: index of file->sets; -1 for U */
    struct pp_measured_layers layers;
    double params; /* U: see pp_measured_updated(); B, W: pp_measured_zeroed() */
    double *s;
    int count, capacity;
    double median_s; /* set by the fit */
};
struct pp_calibrate_message {
    double bytes, s;
};

struct pp_calibrate {
    struct pp_arena *arena;
    struct pp_calibrate_run *runs;
    int run_count;
    const char *left_out;    /* schedule; NULL = none */
    bool is_left_out_chosen; /* chosen by the tool, not by --hold-out */
    struct pp_calibrate_group *groups;
    int group_count, group_capacity;
    struct pp_calibrate_message *messages;
    int message_count, message_capacity;
    int op_count, fused_count; /* durations used; fused pairs left aside */
    struct pp_cost_file *file; /* the result */
    const char *logs[64];
    int log_count;
};

/* Prediction for a run that is left out of the fit. */
struct pp_calibrate_trial {
    const struct pp_calibrate_run *run;
    double measured_s, predicted_s, null_s;
    struct pp_band band; /* steps with durations of ops drawn from the samples */
};

/* ---- sim/calibrate/read.c -------------------------------------------------------------------- */
/* Reads and resolves traces, and leaves a schedule out. PP_EINVAL for traces that do not match. */
enum pp_status pp_calibrate_open(struct pp_calibrate *c, const struct pp_wish *wish,
                                 struct pp_error *err);

/* ---- sim/calibrate/look.c -------------------------------------------------------------------- */
/* Facts of a run that its events show. */
struct pp_calibrate_seen {
    int stages, micro_batches, splits;
    double bytes; /* of a message of one granule and split; 0 = no messages */
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
/* Adds options of a run as seen. Costs of layers do not depend on the order of ops, and any
 * schedule of as many stages has the same layers per stage. */
void pp_calibrate_add_seen(struct pp_calibrate_words *words, const struct pp_calibrate_seen *seen);
/* Adds the options of the command line that name the model. */
void pp_calibrate_add_model(struct pp_calibrate_words *words, const struct pp_wish *wish);
bool pp_calibrate_is_of_model(const char *option); /* of "--layers", say */

/* ---- sim/calibrate/kineto.c ------------------------------------------------------------------ */
/* PP_EINVAL for --mbs or --precision without traces of PyTorch, or for these without --mbs. */
enum pp_status pp_calibrate_check_kineto(const struct pp_wish *wish, int files,
                                         struct pp_error *err);
/* Reads all files of PyTorch as one run; its `about` comes from the command line and the events. */
enum pp_status pp_calibrate_read_kineto(struct pp_arena *arena, const struct pp_wish *wish,
                                        const struct pp_trace_files *files,
                                        struct pp_calibrate_run *run, struct pp_error *err);
/* Sets the bytes of the run's messages from its resolved options. */
void pp_calibrate_fill_bytes(const struct pp_calibrate_run *run);

/* ---- sim/calibrate/samples.c ----------------------------------------------------------------- */
/* PP_EINVAL if no run with --cost could use the run's durations, with the reason. */
enum pp_status pp_calibrate_check_layers(const struct pp_calibrate_run *run, struct pp_error *err);
enum pp_status pp_calibrate_collect(struct pp_calibrate *c, struct pp_error *err);

/* ---- sim/calibrate/fit.c --------------------------------------------------------------------- */
/* Fills c->file from the samples. */
enum pp_status pp_calibrate_fit(struct pp_calibrate *c, struct pp_error *err);
/* Fits alpha and beta of messages, with the median error over their sizes. `given` replaces the
 * fit; if it is NULL and there is only one size, alpha is 0. */
struct pp_measured_line pp_calibrate_line(struct pp_arena *arena, const char *name,
                                          const struct pp_calibrate_message *messages, int count,
                                          const struct pp_measured_line *given);

/* ---- sim/calibrate/check.c ------------------------------------------------------------------- */
enum pp_status pp_calibrate_try(const struct pp_calibrate *c, const struct pp_calibrate_run *run,
                                uint64_t seed, struct pp_calibrate_trial *trial,
                                struct pp_error *err);

/* ---- sim/calibrate/report.c ------------------------------------------------------------------ */
void pp_calibrate_print(const struct pp_calibrate *c, const struct pp_calibrate_trial *trials,
                        int count, const char *output, FILE *out);

/* ---- sim/calibrate/write.c ------------------------------------------------------------------- */
enum pp_status pp_calibrate_write(const struct pp_calibrate *c,
                                  const struct pp_calibrate_trial *trials, int count,
                                  const char *path, struct pp_error *err);
