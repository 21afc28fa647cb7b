/* sim/fit/change.h — a run with a change of its command, as if the changed command were typed. */
#pragma once

#include "sim/config/config.h"

/* Returns the command of the run. It has the degrees and the batch that the tool chose, so that a
 * change of something else leaves them as they are. */
struct pp_parsed *pp_change_begin(struct pp_arena *arena, const struct pp_config *config);
/* Puts another schedule into the command, and takes options out that the schedule lacks. */
enum pp_status pp_change_schedule(struct pp_arena *arena, const struct pp_schedule *schedule,
                                  struct pp_parsed *command, struct pp_error *err);
/* Multiplies the batch of the command by `factor`, with as many samples in a micro-batch. */
enum pp_status pp_change_batch(struct pp_arena *arena, const struct pp_config *config, int factor,
                               struct pp_parsed *command, struct pp_error *err);

/* Resolves a command of one schedule; `prepared` as in pp_resolve(). */
enum pp_status pp_change_resolve(struct pp_arena *arena, const struct pp_parsed *command,
                                 struct pp_config *config, struct pp_prepared *prepared,
                                 struct pp_error *err);
/* Returns state that the tool chooses for `other`, where `run` has it otherwise: "ZeRO 0, recompute
 * none"; "" if there is none. */
const char *pp_change_state(struct pp_arena *arena, const struct pp_config *run,
                            const struct pp_config *other);
/* A changed command, simulated by its own engine. */
struct pp_changed_run {
    struct pp_outcome outcome;
    const char *also;                            /* pp_change_state() */
    double first_token_s, token_s, tokens_per_s; /* 0 in training */
};
/* Resolves and simulates a command, which is a change of `run`. */
enum pp_status pp_change_try(struct pp_arena *arena, const struct pp_config *run,
                             const struct pp_parsed *command, struct pp_changed_run *change,
                             struct pp_error *err);
