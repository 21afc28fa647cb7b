/* Who shares a GPU: by where it is, not by what a process calls it. */
#define _GNU_SOURCE /* setenv */
#include "exec/nccl/nccl.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const struct pp_nccl_place APART[] = {{"a", "0000:01:00.0"}, {"a", "0000:02:00.0"}};
static const struct pp_nccl_place FAR[] = {{"a", "0000:01:00.0"}, {"b", "0000:01:00.0"}};
static const struct pp_nccl_place SHARED[] = {
    {"a", "0000:01:00.0"}, {"a", "0000:02:00.0"}, {"a", "0000:01:00.0"}};
static const struct pp_nccl_place BOTH[] = {
    {"b", "0000:01:00.0"}, {"a", "0000:02:00.0"}, {"a", "0000:02:00.0"}};

static void is(const char *name, const char *due)
{
    const char *value = getenv(name);

    cr_assert(due ? value && strcmp(value, due) == 0 : !value, "%s=%s", name, value);
}

Test(nccl_places, a_gpu_each_is_none_of_nccls_business)
{
    pp_nccl_prepare(APART, 2, 1);
    pp_nccl_prepare(FAR, 2, 1);
    is("NCCL_HOSTID", NULL);
    is("NCCL_NET", NULL);
}

Test(nccl_places, all_are_told_of_two_that_share)
{
    setenv("NCCL_HOSTID", "mine", 1);
    setenv("NCCL_NVLS_ENABLE", "1", 1);
    pp_nccl_prepare(SHARED, 3, 1);
    is("NCCL_HOSTID", "pipeexec-1");
    is("NCCL_NET", "Socket");
    is("NCCL_SOCKET_IFNAME", "lo");
    is("NCCL_NVLS_ENABLE", "1");
}

Test(nccl_places, on_several_hosts_the_network_is_nccls_choice)
{
    pp_nccl_prepare(BOTH, 3, 0);
    is("NCCL_HOSTID", "pipeexec-0");
    is("NCCL_SOCKET_IFNAME", NULL);
}

Test(nccl_places, what_is_set_already_stays)
{
    unsetenv("NCCL_RUNTIME_CONNECT");
    pp_nccl_connect_early();
    is("NCCL_RUNTIME_CONNECT", "0");
    setenv("NCCL_RUNTIME_CONNECT", "1", 1);
    pp_nccl_connect_early();
    is("NCCL_RUNTIME_CONNECT", "1");
}

Test(nccl_places, this_host_has_one_name)
{
    struct pp_nccl_place one, two;

    pp_nccl_find_host(&one);
    pp_nccl_find_host(&two);
    cr_assert(strlen(one.host) > 0 && strcmp(one.host, two.host) == 0);
}
