/* sim/published/parts.h — parts of the translation of rows. Private to sim/published. */
#pragma once

#include "sim/published/published.h"

extern const struct pp_measure_rule pp_measure_rules[]; /* ended by a pattern of NULL */

struct pp_measure_device {
    const char *pattern, *preset, *keys; /* preset of a cluster, with keys of its text */
    bool is_domain; /* nodes are NVLink domains of the preset, whatever a tray holds */
};
extern const struct pp_measure_device pp_measure_devices[]; /* ended by NULL */

/* Returns the place of a pattern in the text, or NULL; '#' is a number, '*' anything. */
const char *pp_measure_contains(const char *text, const char *pattern);
/* Returns the number that '#' stands for in a matching cell; 0 = none. */
int pp_measure_number_in(const char *cell, const char *pattern);

enum { PP_MEASURE_DEVICES = 1 << 20 }; /* limit for every number of devices */
struct pp_measure_writer {
    struct pp_arena *arena;
    const struct pp_measurement *row;
    struct pp_measure_command *command;
    int64_t tp, pp, dp, cp, ep, gpus, per_node, vp;
};
void pp_measure_put_word(struct pp_measure_writer *w, const char *word);
/* Adds "--option value" (NULL: the option alone), unless the option is there. */
void pp_measure_put(struct pp_measure_writer *w, const char *option, const char *value);
/* Returns the word after an option of the command so far, or NULL. */
const char *pp_measure_given(const struct pp_measure_writer *w, const char *option);
/* Is true if the option changes nothing, as there is only one device to share. */
bool pp_measure_is_void(const struct pp_measure_writer *w, const char *option);
void pp_measure_put_int(struct pp_measure_writer *w, const char *option, int64_t value);
void pp_measure_note(struct pp_measure_writer *w, const char *note);
/* Notes a setting that the row must state, and does not. */
void pp_measure_infer(struct pp_measure_writer *w, const char *option, int64_t value,
                      const char *reason);

/* Reads the degrees; gpus and dp follow from each other. PP_EINVAL if they contradict. */
enum pp_status pp_measure_read_degrees(struct pp_measure_writer *w, struct pp_error *err);
/* Adds degrees and batch. PP_EINVAL for batches that do not divide. */
void pp_measure_put_degrees(struct pp_measure_writer *w);
enum pp_status pp_measure_put_batch(struct pp_measure_writer *w, struct pp_error *err);

/* Adds what the cells say, before any rule. PP_EINVAL for missing or contradictory cells. */
enum pp_status pp_measure_put_schedule(struct pp_measure_writer *w, struct pp_error *err);
/* Takes a word that no rule knows for the name of a schedule: "zbv (8 chunks)". Only names and
 * aliases count: a cell opens no file. */
enum pp_status pp_measure_put_named_schedule(struct pp_measure_writer *w, struct pp_error *err);
/* Runs after both: PP_EINVAL if the schedule has another number of chunks than stated. */
enum pp_status pp_measure_check_chunks(const struct pp_measure_writer *w, struct pp_error *err);
/* Adds --head counted if layers lack embedding and head: 22 of 8 or 24 stages. */
void pp_measure_put_head(struct pp_measure_writer *w, int64_t layers);

/* Name of a column for messages: in a table of one's own that of `validate --template`. */
const char *pp_measure_name(const struct pp_measurement *row, enum pp_measure_column column);
/* Is true for the name of a preset, whose sizes need not be stated. */
bool pp_measure_is_named(const struct pp_measurement *row);
enum pp_status pp_measure_put_model(struct pp_measure_writer *w, struct pp_error *err);
/* Adds --shard or --secondary from a rule's value: sim/published/shard.c. */
enum pp_status pp_measure_put_shard(struct pp_measure_writer *w, const struct pp_measure_rule *rule,
                                    struct pp_error *err);

/* Adds what recipes set and empty cells leave out: sim/published/recipes.c. */
void pp_measure_put_recipes(struct pp_measure_writer *w);
/* Adds --offload with the share after the rule's pattern in the cell, if it is above 0. */
void pp_measure_put_offload(struct pp_measure_writer *w, const struct pp_measure_rule *rule);

/* Adds model, prompt, tokens and cache of a run that generates: sim/published/generation.c. */
enum pp_status pp_measure_put_generation(struct pp_measure_writer *w, struct pp_error *err);
/* Adds the cluster of a row: sim/published/cluster.c. */
enum pp_status pp_measure_put_cluster(struct pp_measure_writer *w, struct pp_error *err);

/* Header of a table: names of columns and of options, sim/published/names.c. */
struct pp_csv_row;
struct pp_option;
struct pp_measure_option_column {
    const struct pp_option *option;
    int field;
};
struct pp_measure_header {
    const char *name; /* of the table */
    const struct pp_csv_row *fields;
    int place[PP_MEASURE_COLUMNS];            /* field of a column; -1 = none */
    struct pp_measure_option_column *options; /* of a run, without a column of their own; all that a
                                               * sweep was given */
    int option_count;
    bool is_generation; /* of runs that generate */
    bool is_sweep;      /* the result of a sweep, with measurements added */
    int status;         /* field of a sweep's status; -1 = none */
};
/* Reads a header; adds a hint to `list` for each column that is ignored. PP_EINVAL with name:line:
 * a column twice, under one name or two, and tables without a configuration or a measurement. */
enum pp_status pp_measure_header_read(struct pp_arena *arena, const char *name,
                                      const struct pp_csv_row *fields, struct pp_measure_header *h,
                                      struct pp_measurements *list, struct pp_error *err);

/* Adds the options that a row gives in columns of their own: sim/published/own.c. PP_EINVAL for
 * cells that would open a file. */
enum pp_status pp_measure_put_given(struct pp_measure_writer *w, struct pp_error *err);
