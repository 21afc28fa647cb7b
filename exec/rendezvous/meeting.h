/* exec/rendezvous/meeting.h — where the processes of a run meet that a launcher has started. */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pp_meeting {
    int index, count; /* of this process; of all; count 0 or 1: no launcher */
    int local_index;  /* among those of this host, as far as the launcher says; else of all */
    char host[128];   /* of process 0 */
    int port;
    bool is_listening; /* process 0 does already, at `listener`, for the rest of the run */
    int listener;
    int patience_s;   /* for all to come; 0: the usual */
    char path[512];   /* of a file that says where process 0 is; "": none */
    uint64_t token;   /* the same in all processes of a run, another one in other runs, as far as
                       * the launcher says; 0: it says nothing */
    char source[128]; /* the variables that said so */
    /* PP_EFAIL: one that process 0 has started itself has ended. NULL: others have started them. */
    enum pp_status (*look)(void *closure, struct pp_error *err);
    void *closure;
};
/* From the environment, after core/process/launcher.h: torchrun, srun, mpirun (Open MPI, PMI).
 * `rendezvous` (exec/rendezvous/url.h; NULL: MASTER_ADDR, which may say the same) says where.
 * PP_EINVAL when nothing says where process 0 is. */
enum pp_status pp_meeting_find(const char *rendezvous, struct pp_meeting *meeting,
                               struct pp_error *err);
/* Of a process that runs alone, though others may have been meant to take part: why not, "" where
 * nothing says so. `choice`: the option that lets it run alone whatever a launcher says, NULL =
 * none. */
void pp_meeting_doubt(const char *choice, char *text, size_t bytes);
/* Of process 0 of `count` on this host, which listens already, all others being started with
 * PIPEEXEC_RUN_ID as it is set here. */
struct pp_meeting pp_meeting_here(int count, int listener);
