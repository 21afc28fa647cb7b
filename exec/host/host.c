/* Cores, memory and CPU clocks, as the kernel reports them. */
#define _GNU_SOURCE /* CPU_COUNT */
#include "exec/host/host.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Returns all online cores if the machine has more than a cpu_set_t holds, which is an error. */
int pp_host_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

struct group_files {
    const char *limit, *used, *cached; /* `cached`: a line of memory.stat */
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Number that `format` finds in the first matching line; `otherwise` without one. */
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

/* Bytes that the control group of a folder leaves; SIZE_MAX without a limit or its files. Cached
 * file pages count as used there, but are freed on demand. */
static uint64_t folder_bytes(const char *folder, const struct group_files *files)
{
    char path[3][PATH_MAX];

    snprintf(path[0], sizeof path[0], "%s/%s", folder, files->limit);
    snprintf(path[1], sizeof path[1], "%s/%s", folder, files->used);
    snprintf(path[2], sizeof path[2], "%s/memory.stat", folder);
    const uint64_t limit = find_number(path[0], "%" SCNu64, UINT64_MAX),
                   used = find_number(path[1], "%" SCNu64, 0),
                   cached = find_number(path[2], files->cached, 0),
                   held = used > cached ? used - cached : 0;
    if (limit == UINT64_MAX)
        return SIZE_MAX;
    return limit > held ? limit - held : 0;
}

/* Bytes left by this process's group and by the root, which a container sees as its own. A line of
 * /proc/self/cgroup is number:controllers:path; version 2 names no controllers. */
static uint64_t group_bytes(void)
{
    static const struct group_files V1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                          "total_inactive_file %" SCNu64},
                                    V2 = {"memory.max", "memory.current", "inactive_file %" SCNu64};
    uint64_t least =
        smaller(folder_bytes("/sys/fs/cgroup", &V2), folder_bytes("/sys/fs/cgroup/memory", &V1));
    char line[PATH_MAX / 2], path[PATH_MAX / 2], folder[PATH_MAX];
    FILE *file = fopen("/proc/self/cgroup", "re");

    while (file && fgets(line, sizeof line, file)) {
        const bool is_v1 = strstr(line, ":memory:") != NULL;
        if (sscanf(line, is_v1 ? "%*d:memory:%2047[^\n]" : "0::%2047[^\n]", path) != 1)
            continue;
        snprintf(folder, sizeof folder, "/sys/fs/cgroup%s%s", is_v1 ? "/memory" : "", path);
        least = smaller(least, folder_bytes(folder, is_v1 ? &V1 : &V2));
    }
    if (file)
        fclose(file);
    return least;
}

/* Bytes of ulimit -v, less those that the process has mapped. */
static uint64_t limit_bytes(void)
{
    const uint64_t mapped =
        find_number("/proc/self/statm", "%" SCNu64, 0) * (uint64_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

size_t pp_host_available_bytes(void)
{
    return smaller(machine_bytes(), smaller(group_bytes(), limit_bytes()));
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
