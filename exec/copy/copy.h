/* exec/copy/copy.h — copies between memory tiers. A worker posts each on one of its copy streams:
 * down, up, or the host's work. It begins when the copies before it on that stream, and on the one
 * that pp_move_after() names, have ended.
 *
 * On the virtual clock an immediate backend runs a copy when it is posted, and it lasts as the
 * costs say. On the wall clock each stream has a thread. An asynchronous backend has streams. */
#pragma once

#include "exec/worker/worker.h"

/* Streams and events of all copies; 0 without any. */
int pp_copy_streams(const struct pp_machine *m);
int pp_copy_events(const struct pp_machine *m);

/* Binds all copies to their bytes, after memory is placed. PP_EFAIL: there is not enough memory for
 * the buffers of a file. */
enum pp_status pp_copies_bind(struct pp_machine *m, struct pp_error *err);
/* Begins a step of this process. PP_EFAIL: the device does not answer. */
enum pp_status pp_copies_begin(struct pp_machine *m, struct pp_error *err);

/* Start and end the threads of a worker, in its process. */
void pp_copiers_start(struct pp_worker *w);
void pp_copiers_stop(struct pp_worker *w);

/* Posts COPY or MOVE i; waits for one that has been posted. False: a worker has failed. */
bool pp_copy_post(struct pp_worker *w, int instruction);
bool pp_copy_wait(struct pp_worker *w, int target);
