/* core/clock.h — time that passes, in s. */
#pragma once

#include <time.h>

/* Returns the seconds since an arbitrary start; never decreases. */
static inline double pp_clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the seconds since *last_s, at most most_s, and sets *last_s to now. The bound keeps the
 * pause of a stopped process out of waiting times. */
static inline double pp_clock_passed_s(double *last_s, double most_s)
{
    const double now_s = pp_clock_s(), passed_s = now_s - *last_s;

    *last_s = now_s;
    return passed_s < most_s ? passed_s : most_s;
}
