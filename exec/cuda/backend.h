/* exec/cuda/backend.h — private to exec/cuda: one GPU.
 *
 * A `struct cuda_stream` is a CUDA stream with resources of kernels, such as a workspace. In serial
 * mode one of them takes the work of all streams of the device, so one op runs at a time. Otherwise
 * each stream has its own; that of a worker on a partitioned GPU runs on the worker's part (a green
 * context).
 *
 * In all modes a stream waits for an event only once the host has recorded it. So work is issued in
 * an order in which it can run, and streams that share a queue of the device cannot deadlock. */
#pragma once

#include "exec/backend/backend.h"
#include "exec/backend/recorded.h"
#include "kernels/cuda/gemm/plans.h"

#include <cuda_runtime_api.h>

#include <pthread.h>
#include <stdatomic.h>

struct launch {
    cudaEvent_t start, end;
    cudaEvent_t *timings; /* kept from step to step, too */
    int timing_count, timings_made, timing_capacity;
};
struct graph {
    cudaGraphExec_t exec;                 /* NULL: not captured */
    bool is_refused;                      /* forever */
    int timings;                          /* number of its timing events */
    struct pp_cuda_multiplied multiplied; /* by a launch of it */
    size_t nodes;
};
/* Calls of the host that run while a stream goes on. */
struct host_lane {
    cudaStream_t stream; /* NULL: there were none */
    cudaEvent_t from, over;
};
struct cuda_stream {
    struct pp_cuda_stream cuda; /* first: work gets the address of the struct */
    struct host_lane lanes[2];
    atomic_bool has_stream;
    int priority; /* lower numbers come first */
    struct pp_backend_device *device;
    struct launch *launch; /* being issued */
    bool is_capturing;
    cudaError_t refusal;    /* of an event or a call by the current capture */
    pthread_mutex_t lock;   /* held during a launch, and for the streams' lists */
    struct pp_arena *arena; /* of these lists */
};
/* CUDA stream of a work's stream. */
static inline cudaStream_t pp_cuda_work_stream(const void *stream)
{
    return ((const struct pp_cuda_stream *)stream)->stream;
}
struct stream {
    struct cuda_stream *target;
    struct launch *launches; /* kept from step to step: only the first step makes any */
    int made, capacity;
    int count;                     /* of this step */
    _Atomic(cudaEvent_t) last_end; /* of the last launch, unless a wait has come after it */
    atomic_int over;               /* number of first launches known to be over */
    struct graph *graphs;          /* by id */
    int graph_count, graph_capacity;
};
struct pp_cuda_graphs {
    bool are_on, may_time;
    struct pp_graph_stats stats; /* all but `launches` */
    atomic_llong launches;
    size_t free_bytes; /* before the first graph */
};
struct pp_backend_device {
    struct pp_device_options options;
    struct pp_arena *arena; /* of the device's lists */
    struct cuda_stream *cuda_streams;
    int cuda_stream_count;
    struct stream *streams;
    cudaEvent_t *events; /* [options.events]; NULL in serial mode, ordered by the host */
    cudaEvent_t *marks;  /* [options.events]: of this step, those or the end of a launch */
    cudaEvent_t begin;   /* of the step: origin of spans */
    cudaStream_t copies; /* for read and write */
    int gpu;
    int priority, last_priority; /* of its streams; of weight-gradient streams */
    struct pp_recorded *recorded;
    struct pp_cuda_graphs graphs;
    struct pp_cuda_parts *parts; /* one per worker; NULL: not partitioned */
    atomic_int failed;           /* first cudaError_t, forever */
    atomic_bool keeps_blocks;    /* until the process ends: others may have mapped them */
    void **blocks, **shared_blocks;
    int block_count, block_capacity, shared_count, shared_capacity;
};

/* device.c */
/* PP_EFAIL "cannot WHAT: NAME (description)" unless `code` is cudaSuccess. */
enum pp_status pp_cuda_try(cudaError_t code, const char *what, struct pp_error *err);
/* Finds a call of the driver, as a machine without a driver has none to link with. `version` of
 * CUDA has it. PP_EFAIL: `who` needs it; `otherwise` says what to do. */
enum pp_status pp_cuda_find_call(const char *name, unsigned version, void *call, const char *who,
                                 const char *otherwise, struct pp_error *err);
