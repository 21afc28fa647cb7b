/* core/clock.h — time that passes, in s. */
#ifndef PP_CORE_CLOCK_H
#define PP_CORE_CLOCK_H

#include <time.h>

/* From an arbitrary point on; never goes back. */
static inline double pp_clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
