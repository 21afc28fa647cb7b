#include "core/free_memory.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "free-memory-XXXXXX";

static void make_root(void)
{
    cr_assert(mkdtemp(root));
}

static void write_file(const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void remove_root(void)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -r %s", root);
    cr_assert_eq(system(command), 0);
}

TestSuite(free_memory, .init = make_root, .fini = remove_root);

Test(free_memory, a_system_that_says_nothing_has_no_bound)
{
    cr_assert_eq(pp_free_memory_below(root), SIZE_MAX);
}

Test(free_memory, the_kernel_says_what_is_available)
{
    write_file("proc/meminfo", "MemTotal:  9000 kB\nMemFree:  100 kB\nMemAvailable:  5000 kB\n");
    cr_assert_eq(pp_free_memory_below(root), 5000 * 1024);
    write_file("proc/self/cgroup", "0::/\nnonsense\n7:memory\n");
    cr_assert_eq(pp_free_memory_below(root), 5000 * 1024);
}

/* The limit of a group around that of the process binds, too; pages of files do not count. */
Test(free_memory, control_groups_of_version_2)
{
    write_file("proc/meminfo", "MemAvailable:  5000 kB\n");
    write_file("proc/self/cgroup", "0::/jobs/one\n");
    write_file("sys/fs/cgroup/jobs/one/memory.max", "max\n");
    write_file("sys/fs/cgroup/jobs/one/memory.current", "10\n");
    cr_assert_eq(pp_free_memory_below(root), 5000 * 1024);
    write_file("sys/fs/cgroup/jobs/memory.max", "1000000\n");
    write_file("sys/fs/cgroup/jobs/memory.current", "900000\n");
    write_file("sys/fs/cgroup/jobs/memory.stat", "anon 7\ninactive_file 50000\n");
    cr_assert_eq(pp_free_memory_below(root), 150000);
    write_file("sys/fs/cgroup/jobs/memory.current", "1900000\n");
    cr_assert_eq(pp_free_memory_below(root), 0);
}

/* In a container the group is out of sight, and its numbers are those of the root. */
Test(free_memory, control_groups_of_version_1)
{
    write_file("proc/self/cgroup", "8:pids:/\n4:memory:/docker/abc\n0::/\n");
    write_file("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
    write_file("sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n");
    cr_assert_eq(pp_free_memory_below(root), 1500000);
}
