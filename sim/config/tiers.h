/* sim/config/tiers.h — --offload, --cpu-optimizer, --act-bits: what lives on another memory tier,
 * and whether it has room there. */
#pragma once

#include "sim/config/config.h"

#include <stdio.h>

struct pp_wish;

/* The three options into homes, is_cpu_update and activation_bits of `state`; with a cluster its
 * tiers are checked too (NULL: not). PP_EINVAL names what is legal. */
enum pp_status pp_tiers_resolve(const struct pp_wish *wish, const struct pp_cluster *cluster,
                                struct pp_state_spec *state, struct pp_error *err);

/* Something of the run lives on another tier. */
bool pp_tiers_are_used(const struct pp_result *result);
/* Most that any device has on a tier, and what a device's share of it is. */
double pp_tiers_bytes(const struct pp_result *result, enum pp_tier tier);
double pp_tiers_room_bytes(const struct pp_result *result, enum pp_tier tier);
/* The tier that is too small; PP_TIER_DEVICE: none, whatever the device itself. */
enum pp_tier pp_tiers_full(const struct pp_result *result);

/* "host 12.3 of 256.0 GiB a device, ..." */
const char *pp_tiers_text(struct pp_arena *arena, const struct pp_result *result);
/* For --explain: homes, bytes, and what is copied in a step; nothing where all is on the device. */
void pp_tiers_explain(const struct pp_result *result, FILE *out);
/* Bytes that a rank's device copies in one step, down (0) or up (1), streamed state included. */
double pp_tiers_copied_bytes(const struct pp_result *result, int rank, int stream);
