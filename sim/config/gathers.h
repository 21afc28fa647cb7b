/* sim/config/gathers.h — numbers and volumes of gathers, sums and scatters in a step. */
#pragma once

#include "sim/config/config.h"

#include <stdio.h>

/* Is true if parameters are sharded or offloaded: they are gathered or loaded before use. */
bool pp_gathers_are_used(const struct pp_result *result);
/* Number of a rank's gathers in a step (loads if parameters are whole), with those inside ops. */
int64_t pp_gathers_visits(const struct pp_result *result, int rank);
/* Returns how often a rank uses a unit in a step. Uses of one unit after another count once. Those
 * that are no loads (pp_gathers_visits) are hits. */
int64_t pp_cache_uses(const struct pp_result *result, int rank);

/* Counts of the rank that loads or gathers most in a step, with units inside of ops. */
struct pp_cache_counts {
    int64_t loads, hits;
    int cached; /* units */
};
struct pp_cache_counts pp_cache_count(const struct pp_result *result);

/* Loads of rank 0 in a step, where its V units stand in a line, of which R stay. */
struct pp_cache_line {
    const char *form; /* "2 m (V - R) + R" */
    int64_t units, cached, loads;
    int64_t passes; /* through the line, forward and back */
};
/* Returns false if the loads have no closed form. */
bool pp_cache_line(const struct pp_result *result, struct pp_cache_line *line);
/* Returns the loads with another number of units that stay. */
int64_t pp_cache_line_loads(const struct pp_cache_line *line, int64_t cached);

/* Elements per parameter that collectives of state move in the program, without tied sums. As in
 * ZeRO, a sum counts twice, a scatter or a gather once (Rajbhandari et al. 2020, section 7). */
double pp_gathers_elements(const struct pp_result *result);
void pp_gathers_explain(const struct pp_result *result, FILE *out);
