/* Memory and CPU time, as the kernel reports them. */
#include "exec/host/host.h"

#include "core/free_memory.h"

#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Bytes of ulimit -v, less those that the process has mapped. */
static size_t limit_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    size_t pages = 0;
    struct rlimit limit;

    if (file && fscanf(file, "%zu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    const size_t mapped = pages * (size_t)sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

size_t pp_host_available_bytes(void)
{
    const size_t free_bytes = pp_free_memory_bytes(), bytes = limit_bytes();

    return free_bytes < bytes ? free_bytes : bytes;
}

int pp_host_most_threads(void)
{
    static const char *const LIMITS[] = {"/proc/sys/kernel/threads-max",
                                         "/proc/sys/kernel/pid_max"};
    int most = INT_MAX;

    for (size_t i = 0; i < sizeof(LIMITS) / sizeof(*LIMITS); i++) {
        FILE *file = fopen(LIMITS[i], "re");
        int limit;

        if (file && fscanf(file, "%d", &limit) == 1 && limit < most)
            most = limit;
        if (file)
            fclose(file);
    }
    return most;
}

int64_t pp_host_thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double pp_host_thread_s(void)
{
    return 1e-9 * (double)pp_host_thread_ns();
}
