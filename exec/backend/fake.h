/* exec/backend/fake.h — private to exec/backend/fake*.c: calls of a step, and their progress. */
#pragma once

#include "core/arena.h"
#include "exec/backend/backend.h"

#include <stdatomic.h>

enum node_kind { NODE_LAUNCH, NODE_RECORD, NODE_WAIT };
struct fake_node {
    enum node_kind kind;
    pp_event_id event;    /* of RECORD and WAIT */
    uint64_t issued;      /* number among all nodes of the step, in order of issue */
    pp_backend_work work; /* of LAUNCH */
    void *argument;
};

enum { NO_STREAM = -1 };
struct fake_stream {
    struct fake_node *nodes; /* of this step, in order */
    int count, capacity;
    int head;                  /* first that is not over */
    pp_stream_id next_waiting; /* next stream that waits for the same event */
    struct pp_span *spans;     /* [launch] NAN until it has run */
    int launches, span_capacity, launches_over;
};
struct fake_event {
    pp_stream_id recorder; /* NO_STREAM: none in this step */
    bool is_over;
    pp_stream_id first_waiting;
};

/* Pages that the host can touch only while work runs, or in read and write. */
struct fake_block {
    void *memory;
    size_t bytes;
};
struct pp_backend_device {
    struct pp_device_options options;
    struct pp_arena *arena; /* of the lists, which keep their size between steps */
    struct fake_stream *streams;
    struct fake_event *events;
    uint64_t issued;
    pp_event_id twice; /* event recorded twice, by both streams; NO_STREAM: none */
    pp_stream_id twice_streams[2];
    atomic_bool is_cancelled;
    struct fake_block *blocks;
    int block_count, block_capacity;
    int opened; /* number of opens; blocks can be touched if above 0 */

    /* State of finish. */
    uint64_t step;
    double ran_s;           /* time of the launches of this step */
    uint64_t random, drawn; /* stream of random numbers; numbers taken */
    pp_stream_id *ready;    /* streams whose head is a launch */
    int ready_count;
    pp_stream_id last; /* stream of the last launch */
};

static inline bool is_compute(const struct pp_backend_device *d, pp_stream_id s)
{
    return pp_device_worker_of(&d->options, s) >= 0;
}

/* fake_memory.c */
enum pp_status pp_fake_alloc(struct pp_backend_device *device, size_t bytes, void **memory,
                             struct pp_error *err);
void pp_fake_free_all(struct pp_backend_device *device);
void pp_fake_open_memory(struct pp_backend_device *device);
void pp_fake_shut_memory(struct pp_backend_device *device);

/* Runs the lists in the order of this step: see fake_run.c. */
enum pp_status pp_fake_run(struct pp_backend_device *device, struct pp_error *err);
