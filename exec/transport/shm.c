/* One process for each worker, forked from this one; what they share was mapped before. */
#include "exec/transport/parts.h"
#include "exec/transport/transports.h"

#include <unistd.h>

static void child_main(struct pp_worker *w)
{
    pp_worker_serve(w);
    _exit(PP_OK);
}

static enum pp_status shm_start(struct pp_machine *m, struct pp_error *err)
{
    return pp_processes_start(m, child_main, err);
}

const struct pp_transport pp_transport_shm = {
    .name = "shm",
    .summary = "processes of this machine, on memory that they share",
    .worker = "process",
    .workers = "processes",
    .is_shared = true,
    .start = shm_start,
    .check = pp_processes_check,
    .kill = pp_processes_kill,
    .stop = pp_processes_reap,
};
