/* Cores of a NUMA node, by the files of Linux: bus/pci/devices/PCI/numa_node has the number of a
 * node or -1, and devices/system/node/nodeN/cpulist its cores, "0-15,32-47". */
#define _GNU_SOURCE /* CPU_SET */
#include "exec/host/host.h"

#include <ctype.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool read_line(const char *path, char *line, int bytes)
{
    FILE *file = fopen(path, "re");
    const bool has_read = file && fgets(line, bytes, file);

    if (file)
        fclose(file);
    return has_read;
}

/* Reads a list of cores. Those that a cpu_set_t cannot hold are left out. */
static bool read_cores(const char *list, cpu_set_t *cores)
{
    CPU_ZERO(cores);
    while (isdigit((unsigned char)*list)) {
        char *end;
        long core = strtol(list, &end, 10), last = core;

        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (; core <= last && core < CPU_SETSIZE; core++)
            CPU_SET((size_t)core, cores);
        list = *end == ',' ? end + 1 : end;
    }
    return (*list == '\n' || *list == '\0') && CPU_COUNT(cores) > 0;
}

/* True if the thread may use every core that is online. */
static bool is_free(void)
{
    cpu_set_t own;

    return sched_getaffinity(0, sizeof own, &own) == 0 &&
           CPU_COUNT(&own) >= sysconf(_SC_NPROCESSORS_ONLN);
}

bool pp_host_stay_near(const char *sys, const char *pci)
{
    char path[PATH_MAX], line[4096], *end;
    cpu_set_t cores;

    snprintf(path, sizeof path, "%s/bus/pci/devices/%s/numa_node", sys, pci);
    if (!is_free() || !read_line(path, line, sizeof line))
        return false;
    const long node = strtol(line, &end, 10);
    snprintf(path, sizeof path, "%s/devices/system/node/node%ld/cpulist", sys, node);
    return end != line && node >= 0 && read_line(path, line, sizeof line) &&
           read_cores(line, &cores) && sched_setaffinity(0, sizeof cores, &cores) == 0;
}
