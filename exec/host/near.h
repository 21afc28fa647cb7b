/* exec/host/near.h — keeps a process on the cores next to a device of the PCI bus. */
#pragma once

#include <stdbool.h>

/* Lets the calling thread, and threads that it starts later, run on the cores of the NUMA node of
 * device `pci`, "0000:1b:00.0". `sys` is the folder "/sys". False, without effect: the kernel names
 * no node for the device, or the thread is restricted to some cores already. */
bool pp_host_stay_near(const char *sys, const char *pci);
