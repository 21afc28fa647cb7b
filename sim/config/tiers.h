/* sim/config/tiers.h — --offload, --cpu-optimizer, --update, --act-bits: data on other tiers. */
#pragma once

#include "sim/config/config.h"

#include <stdio.h>

struct pp_wish;

/* Resolves these options into homes, is_cpu_update, has_early_update and activation_bits of
 * `state`. Checks the tiers of `cluster`, unless it is NULL. PP_EINVAL names the legal values. */
enum pp_status pp_tiers_resolve(const struct pp_wish *wish, const struct pp_cluster *cluster,
                                struct pp_state_spec *state, struct pp_error *err);

/* Is true if some data of the run are on another tier. */
bool pp_tiers_are_used(const struct pp_result *result);
/* Most bytes that a device has on a tier, and a device's share of the tier. */
double pp_tiers_bytes(const struct pp_result *result, enum pp_tier tier);
double pp_tiers_room_bytes(const struct pp_result *result, enum pp_tier tier);
/* The tier that is too small; PP_TIER_DEVICE if none is. The device's own memory is not checked. */
enum pp_tier pp_tiers_full(const struct pp_result *result);

/* Text such as "host 12.3 of 256.0 GiB a device, ..." */
const char *pp_tiers_text(struct pp_arena *arena, const struct pp_result *result);
/* Prints for --explain homes, bytes, and copies in a step; nothing if all are on the device. */
void pp_tiers_explain(const struct pp_result *result, FILE *out);
/* Bytes that a rank's device copies in one step, down (0) or up (1), streamed state included. */
double pp_tiers_copied_bytes(const struct pp_result *result, int rank, int stream);
