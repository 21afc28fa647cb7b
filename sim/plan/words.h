/* sim/plan/words.h — writes a choice of pipesim plan as the command line of a run. Blanks inside of
 * an option are '~', as paragraphs want them. Private to sim/plan. */
#pragma once

#include "sim/cli/cli.h"
#include "sim/config/config.h"

/* Returns "pipesim --option~value ..." in the arena: config->origin.inputs, less the planner's and
 * those with the trait `without`. */
const char *pp_plan_words(struct pp_arena *arena, const struct pp_config *config,
                          enum pp_sim_trait without);
/* Appends an option to `text`, in quotes if a shell would split its value. `value` may be NULL. */
const char *pp_plan_add(struct pp_arena *arena, const char *text, const char *name,
                        const char *value);
const char *pp_plan_add_int(struct pp_arena *arena, const char *text, const char *name,
                            int64_t value);
/* Simulates a command of a run, with '~' for blanks within arguments or in place of them. */
enum pp_status pp_plan_simulate(struct pp_arena *arena, const char *command,
                                struct pp_result *result, struct pp_error *err);
