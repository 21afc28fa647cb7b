/* sim/config/copies.h — bytes that move between memory tiers in a step, and how long a rank waits
 * for them. Updates of the host, which wait for copies. */
#pragma once

#include "sim/config/config.h"

/* Bytes of one device in a step. Those that stream through an op are included. */
struct pp_copied {
    double down_bytes, up_bytes;
};
/* Fills [PP_STATE_CLASSES]: what the device of a rank copies, by class. */
void pp_copies_of_rank(const struct pp_result *result, int rank, struct pp_copied *by_class);
/* Returns the rank whose device copies most; the first of several. */
int pp_copies_most(const struct pp_result *result);

/* Prints "g 3.1 | 0, p 0 | 5.9": GiB down and up of the classes that move, by the rank with most;
 * "" if nothing is copied. */
const char *pp_copies_text(struct pp_arena *arena, const struct pp_result *result);

/* Seconds a step, of the rank for which the host updates longest. */
struct pp_host_updates {
    double s;         /* all of its updates */
    double exposed_s; /* its waits for them; all of them if U stands for the work of the host */
};
/* All 0 without --cpu-optimizer. */
struct pp_host_updates pp_host_updates(const struct pp_result *result);
