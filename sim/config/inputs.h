/* sim/config/inputs.h — the options of a run, so that a figure can be traced to what was asked
 * for. */
#pragma once

#include "sim/cli/wish.h"
#include "sim/config/config.h"

/* An option as typed, from the flags or else the preset. */
struct pp_input {
    const struct pp_option *option;
    const struct pp_option_value *value;
    bool is_typed; /* a flag, not of the preset */
};

/* config->origin.inputs: all options given that may change a figure, in the order of --help. */
void pp_inputs_take(struct pp_arena *arena, const struct pp_wish *wish, struct pp_config *config);
/* Settings of a what-if that are not the default, "--slow~3=0.8 --post~jit", with '~' for the
 * blanks inside; NULL when there are none. In the arena. */
const char *pp_inputs_what_if(struct pp_arena *arena, const struct pp_config *config);

/* What was asked for by this name; NULL: nothing. */
const struct pp_input *pp_inputs_find(const struct pp_config *config, const char *name);
