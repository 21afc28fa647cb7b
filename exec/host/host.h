/* exec/host/host.h — cores, free memory and CPU time of this machine. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Cores that this process may use; at least 1. */
int pp_host_cores(void);
/* Memory that can be taken without swapping. It is the kernel's estimate, or a lower limit of the
 * control group (versions 1 and 2) or the address space (ulimit -v). SIZE_MAX if unknown. */
size_t pp_host_available_bytes(void);
/* CPU time of the calling thread. */
int64_t pp_host_thread_ns(void);
double pp_host_thread_s(void);
