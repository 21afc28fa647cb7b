/* exec/backend/backend.h — where work is executed: streams of work, ordered by events. One file per
 * backend; exec/machine is the same for all.
 *
 * Work on one stream runs in order. Streams run concurrently unless an event orders them. After
 * `wait`, all later work of a stream waits until the work that another one has `record`ed is over.
 * An event is recorded once a step. Only what a worker computes is bound to a thread of its own
 * (the worker's); any thread may enqueue on the other streams.
 *
 *   cpu    launch runs the work at once in the calling thread; wait blocks it
 *   cuda   launch gives work to a GPU. wait blocks the calling thread until the event is recorded,
 *          and the stream until it is over (exec/cuda/backend.h, in a module: exec/cuda/module.h)
 *   fake   every call is written down. pp_backend.finish runs the graph of events on host memory in
 *          an adversarial but legal order. Of two launches that no event orders, each comes before
 *          the other in one of `streams` steps, or first steps of consecutive seeds. Between these
 *          runs its memory is protected: only read and write can access it */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "kernels/kernels.h"

#include <stdbool.h>
#include <stdint.h>

/* Streams of a device, dense: see pp_machine in exec/machine/worker.h. */
typedef int32_t pp_stream_id;
typedef int32_t pp_event_id;
typedef void (*pp_backend_work)(const struct pp_kernels *kernels, void *stream, void *argument);

/* cuda: how workers share a GPU. One launch at a time, so that none disturbs the times of another.
 * Or concurrently, as they are issued. Or concurrently, each worker on multiprocessors of its own.
 */
enum pp_device_mode { PP_DEVICE_SERIAL, PP_DEVICE_STREAMS, PP_DEVICE_PARTITION };
struct pp_device_options {
    const struct pp_kernels *kernels;
    int streams, events;
    int workers; /* streams 0 .. workers - 1 are compute streams */
    int weights; /* streams weights .. weights + workers - 1 compute as well, each concurrently with
                    that of its worker and at a lower priority; 0: there are none */
    int worker;  /* the only one of them that gets work; -1: all may */
    int place;   /* cuda: index of this process on its host; it selects the GPU, modulo their number
                  */
    uint64_t seed; /* of orders that are drawn */
    enum pp_device_mode mode;
    int parts;        /* of a partitioned GPU; 0: as many as workers */
    bool is_mapped;   /* what alloc gives other processes may map, each block by itself */
    bool uses_graphs; /* may keep work: see keep */
    bool is_shared;   /* with processes that are forked later: so is the arena that open gets. Only
                       * where work is immediate */
};
/* The worker whose work a stream computes, -1: it moves data. */
static inline int pp_device_worker_of(const struct pp_device_options *options, pp_stream_id stream)
{
    if (options->weights > 0 && stream >= options->weights)
        return stream - options->weights;
    return stream < options->workers ? stream : -1;
}

struct pp_span {
    double start_s, end_s;
};
/* Work that a device keeps. */
struct pp_graph_stats {
    int count, left_out;       /* that are kept, and that could not be */
    int64_t kernels, launches; /* of all that are kept; of these, so far */
    const char *why_left;      /* the first reason for that, or NULL; the device's, as is */
    const char *why_not;       /* none is made; NULL: not requested, or some are */
};
struct pp_backend_device; /* of a backend */
struct pp_backend {
    const char *name, *summary;
    bool is_immediate; /* work has run when launch returns: durations can be measured around it */
    bool is_deferred;  /* nothing waits before finish: one thread issues all of a step */
    bool is_apart;     /* what alloc gives is not the host's: see read and write */
    const char *(*about)(void); /* its processor; NULL: that of the machine */
    enum pp_status (*open)(struct pp_arena *arena, const struct pp_device_options *options,
                           struct pp_backend_device **device, struct pp_error *err);
    void (*close)(struct pp_backend_device *device); /* accepts NULL */
    /* Memory of the device, 64-byte aligned; PP_EFAIL when there is not enough. */
    enum pp_status (*alloc)(struct pp_backend_device *device, size_t bytes, void **memory,
                            struct pp_error *err);
    /* How much of it is left. NULL: as much as the host has. */
    size_t (*available_bytes)(const struct pp_backend_device *device);
    /* A little memory, zeroed, that device and host see at one address. The host leaves alone what
     * work under way may touch. */
    enum pp_status (*alloc_shared)(struct pp_backend_device *device, size_t bytes, void **memory,
                                   struct pp_error *err);
    /* Where is_apart: from and to memory of the device, while no work is under way that touches it.
     * The bytes are there on return. */
    enum pp_status (*read)(struct pp_backend_device *device, const void *from, void *to,
                           size_t bytes, struct pp_error *err);
    enum pp_status (*write)(struct pp_backend_device *device, const void *from, void *to,
                            size_t bytes, struct pp_error *err);
    void (*launch)(struct pp_backend_device *device, pp_stream_id stream, pp_backend_work work,
                   void *argument);
    /* NULL, or: capture `work` as a graph with number `id` of this stream. `launch_graph` replays
     * the graph without calling the work; where there is no graph, it launches the work. The work
     * does the same to the device whenever it is called with this argument. Called between steps,
     * after a step in which it has run. With k >= 0 it is the k-th launch of the stream in every
     * step, and records timing events. With -1 it records none. */
    void (*capture)(struct pp_backend_device *device, pp_stream_id stream, int id, int k,
                    pp_backend_work work, void *argument);
    void (*launch_graph)(struct pp_backend_device *device, pp_stream_id stream, int id,
                         pp_backend_work work, void *argument);
    void (*graph_stats)(const struct pp_backend_device *device, struct pp_graph_stats *stats);
    /* Work of the host's, once all that the stream was given before is over: by the caller, who
     * waits for it, or in finish. It may read and write. */
    void (*host)(struct pp_backend_device *device, pp_stream_id stream, pp_backend_work work,
                 void *argument);
    void (*record)(struct pp_backend_device *device, pp_stream_id stream, pp_event_id event);
    /* False: the step was cancelled, give up. */
    bool (*wait)(struct pp_backend_device *device, pp_stream_id stream, pp_event_id event);
    /* Before every step: all events are unrecorded again. Nothing runs. */
    void (*begin)(struct pp_backend_device *device);
    /* Once all threads have issued their work: run what has not run. PP_EFAIL with what waits for
     * what when events order it in a circle or one was never recorded, or when the step was
     * cancelled. */
    enum pp_status (*finish)(struct pp_backend_device *device, struct pp_error *err);
    /* From any thread: every wait returns false from now on until the next begin. */
    void (*cancel)(struct pp_backend_device *device);
    /* NULL, or, from any thread: how many launches of this step have run, as far as that can be
     * seen now. */
    int64_t (*passed)(struct pp_backend_device *device);
    /* Not immediate: when the k-th launch of this step on a stream has run, in seconds since begin;
     * NAN when it has not. NULL when immediate. */
    struct pp_span (*span)(const struct pp_backend_device *device, pp_stream_id stream, int k);
    /* NULL if the thread of the work sees when it runs. Otherwise it records a timing event on the
     * `stream` of the running work. The time is that of the j-th event of the k-th launch, like
     * span. */
    void (*record_timing)(void *stream);
    double (*timing_s)(const struct pp_backend_device *device, pp_stream_id stream, int k, int j);
};
extern const struct pp_backend pp_backend_cpu, pp_backend_fake;
