/* sim/run/lengthen.h — the times of a whole program from an engine's run of a cut one. */
#pragma once

#include "sim/config/config.h"

/* Is true if times of a cut program may tell of the whole one: nothing varies, and no barrier
 * starts its list again. */
bool pp_may_lengthen(const struct pp_config *config, const struct pp_program *cut);
/* Makes `times` and `network_stats` of a result those of the whole program. False, with both
 * unchanged, if they say too little, or if the whole program is too large to be played. */
bool pp_lengthen(struct pp_arena *arena, const struct pp_eval_options *options,
                 struct pp_result *result);
/* Returns how many periods to try after `periods` did not suffice. */
int pp_lengthen_more(const struct pp_program *cut, int periods);
