/* exec/machine/message.h — a message between two workers of a replica. */
#pragma once

#include "exec/backend/backend.h"

#include <stdatomic.h>

struct pp_machine;
struct pp_worker;

/* Description of a message by one side; both must be equal. */
struct pp_header {
    uint64_t program_hash, bytes;
    int32_t step, mb, sequence;
    uint16_t stage;
    uint8_t kind, split, granules;
};
struct pp_message_side {
    int32_t row; /* row of the SEND or RECV, see worker.h */
    void *buffer;
    struct pp_header header;
};
struct pp_machine_message {
    struct pp_machine *machine;
    struct pp_message_side send, recv;
    atomic_int posts;  /* sides posted in this step */
    atomic_int landed; /* without shared memory: 1 for the match, 1 for the bytes */
    int32_t channel;   /* index into `channel_ps` */
    int32_t launch;    /* number on the stream of the channel */
    pp_event_id done;
    size_t bytes;
};

/* Posts the worker's side. The second post matches both sides and moves the bytes. False: the
 * headers differ, or the step was cancelled. */
bool pp_message_post(struct pp_worker *w, int instruction);
bool pp_message_wait(struct pp_worker *w, int target);
/* Posts the side of a worker in another process, with that process's header and time. */
bool pp_message_post_of(struct pp_worker *w, int instruction, const struct pp_header *header,
                        int64_t posted_ps);
/* Without shared memory: notes the match, or the last byte. The second call ends the message. */
void pp_message_landed(struct pp_machine *m, struct pp_machine_message *message);
