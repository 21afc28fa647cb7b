/* Environment variables of NCCL: always, and if processes share a GPU. */
#define _GNU_SOURCE /* setenv, gethostname */
#include "exec/nccl/nccl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *value;
    bool is_for_one_host;
} settings[] = {
    /* On one device messages must use the host: its plain network. */
    {"NCCL_NET", "Socket", false},
    {"NCCL_IB_DISABLE", "1", false},
    /* NCCL finds it only if there is no other. */
    {"NCCL_SOCKET_IFNAME", "lo", true},
    /* Sums by switches take device memory for each communicator. */
    {"NCCL_NVLS_ENABLE", "0", false},
};

/* Since 2.22 NCCL connects an algorithm of a sum at its first use. It chooses by size, so a small
 * sum connects nothing for a large one. Connecting blocks the hosts of all members. Two processes
 * that reach the sums of two groups in different orders would therefore deadlock. */
void pp_nccl_connect_early(void)
{
    setenv("NCCL_RUNTIME_CONNECT", "0", 0);
}

void pp_nccl_share_device(int process, bool is_one_host)
{
    char host[32];

    /* NCCL refuses two members with one device on one host. So each process gets a host name of its
     * own, and none accesses another's memory. */
    snprintf(host, sizeof host, "pipeexec-%d", process);
    setenv("NCCL_HOSTID", host, 1);
    for (size_t i = 0; i < PP_COUNT(settings); i++)
        if (is_one_host || !settings[i].is_for_one_host)
            setenv(settings[i].name, settings[i].value, 0);
}

/* The boot id of the kernel, which containers share; without it, the name of the host. */
void pp_nccl_find_host(struct pp_nccl_place *place)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    memset(place->host, 0, sizeof place->host);
    if (!file || fscanf(file, "%63s", place->host) != 1)
        gethostname(place->host, sizeof place->host - 1);
    if (file)
        fclose(file);
}

/* All processes set variables, or none: two on different networks do not find each other. */
void pp_nccl_prepare(const struct pp_nccl_place *places, int count, int process)
{
    bool is_shared = false, is_one_host = true;

    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) {
            const bool is_same = !strncmp(places[a].host, places[b].host, sizeof places[a].host);

            is_one_host &= is_same;
            is_shared |= is_same && !strncmp(places[a].gpu, places[b].gpu, sizeof places[a].gpu);
        }
    if (is_shared)
        pp_nccl_share_device(process, is_one_host);
}
