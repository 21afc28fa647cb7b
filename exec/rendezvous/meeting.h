/* exec/rendezvous/meeting.h — where the processes of a run meet that a launcher has started. A
 * place as text, in torch.distributed's words:
 *
 *   tcp://HOST:PORT   at process 0, there
 *   file://PATH       a file that all of them see: process 0 listens at any free port and writes
 *                     where; the others wait for the file of their run. It is gone once all have
 *                     met
 *
 * ?rank=R&world_size=N say who this process is, ?timeout=S how long it waits for the others. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { PP_RENDEZVOUS_S = 60 }; /* for all to come, unless told otherwise */
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
 * `rendezvous` (a place as text; NULL: MASTER_ADDR, which may say the same) says where. PP_EINVAL
 * when nothing says where process 0 is. */
enum pp_status pp_meeting_find(const char *rendezvous, struct pp_meeting *meeting,
                               struct pp_error *err);
/* Of a process that runs alone, though others may have been meant to take part: why not, "" where
 * nothing says so. `choice`: the option that lets it run alone whatever a launcher says, NULL =
 * none. */
void pp_meeting_doubt(const char *choice, char *text, size_t bytes);
/* Of process 0 of `count` on this host, which listens already, all others being started with
 * PIPEEXEC_RUN_ID as it is set here. */
struct pp_meeting pp_meeting_here(int count, int listener);
/* Sets what the text says: host and port, or path; index and count; patience_s. PP_EINVAL when it
 * is none. */
enum pp_status pp_rendezvous_parse(const char *text, struct pp_meeting *meeting,
                                   struct pp_error *err);
/* Of a meeting with a path: process 0 writes the file, which is removed with the arena or when all
 * have met. All others read from it where process 0 is. PP_EFAIL: it cannot be written, or no
 * process has written it. */
enum pp_status pp_rendezvous_open(struct pp_arena *arena, struct pp_meeting *meeting,
                                  struct pp_error *err);
/* All have met: the file is of no use any more. */
void pp_rendezvous_done(const struct pp_meeting *meeting);
