/* core/cost/residence.h — what a parameter gains from room on the device: if its 16-bit value stays
 * there, or if its optimizer state does. Source: Huang et al. 2022, Elixir, search/simulator.py. */
#pragma once

#include "core/cost/inputs.h"

#include <stdio.h>

/* Rates of all devices of a node together: bytes/s, and parameters/s of an optimizer. */
struct pp_residence_rates {
    double to_device_bytes_per_s, to_host_bytes_per_s;
    double device_params_per_s, host_params_per_s;
};

/* Seconds a step that are saved for a parameter. `cache`: its value, of 2 bytes, stays.
 * `optimizer`: its optimizer state stays; it takes as much room as 7 values of 2 bytes. The gains
 * are of equal room on each of the devices. */
struct pp_residence {
    double cache_s, optimizer_s;
};
struct pp_residence pp_residence_gain(const struct pp_residence_rates *rates, int devices);

/* Returns the rates that Elixir measured with A100 devices, 1 to 8 of a node. */
struct pp_residence_rates pp_residence_published(int devices);
/* Returns those of the cluster, for the devices that a node uses. A rate that the cluster lacks is
 * 0, and so is then the gain. */
struct pp_residence_rates pp_residence_here(const struct pp_cost_inputs *in, int devices);
/* Text of both gains with both rates, and of the room that is used first. */
const char *pp_residence_text(struct pp_arena *arena, const struct pp_cost_inputs *in, int devices);
/* Prints the same as lines. */
void pp_residence_explain(const struct pp_cost_inputs *in, int devices, FILE *out);
