/* sim/config/auto_share.h — --offload os=host:auto: shares of classes that a run finds itself.
 *
 * A place says how much has left the device, in steps of 5 %. Classes leave it one after another:
 * optimizer state, gradients, parameters, saved activations. At place 25, with two such classes,
 * all of the first is away and 25 % of the second. */
#pragma once

#include "sim/config/config.h"

/* Is true if the share of a class is to be found. */
static inline bool pp_auto_share_is(const struct pp_state_spec *spec, enum pp_state_class class)
{
    return spec->home[class] != PP_TIER_DEVICE && spec->moved_frac[class] < 0;
}
/* Returns the first and the last place; both 0 if no share is to be found. Nothing leaves at
 * place 0. The first is 1 if gradients live elsewhere and optimizer state would not. */
int pp_auto_share_first(const struct pp_state_spec *spec);
int pp_auto_share_last(const struct pp_state_spec *spec);
/* Returns the state at a place, where no share is left to be found. What nothing uses there any
 * more, such as the host's update, is switched off. */
struct pp_state_spec pp_auto_share_at(const struct pp_state_spec *spec, int place);

/* Text such as "os 55 %*" of the shares that a run found; "" if it found none. */
const char *pp_auto_share_text(struct pp_arena *arena, const struct pp_config *config);
/* Text such as "55 % of os: 50 % needs 1.3 GiB more"; "" as above. */
const char *pp_auto_share_why(struct pp_arena *arena, const struct pp_config *config);
