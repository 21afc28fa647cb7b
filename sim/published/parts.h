/* sim/published/parts.h — what the translation of rows consists of. Private to sim/published. */
#pragma once

#include "sim/published/published.h"

/* ---- tables and patterns: sim/published/words.c ---- */
extern const struct pp_measure_rule pp_measure_rules[]; /* ended by a pattern of NULL */

struct pp_measure_device {
    const char *pattern, *preset, *keys; /* preset of a cluster, with keys of its text */
    bool is_domain; /* the NVLink domain of the preset counts, not the devices of a tray */
};
extern const struct pp_measure_device pp_measure_devices[]; /* ended by NULL */

/* Where the pattern begins in the text; '#' stands for a number, '*' for anything. */
const char *pp_measure_contains(const char *text, const char *pattern);
/* The number for which '#' stands in a cell that matches, 0 = none. */
int pp_measure_number_in(const char *cell, const char *pattern);

/* ---- a command under construction: sim/published/command.c ---- */
enum { PP_MEASURE_DEVICES = 1 << 20 }; /* at most, of any number of them */
struct pp_measure_writer {
    struct pp_arena *arena;
    const struct pp_measurement *row;
    struct pp_measure_command *command;
    int64_t tp, pp, dp, cp, ep, gpus, per_node, vp;
};
void pp_measure_put_word(struct pp_measure_writer *w, const char *word);
/* Add "--option value" (NULL: the option alone), unless it stands there. */
void pp_measure_put(struct pp_measure_writer *w, const char *option, const char *value);
/* The word after an option of the command so far, or NULL. */
const char *pp_measure_given(const struct pp_measure_writer *w, const char *option);
void pp_measure_put_int(struct pp_measure_writer *w, const char *option, int64_t value);
void pp_measure_note(struct pp_measure_writer *w, const char *note);

/* ---- sim/published/schedule.c ---- */
/* What cells and their contradictions say, before any rule. */
enum pp_status pp_measure_put_schedule(struct pp_measure_writer *w, struct pp_error *err);
/* A word that no rule knows may be the name of a schedule as it stands: "zbv (8 chunks)".
 * Names and aliases alone: a cell opens no file. */
enum pp_status pp_measure_put_named_schedule(struct pp_measure_writer *w, struct pp_error *err);
/* After all of these: PP_EINVAL where the schedule has another number of chunks than stated. */
enum pp_status pp_measure_check_chunks(const struct pp_measure_writer *w, struct pp_error *err);
/* Numbers of layers to which embedding and head are missing are meant so: 22 of 8 or 24 stages. */
void pp_measure_put_head(struct pp_measure_writer *w, int64_t layers);

/* ---- the model: sim/published/model.c ---- */
/* Is it one of a preset's name, whose sizes need not be stated? */
bool pp_measure_is_named(const struct pp_measurement *row);
enum pp_status pp_measure_put_model(struct pp_measure_writer *w, struct pp_error *err);
/* --zero, --shard, --secondary from a rule's value: sim/published/shard.c. */
enum pp_status pp_measure_put_shard(struct pp_measure_writer *w, const struct pp_measure_rule *rule,
                                    struct pp_error *err);

/* What recipes say of cells that are empty: sim/published/recipes.c. */
void pp_measure_put_recipes(struct pp_measure_writer *w);
/* --offload with the share that follows the rule's pattern in the cell, if it is above 0. */
void pp_measure_put_offload(struct pp_measure_writer *w, const struct pp_measure_rule *rule);
