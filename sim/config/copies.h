/* sim/config/copies.h — bytes that move between memory tiers in a step, and how long a rank waits
 * for them. Updates of the host, which wait for copies. */
#pragma once

#include "schedules/memory/copied.h"
#include "sim/config/config.h"

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
