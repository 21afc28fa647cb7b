/* exec/transport/transports.h — the transports that there are, one file each.
 *
 *   local   threads of this process
 *   shm     processes forked by this one, on memory that they share. Nothing has a name in a file
 *           system, so nothing is left over, however a process ends
 *   tcp     processes that this one forks, or that a launcher starts on any number of hosts. They
 *           send each other what others must know
 *   nccl    as tcp, but each process has a GPU, and messages and sums go by NCCL
 *   ipc     as nccl on one host: each process maps the GPU memory of others, and copies
 *   ipc_nccl   messages as ipc, sums as nccl */
#pragma once

#include "exec/worker/transport.h"

extern const struct pp_transport pp_transport_local, pp_transport_shm, pp_transport_tcp,
    pp_transport_nccl, pp_transport_ipc, pp_transport_ipc_nccl;
