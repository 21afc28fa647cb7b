/* bench/bench.h — what all benchmarks need: clocks, and an end when something fails. */
#ifndef PP_BENCH_BENCH_H
#define PP_BENCH_BENCH_H

#include "core/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double clock_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double now_s(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

/* Of this process alone, whatever else the machine does. */
static inline double cpu_s(void)
{
    return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static inline void must(enum pp_status status, const struct pp_error *err)
{
    if (status == PP_OK)
        return;
    fprintf(stderr, "bench: error: %s\n", err->message);
    exit(status);
}

#endif
