/* exec/transport.h — where the workers of a program run, and how they reach each other. One file per
 * transport; the lists, their messages and their times are the same for all.
 *
 *   local   threads of this process
 *   shm     processes forked by this one, on memory that they share: nothing has a name in any file
 *           system, so nothing is left behind, however a process ends */
#ifndef PP_EXEC_TRANSPORT_H
#define PP_EXEC_TRANSPORT_H

#include "core/error.h"

#include <stdbool.h>

struct pp_machine;
struct pp_transport {
    const char *name, *summary;
    const char *worker, *workers; /* what a worker is, and several: "thread", "threads" */
    bool is_shared;               /* the machine and its blocks lie in memory that is shared */
    /* Start all workers: each runs pp_worker_serve. PP_EFAIL when the system gives no more. */
    enum pp_status (*start)(struct pp_machine *machine, struct pp_error *err);
    /* Where workers are processes, else NULL. check, every few milliseconds: PP_EFAIL says which one
     * has died, and that it was the first; all others have been killed then. kill: all of them. */
    enum pp_status (*check)(struct pp_machine *machine, struct pp_error *err);
    void (*kill)(struct pp_machine *machine);
    /* They have been told to end: wait until they have. Also after a start that failed. */
    void (*stop)(struct pp_machine *machine);
};
extern const struct pp_transport pp_transport_local, pp_transport_shm;

#endif
