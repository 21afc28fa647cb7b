/* core/clock.h — time that passes, in s. */
#pragma once

#include <time.h>

/* From an arbitrary point on; never goes back. */
static inline double pp_clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds since *last_s, which becomes now, but at most most_s: a process that was stopped does not
 * count the pause as waiting. */
static inline double pp_clock_passed_s(double *last_s, double most_s)
{
    const double now_s = pp_clock_s(), passed_s = now_s - *last_s;

    *last_s = now_s;
    return passed_s < most_s ? passed_s : most_s;
}
