/* What NCCL needs to be told where processes share a GPU. */
#define _GNU_SOURCE /* setenv */
#include "exec/nccl.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name, *value;
    bool is_for_one_host;
} settings[] = {
    /* On one device messages can only go over the host: of its networks, the plain one. */
    {"NCCL_NET", "Socket", false},
    {"NCCL_IB_DISABLE", "1", false},
    /* Found by itself only where there is no other. */
    {"NCCL_SOCKET_IFNAME", "lo", true},
    /* Sums by switches take memory of the device for each communicator. */
    {"NCCL_NVLS_ENABLE", "0", false},
    /* A receive that waits holds up whatever shares its hardware queue: as many as there are. */
    {"CUDA_DEVICE_MAX_CONNECTIONS", "32", false},
};

void pp_nccl_share_device(int process, bool is_one_host)
{
    char host[32];

    /* NCCL refuses two members with one device on one host; so each process is a host of its own,
     * and no process reaches for another's memory. */
    snprintf(host, sizeof host, "pipeexec-%d", process);
    setenv("NCCL_HOSTID", host, 1);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (is_one_host || !settings[i].is_for_one_host)
            setenv(settings[i].name, settings[i].value, 0);
}
