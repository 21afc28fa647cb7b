/* exec/tcp/launch.h — without a launcher, process 0 starts all others by its own command line. */
#pragma once

#include "core/arena.h"
#include "exec/rendezvous/meeting.h"

struct pp_tcp_launched;
/* Starts processes 1 .. count - 1 on this host; *meeting is that of this process, number 0. They
 * end with it. PP_EFAIL when the system gives no more. */
enum pp_status pp_tcp_launch(struct pp_arena *arena, int count, struct pp_meeting *meeting,
                             struct pp_tcp_launched **launched, struct pp_error *err);
/* Waits for their end, and kills late ones. Adds their first message to *err, if the run has failed
 * (NULL: it has not). NULL launched: nothing. */
void pp_launched_end(struct pp_tcp_launched *launched, struct pp_error *err);
