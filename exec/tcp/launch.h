/* exec/tcp/launch.h — processes of a run that no launcher has started: the first one starts all
 * others, as torchrun does, with its own command line. */
#pragma once

#include "core/arena.h"
#include "exec/rendezvous/meeting.h"

struct pp_tcp_launched;
/* Start processes 1 .. count - 1 on this host; this one is process 0 and has its meeting. They end
 * with it. PP_EFAIL when the system gives no more. */
enum pp_status pp_tcp_launch(struct pp_arena *arena, int count, struct pp_meeting *meeting,
                             struct pp_tcp_launched **launched, struct pp_error *err);
/* Wait until they have ended; who does not is killed. NULL launched: nothing. Of a run that has
 * failed with *err (NULL: it has not), what they have said of it is added. */
void pp_launched_end(struct pp_tcp_launched *launched, struct pp_error *err);
