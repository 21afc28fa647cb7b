/* exec/backend/backend.h — where work is executed: streams of work, ordered by events. One file per
 * backend; exec/machine is the same for all.
 *
 * Work on one stream runs in order. Streams run concurrently unless an event orders them. After
 * `wait`, later work of a stream waits until the work before another stream's `record` is over. An
 * event is recorded once a step. Only a worker's compute is bound to one thread (the worker's); any
 * thread may enqueue on the other streams.
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

/* Dense numbers of a device's streams: see exec/worker/worker.h. */
typedef int32_t pp_stream_id;
typedef int32_t pp_event_id;
typedef void (*pp_backend_work)(const struct pp_kernels *kernels, void *stream, void *argument);

/* cuda: how workers share a GPU. One launch at a time, so that times are undisturbed; or
 * concurrently; or concurrently, each worker on multiprocessors of its own. */
enum pp_device_mode { PP_DEVICE_SERIAL, PP_DEVICE_STREAMS, PP_DEVICE_PARTITION };
struct pp_device_options {
    const struct pp_kernels *kernels;
    int streams, events;
    int workers;   /* streams 0 .. workers - 1 are compute streams */
    int weights;   /* streams weights .. weights + workers - 1 compute as well, concurrently with
                      their workers' streams and at a lower priority; 0: none */
    int worker;    /* the only worker that gets work; -1: all may */
    int place;     /* cuda: the process's index on its host; modulo their number, its GPU */
    uint64_t seed; /* of drawn orders */
    enum pp_device_mode mode;
    int parts;        /* of a partitioned GPU; 0: one per worker */
    int left_free;    /* multiprocessors that multiplications leave to others, at most half */
    bool is_mapped;   /* other processes may map memory of alloc, each block by itself */
    bool uses_graphs; /* may capture graphs: see capture */
    bool is_shared;   /* with processes forked later, as is open's arena; immediate backends only */
};
/* Worker whose work a stream computes; -1: the stream moves data. */
static inline int pp_device_worker_of(const struct pp_device_options *options, pp_stream_id stream)
{
    if (options->weights > 0 && stream >= options->weights)
        return stream - options->weights;
    return stream < options->workers ? stream : -1;
}

struct pp_span {
    double start_s, end_s;
};
/* Graphs that a device has captured. */
struct pp_graph_stats {
    int count, left_out;       /* captured; refused */
    int64_t kernels, launches; /* in all graphs; of graphs, so far */
    const char *why_left;      /* first reason for a refusal, or NULL; the device's text */
    const char *why_not;       /* why there are none; NULL: some, or not requested */
};
/* Work of the last step that a library refused, so that slower kernels of the project did it. Plain
 * bytes, which processes send each other; texts end with 0, and are empty if there is none. */
