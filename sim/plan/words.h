/* sim/plan/words.h — a choice of pipesim plan as the command line of a run. Blanks inside of an
 * option are '~', as paragraphs want them. Private to sim/plan. */
#pragma once

#include "sim/cli/cli.h"
#include "sim/config/config.h"

/* "pipesim --option~value ...": config->origin.inputs without the options of the planner itself and
 * those with the trait `without`. In the arena. */
const char *pp_plan_words(struct pp_arena *arena, const struct pp_config *config,
                          enum pp_sim_trait without);
/* With one more option; in quotes where a shell would take the value apart. `value` may be NULL. */
const char *pp_plan_add(struct pp_arena *arena, const char *text, const char *name,
                        const char *value);
const char *pp_plan_add_int(struct pp_arena *arena, const char *text, const char *name,
                            int64_t value);
