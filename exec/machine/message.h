/* exec/machine/message.h — a message between two workers of a replica: buffers, headers, progress.
 */
#pragma once

#include "exec/backend/backend.h"

#include <stdatomic.h>

struct pp_machine;
struct pp_worker;

/* What each side states about a message; both must be equal. */
struct pp_header {
    uint64_t program_hash, bytes;
    int32_t step, mb, sequence;
    uint16_t stage;
    uint8_t kind, split, granules;
};
struct pp_message_side {
    int32_t row; /* of the SEND or RECV, see worker.h */
    void *buffer;
    struct pp_header header;
};
struct pp_machine_message {
    struct pp_machine *machine;
    struct pp_message_side send, recv;
    atomic_int posts;  /* of this step */
    atomic_int landed; /* without shared memory: 1 for the match, 1 for the bytes */
    int32_t channel;   /* of this replica: index into `channel_ps` */
    int32_t launch;    /* its number on the stream of the channel */
    pp_event_id done;
    size_t bytes;
};

/* The worker posts its side. The second post matches both sides and moves the bytes. False: the
 * headers differ, or the step was cancelled. */
bool pp_message_post(struct pp_worker *w, int instruction);
bool pp_message_wait(struct pp_worker *w, int target);
/* The same for a worker of another process, which has posted there. */
bool pp_message_post_of(struct pp_worker *w, int instruction, const struct pp_header *header,
                        int64_t posted_ps);
/* Without shared memory: the last byte has been sent, or received. */
void pp_message_landed(struct pp_machine *m, struct pp_machine_message *message);
