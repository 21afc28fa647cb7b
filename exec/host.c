#define _GNU_SOURCE /* CPU_COUNT */
#include "exec/host.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* From machines with more cores than a cpu_set_t holds we get an error: then all that are online.
 */
int pp_host_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* The number that `format` finds in the first line that has it; `otherwise` without one. */
static uint64_t find_number(const char *path, const char *format, uint64_t otherwise)
{
    FILE *file = fopen(path, "re");
    uint64_t number = otherwise;
    char line[256];

    if (!file)
        return otherwise;
    while (fgets(line, sizeof line, file) && sscanf(line, format, &number) != 1)
        number = otherwise;
    fclose(file);
    return number;
}

static uint64_t machine_bytes(void)
{
    const uint64_t kib = find_number("/proc/meminfo", "MemAvailable: %" SCNu64 " kB", 0);
    const long pages = sysconf(_SC_AVPHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

    if (kib > 0)
        return kib << 10;
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : SIZE_MAX;
}

/* Control groups, version 2, as a container sees its own. Cached file pages count as used there,
 * but give way. */
static uint64_t group_bytes(void)
{
    const uint64_t limit = find_number("/sys/fs/cgroup/memory.max", "%" SCNu64, UINT64_MAX);
    const uint64_t used = find_number("/sys/fs/cgroup/memory.current", "%" SCNu64, 0);
    const uint64_t cached = find_number("/sys/fs/cgroup/memory.stat", "inactive_file %" SCNu64, 0);
    const uint64_t held = used > cached ? used - cached : 0;

    if (limit == UINT64_MAX)
        return SIZE_MAX;
    return limit > held ? limit - held : 0;
}

size_t pp_host_available_bytes(void)
{
    const uint64_t machine = machine_bytes(), group = group_bytes();

    return machine < group ? machine : group;
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
