/* sim/seeds/seeds.h — a run with many seeds of its jitter (--seeds). */
#pragma once

#include "sim/config/config.h"

#include <jansson.h>

/* Mean, least and greatest of a figure over the seeds. */
struct pp_spread {
    double mean, least, greatest;
};
struct pp_seeds {
    int64_t first; /* seeds first .. first + count - 1 */
    int count;
    const double *step_s, *strict_s; /* [seed]; of the strict order, NULL if it is the run's */
    struct pp_spread step, strict;   /* seconds */
    struct pp_spread gain;           /* step of the strict order over that of the run, by seed */
    int slower;                      /* seeds with which the strict order is faster */
};
/* Simulates a configuration with `count` seeds, from its own on, and its strict order with the same
 * seeds. */
enum pp_status pp_seeds_run(struct pp_arena *arena, const struct pp_config *config, int count,
                            const struct pp_seeds **seeds, struct pp_error *err);
/* Puts `steps_by_seed` and `seeds` of a result into its report, if there are any. */
void pp_seeds_json(const struct pp_result *result, json_t *report);