/* Keeps the first failure for finish, and ends all waits; for callers that cannot return it. */
void pp_cuda_note(struct pp_backend_device *device, cudaError_t code);

/* Makes a GPU that of the calling thread: all of exec/cuda does it here, and CUDA is called only
 * when it changes. */
cudaError_t pp_cuda_set(int gpu);
void pp_cuda_use(struct pp_backend_device *device);

/* Returns the CUDA stream of a stream, made at its first use; one that multiplies is made at once.
 * The device has few queues, and a receive that waits for another process blocks its queue. So only
 * streams that this process uses are made. */
cudaStream_t pp_cuda_stream_of(struct pp_backend_device *device, pp_stream_id stream);
cudaError_t pp_cuda_make_stream(struct cuda_stream *target);

/* check.c: name of the calling thread's GPU, one buffer per thread; checks of driver and GPU, and
 * of a GPU for the kernels. PP_EFAIL with what is missing and what to do. */
const char *pp_cuda_about(void);
enum pp_status pp_cuda_check(struct pp_error *err);
enum pp_status pp_cuda_check_gpu(int gpu, struct pp_error *err);

/* open.c */
enum pp_status pp_cuda_open(struct pp_arena *arena, const struct pp_device_options *options,
                            struct pp_backend_device **device, struct pp_error *err);
void pp_cuda_close(struct pp_backend_device *device);
/* See pp_device_options.left_free; before any work. */
void pp_cuda_leave_free(struct pp_backend_device *device, int multiprocessors);

/* host.c */
void pp_cuda_call_host(void *stream, int slot, void (*call)(void *argument), void *argument);
void pp_cuda_join_host(void *stream, int slot);
void pp_cuda_host_free(struct cuda_stream *target);

/* graphs.c: captures work of a stream instead of running it; makes a graph for pp_backend.capture;
 * replays graph `id`, false if there is none. */
cudaError_t pp_cuda_capture(struct cuda_stream *target, pp_backend_work work, void *argument,
                            cudaGraphExec_t *exec, size_t *nodes);
void pp_cuda_graph_make(struct pp_backend_device *device, pp_stream_id stream, int id, int k,
                        pp_backend_work work, void *argument);
bool pp_cuda_replay(struct stream *stream, struct launch *launch, int id);
void pp_cuda_graphs_stats(const struct pp_backend_device *device, struct pp_graph_stats *stats);
void pp_cuda_graphs_free(struct pp_backend_device *device);
/* trial.c: tests graphs here. Sets are_on and may_time, or why_not. */
void pp_cuda_graphs_try(struct pp_backend_device *device);

/* parts.c: cuts the multiprocessors into equal parts, until _free; makes a stream on one, with its
 * size. PP_EFAIL: the GPU has too few, or the driver is too old. */
enum pp_status pp_cuda_parts_make(struct pp_backend_device *device, int count,
                                  struct pp_error *err);
enum pp_status pp_cuda_part_stream(const struct pp_backend_device *device, int part, int priority,
                                   cudaStream_t *stream, int *sm_count, struct pp_error *err);
void pp_cuda_parts_free(struct pp_backend_device *device);

/* memory.c */
enum pp_status pp_cuda_alloc(struct pp_backend_device *device, size_t bytes, void **memory,
                             struct pp_error *err);
/* Allocates memory that the caller frees with cudaFree. */
enum pp_status pp_cuda_take(size_t bytes, void **memory, struct pp_error *err);
enum pp_status pp_cuda_alloc_host(struct pp_backend_device *device, size_t bytes, void **memory,
                                  struct pp_error *err);
enum pp_status pp_cuda_alloc_shared(struct pp_backend_device *device, size_t bytes, void **memory,
                                    struct pp_error *err);
size_t pp_cuda_available_bytes(const struct pp_backend_device *device);
size_t pp_cuda_reserve_bytes(const struct pp_backend_device *device, int communicators);
enum pp_status pp_cuda_read(struct pp_backend_device *device, const void *from, void *to,
                            size_t bytes, struct pp_error *err);
enum pp_status pp_cuda_write(struct pp_backend_device *device, const void *from, void *to,
                             size_t bytes, struct pp_error *err);
void pp_cuda_free_all(struct pp_backend_device *device);
