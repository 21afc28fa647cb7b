/* A process stays on the cores next to a device, as files like those of Linux name them. */
#define _GNU_SOURCE /* CPU_SET */
#include "core/process/pool.h"
#include "exec/host/host.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char PCI[] = "0000:1b:00.0";
static char sys[] = "/tmp/test_near_XXXXXX";

/* Writes sys/PATH, with the folders on the way. */
static void put(const char *path, const char *text)
{
    char all[256];

    snprintf(all, sizeof all, "%s/%s", sys, path);
    for (char *at = all + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            mkdir(all, 0700);
            *at = '/';
        }
    FILE *file = fopen(all, "w");
    cr_assert(file && fputs(text, file) >= 0);
    fclose(file);
}

static void put_machine(const char *node, const char *cores)
{
    put("bus/pci/devices/0000:1b:00.0/numa_node", node);
    put("devices/system/node/node1/cpulist", cores);
}

/* Tests need two cores, and all of the machine's. */
static void begin(void)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || pp_pool_cores() < sysconf(_SC_NPROCESSORS_ONLN))
        cr_skip_test("the process is restricted to some cores");
    cr_assert(mkdtemp(sys));
}

static void end(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", sys);
    cr_assert_eq(system(command), 0);
}

static bool has_core(int core)
{
    cpu_set_t own;

    return sched_getaffinity(0, sizeof own, &own) == 0 && CPU_ISSET((size_t)core, &own);
}

Test(near, the_cores_of_the_node, .init = begin, .fini = end)
{
    put_machine("1\n",
                "1,100000-100001\n"); /* those that this machine does not have are left out */
    cr_assert(pp_host_stay_near(sys, PCI));
    cr_assert(pp_pool_cores() == 1 && has_core(1) && !has_core(0));
    put_machine("1\n", "0\n");
    cr_assert_not(pp_host_stay_near(sys, PCI), "a restricted process");
    cr_assert(has_core(1) && !has_core(0));
}

Test(near, a_range_of_cores, .init = begin, .fini = end)
{
    put_machine("1\n", "0-1\n");
    cr_assert(pp_host_stay_near(sys, PCI));
    cr_assert(pp_pool_cores() == 2 && has_core(0) && has_core(1));
}

Test(near, nothing_is_known, .init = begin, .fini = end)
{
    static const char *const cases[][2] = {{"-1\n", "0\n"},    {"\n", "0\n"},    {"1\n", "\n"},
                                           {"1\n", "x\n"},     {"1\n", "0-x\n"}, {"2\n", "0\n"},
                                           {"1\n", "100000\n"}};
    const int cores = pp_pool_cores();

    cr_assert_not(pp_host_stay_near(sys, PCI), "no files");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_machine(cases[i][0], cases[i][1]);
        cr_assert_not(pp_host_stay_near(sys, PCI), "case %zu", i);
        cr_assert_eq(pp_pool_cores(), cores);
    }
}
