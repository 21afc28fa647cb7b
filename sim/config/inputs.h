/* sim/config/inputs.h — the options of a run, for reports. */
#pragma once

#include "sim/cli/wish.h"
#include "sim/config/config.h"

/* A given option and its value, from the flags or else the preset. */
struct pp_input {
    const struct pp_option *option;
    const struct pp_option_value *value;
    bool is_typed; /* from a flag, not from the preset */
};

/* Fills config->origin.inputs: given options that may change a prediction, ordered as in --help. */
void pp_inputs_take(struct pp_arena *arena, const struct pp_wish *wish, struct pp_config *config);
/* What-if options that are not at their defaults, such as "--slow~3=0.8 --post~jit". A '~' is a
 * blank inside an option. NULL if there are none. In the arena. */
const char *pp_inputs_what_if(struct pp_arena *arena, const struct pp_config *config);

/* The given option of this name; NULL if it is not given. */
const struct pp_input *pp_inputs_find(const struct pp_config *config, const char *name);
/* Returns the command of a run with the options of `config` that were typed, for changes by
 * pp_command_set(). Left out are options with any of the traits (PP_SIM_*), and outputs. A plan has
 * options of its own that are not typed; the command has these, too, unless a preset is typed. */
struct pp_parsed *pp_inputs_command(struct pp_arena *arena, const struct pp_config *config,
                                    unsigned traits);
