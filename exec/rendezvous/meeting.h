/* exec/rendezvous/meeting.h — where the processes of a launched run meet. A place as text, in
 * torch.distributed's words:
 *
 *   tcp://HOST:PORT   at process 0, there
 *   file://PATH       a file that all of them see: process 0 listens at any free port and writes
 *                     where; the others wait for the file of their run, gone once all have met
 *
 * ?rank=R&world_size=N say who this process is, ?timeout=S how long it waits for the others. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { PP_RENDEZVOUS_S = 60 }; /* default time for all to come */
struct pp_meeting {
    int index, count; /* of this process; of all; count 0 or 1: no launcher */
    int local_index;  /* on its host, if the launcher tells it; else `index` */
    char host[128];   /* of process 0 */
    int port;
    bool is_listening; /* process 0 already listens at `listener`, for the whole run */
    int listener;
    int patience_s;   /* time for all to come; 0: PP_RENDEZVOUS_S */
    char path[512];   /* file with the address of process 0; "": none */
    uint64_t token;   /* id of the run, as far as the launcher tells one; 0: it does not */
    char source[128]; /* variables that gave index and count */
    /* Returns a process that process 0 has started and that has ended; 0: none has. NULL: others
     * have started them. */
    int (*look)(void *closure, siginfo_t *info);
    void *closure;
};
/* Finds the meeting in the environment, after core/process/launcher.h: torchrun, srun, mpirun (Open
 * MPI, PMI). `rendezvous` is its place as text; NULL: MASTER_ADDR, maybe such a text. PP_EINVAL
 * when nothing says where process 0 is. */
enum pp_status pp_meeting_find(const char *rendezvous, struct pp_meeting *meeting,
                               struct pp_error *err);
/* Why a process may run alone by mistake; "" if nothing says so. `choice`: the option that lets it
 * run alone whatever a launcher says, NULL = none. */
void pp_meeting_doubt(const char *choice, char *text, size_t bytes);
/* Why a meeting may be disturbed: its processes come over a network, and no id tells them from
 * other programs. Only process 0 says so; "" if nothing does. */
void pp_meeting_danger(const struct pp_meeting *meeting, char *text, size_t bytes);
/* Meeting of process 0 of `count` here, with its listener. Others are given its PIPEEXEC_RUN_ID. */
struct pp_meeting pp_meeting_here(int count, int listener);
/* Sets host and port, or path; index and count; patience_s. PP_EINVAL if the text is no place. */
enum pp_status pp_rendezvous_parse(const char *text, struct pp_meeting *meeting,
                                   struct pp_error *err);
/* Opens a meeting with a path. Process 0 writes the file, which is removed with the arena or when
 * all have met; others read where process 0 is. PP_EFAIL: it cannot be, or is not, written. */
enum pp_status pp_rendezvous_open(struct pp_arena *arena, struct pp_meeting *meeting,
                                  struct pp_error *err);
/* Removes the file, when all have met. */
void pp_rendezvous_done(const struct pp_meeting *meeting);
