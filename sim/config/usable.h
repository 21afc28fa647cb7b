/* sim/config/usable.h — --usable: the share of a memory tier that may be filled. */
#pragma once

#include "sim/config/config.h"

struct pp_wish;

/* Fills state->usable_frac from --usable, and from the framework for tiers that it leaves out.
 * PP_EINVAL names the tier or the share, and what is legal. */
enum pp_status pp_usable_resolve(const struct pp_wish *wish, const struct pp_framework *framework,
                                 struct pp_state_spec *state, struct pp_error *err);
/* Text such as " (80 % of its share)", of a device's part of a tier; "" for a tier that may be
 * filled whole. */
enum { PP_USABLE_TEXT_BYTES = 32 };
const char *pp_usable_text(const struct pp_state_spec *state, enum pp_tier tier,
                           char text[PP_USABLE_TEXT_BYTES]);
