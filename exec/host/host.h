/* exec/host/host.h — free memory, CPU time and cores of this machine. */
#pragma once

#include "core/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that can be taken without swapping: pp_free_memory_bytes(), or a lower limit of the
 * address space (ulimit -v). SIZE_MAX if unknown. */
size_t pp_host_available_bytes(void);
/* Most threads that the kernel runs at once; INT_MAX if unknown. */
int pp_host_most_threads(void);
/* CPU time of the calling thread. */
int64_t pp_host_thread_ns(void);
double pp_host_thread_s(void);

/* Lets the calling thread, and threads that it starts later, run on the cores of the NUMA node of
 * device `pci`, "0000:1b:00.0". `sys` is the folder "/sys". False, without effect: the kernel names
 * no node for the device, or the thread is restricted to some cores already. */
bool pp_host_stay_near(const char *sys, const char *pci);

/* Reserves addresses for as long as the arena lives; any access to them is a fault. NULL: no
 * addresses are left (ulimit -v). */
void *pp_host_reserve(struct pp_arena *arena, size_t bytes);
/* Gives memory to the first `bytes`, in whole pages that are zero at first; what has memory keeps
 * it. False: there is not enough. */
bool pp_host_commit(void *reserved, size_t bytes);
/* Takes it back. */
void pp_host_release(void *reserved, size_t bytes);
