/* sim/report/tiers.h — data on other memory tiers, in words and as JSON. */
#pragma once

#include "sim/config/config.h"

#include <jansson.h>

/* Returns the end of the state line: "; 55 %* of os on host, updated by the host just in time".
 * "" if all is on the device. A "~" is a blank at which no line ends. */
const char *pp_line_moved(struct pp_arena *arena, const struct pp_config *config);
/* Text such as "; quantised: 2.1 % of forward, 1.0 % of backward"; "" without bits in ops. */
const char *pp_line_bits(struct pp_arena *arena, const struct pp_result *result);
/* Returns the bytes of each class and their exposed time; "" if nothing moves. */
const char *pp_line_copied(struct pp_arena *arena, const struct pp_result *result);
/* Returns "host updates 1.9 s, 1.4 s of it while the device works"; "" if the device updates. */
const char *pp_line_host(struct pp_arena *arena, const struct pp_result *result);

/* Returns the object `tiers` of the report. */
json_t *pp_tiers_json(const struct pp_result *result);
/* Puts what is set into the object `state`: offload, update, evict, act_bits, grads_in_params. */
void pp_moved_json(const struct pp_state_spec *state, json_t *object);
