/* sim/config/intensity.h — work of a device for each byte that it copies.
 *
 * Compute hides a class if flops a byte times bytes a second are at least the speed of the device.
 * Source: Rajbhandari et al. 2021, ZeRO-Infinity, section 4.2. */
#pragma once

#include "sim/config/config.h"

#include <stdio.h>

/* Returns flops a byte by the closed form, with full recomputation. `tokens` are those of a device
 * between two passes over the class, for optimizer state those of a step. Checkpoints depend on the
 * hidden size, and have so many `blocks` each. */
double pp_intensity_form(enum pp_state_class class, double tokens, double hidden, double blocks);
/* Returns the share of its speed that a device reaches if nothing overlaps. */
double pp_intensity_efficiency(double flops_per_byte, double bytes_per_s, double flops_per_s);

/* Prints for --explain, by class: flops a byte as counted, and the rates that would hide copies. */
void pp_intensity_explain(const struct pp_result *result, FILE *out);