struct pp_fallbacks {
    int64_t gemms;       /* multiplications of the step */
    int64_t own;         /* of them, by own kernels: about a hundredth as fast */
    int64_t finished;    /* of them, products of the library that an own kernel completes */
    int64_t refused;     /* forms of multiplications that the library has refused in the run */
    char first[160];     /* the first of them, and the reason */
    char attention[160]; /* what has computed attention so far */
};
struct pp_backend_device; /* each backend's own */
struct pp_backend {
    const char *name;
    bool is_immediate; /* work has run when launch returns, and can be timed; else asynchronous */
    bool is_deferred;  /* only finish waits: one thread issues a whole step */
    bool is_apart;     /* memory of alloc is not the host's: see read and write */
    const char *(*about)(void); /* name of the processor; NULL: the machine's */
    enum pp_status (*open)(struct pp_arena *arena, const struct pp_device_options *options,
                           struct pp_backend_device **device, struct pp_error *err);
    void (*close)(struct pp_backend_device *device); /* accepts NULL */
    /* Allocates memory of the device, 64-byte aligned; PP_EFAIL when there is not enough. */
    enum pp_status (*alloc)(struct pp_backend_device *device, size_t bytes, void **memory,
                            struct pp_error *err);
    /* Allocates memory of the host that copies of the device's streams reach; else as alloc, which
     * is there instead if this is NULL. */
    enum pp_status (*alloc_host)(struct pp_backend_device *device, size_t bytes, void **memory,
                                 struct pp_error *err);
    /* Free memory of the device. NULL: the host's. */
    size_t (*available_bytes)(const struct pp_backend_device *device);
    /* Memory of the device that libraries, graphs and that many communicators of NCCL take later.
     * NULL: none. */
    size_t (*reserve_bytes)(const struct pp_backend_device *device, int communicators);
    /* Allocates zeroed memory that device and host share; the host must not touch what work may. */
    enum pp_status (*alloc_shared)(struct pp_backend_device *device, size_t bytes, void **memory,
                                   struct pp_error *err);
    /* If is_apart: copy from, or to, memory of the device that no work touches; done on return. */
    enum pp_status (*read)(struct pp_backend_device *device, const void *from, void *to,
                           size_t bytes, struct pp_error *err);
    enum pp_status (*write)(struct pp_backend_device *device, const void *from, void *to,
                            size_t bytes, struct pp_error *err);
    void (*launch)(struct pp_backend_device *device, pp_stream_id stream, pp_backend_work work,
                   void *argument);
    /* Captures `work` as graph `id` of this stream; NULL: no graphs. `launch_graph` replays the
     * graph without calling the work; without a graph, it launches the work. Work does the same to
     * the device whenever it is called with this argument. Called between steps, after a step in
     * which it has run. With k >= 0 it is the k-th launch of the stream in every step, and records
     * timing events. With -1 it records none. */
    void (*capture)(struct pp_backend_device *device, pp_stream_id stream, int id, int k,
                    pp_backend_work work, void *argument);
    void (*launch_graph)(struct pp_backend_device *device, pp_stream_id stream, int id,
                         pp_backend_work work, void *argument);
    void (*graph_stats)(const struct pp_backend_device *device, struct pp_graph_stats *stats);
    /* NULL: the backend has no such libraries. Called between steps. */
    void (*fallbacks)(const struct pp_backend_device *device, struct pp_fallbacks *fallbacks);
    /* Runs work of the host once all earlier work of the stream is over: in the caller, which
     * waits, or in finish. It may read and write. */
    void (*host)(struct pp_backend_device *device, pp_stream_id stream, pp_backend_work work,
                 void *argument);
    /* NULL: the host runs work itself. Else for running work, with its `stream`: the host makes a
     * call once what the work has given the stream so far is over. With a slot, 0 or 1, later work
     * goes on meanwhile, until a join waits for the last call of the slot. With slot -1 it waits.
     * The thread that runs the work never does. Calls touch memory of the host alone. */
    void (*call_host)(void *stream, int slot, void (*call)(void *argument), void *argument);
    void (*join_host)(void *stream, int slot);
    void (*record)(struct pp_backend_device *device, pp_stream_id stream, pp_event_id event);
    /* False: the step was cancelled. */
    bool (*wait)(struct pp_backend_device *device, pp_stream_id stream, pp_event_id event);
    /* Before every step: makes all events unrecorded. Nothing runs. */
    void (*begin)(struct pp_backend_device *device);
    /* Runs remaining work, once all threads have issued theirs. PP_EFAIL, with the waits: events
     * are in a circle, or one was never recorded. PP_EFAIL also if the step was cancelled. */
    enum pp_status (*finish)(struct pp_backend_device *device, struct pp_error *err);
    /* From any thread: makes every wait return false until the next begin. */
    void (*cancel)(struct pp_backend_device *device);
    /* NULL, or, from any thread: number of launches of this step known to be over. */
    int64_t (*passed)(struct pp_backend_device *device);
    /* Begin and end of the k-th launch of this step on a stream, in seconds since begin; NAN before
     * it has run. NULL when immediate. */
    struct pp_span (*span)(const struct pp_backend_device *device, pp_stream_id stream, int k);
    /* NULL if the thread of the work can time it. Otherwise records a timing event on the `stream`
     * of the running work. timing_s is the time of the j-th event of the k-th launch, like span. */
    void (*record_timing)(void *stream);
    double (*timing_s)(const struct pp_backend_device *device, pp_stream_id stream, int k, int j);
};
extern const struct pp_backend pp_backend_cpu, pp_backend_fake;
