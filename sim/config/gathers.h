/* sim/config/gathers.h — how often parameters are gathered and how much is summed, scattered and
 * gathered in a step. */
#pragma once

#include "sim/config/config.h"

#include <stdio.h>

/* Whether parameters are cut or live on another tier, so that they are gathered or loaded before
 * they are used. */
bool pp_gathers_are_used(const struct pp_result *result);
/* Visits of a rank: its gathers or, where nothing is cut, loads, those inside of its ops included.
 */
int64_t pp_gathers_visits(const struct pp_result *result, int rank);
/* Elements per parameter that collectives of state move in the program, without tied sums. As in
 * ZeRO, a sum counts twice, a scatter or a gather once (Rajbhandari et al. 2020, section 7). */
double pp_gathers_elements(const struct pp_result *result);
/* Lines of --explain. */
void pp_gathers_explain(const struct pp_result *result, FILE *out);
