/* exec/rendezvous/url.h — where processes meet, as text, in torch.distributed's words:
 *
 *   tcp://HOST:PORT   at process 0, there
 *   file://PATH       a file that all of them see: process 0 listens at any free port and writes
 *                     where; the others wait for the file of their run. It is gone once all have
 * met
 *
 * ?rank=R&world_size=N say who this process is, ?timeout=S how long it waits for the others. */
#pragma once

#include "core/arena.h"
#include "exec/rendezvous/meeting.h"

enum { PP_RENDEZVOUS_S = 60 }; /* for all to come, unless told otherwise */

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
