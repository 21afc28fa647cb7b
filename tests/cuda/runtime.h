/* tests/cuda/runtime.h — CUDA's runtime on a CPU: streams, events, memory, launches, by the names
 * of include/cuda_runtime_api.h. Private to runtime_*.cc.
 *
 * Asynchronous work is queued by stream, and runs when a thread synchronises or queries. One piece
 * of work runs at a time, in an adverse order that streams and events allow (runtime_order.cc). The
 * thread that synchronises runs it. Memory of a device is closed to the host: an access while no
 * work of the device runs ends the process with a message. So does an access of work after the end
 * of an allocation, at most 256 bytes after it. Fresh memory holds NaNs.
 *
 * Environment, read once:
 *   PP_EMULATED_DEVICES=N        1; 0: cudaErrorNoDevice; none: cudaErrorInsufficientDriver
 *   CUDA_VISIBLE_DEVICES         empty: no device, as CUDA takes it; else not looked at
 *   PP_EMULATED_FIRST_DEVICE=N   0; which of the machine's devices this process sees first
 *   PP_EMULATED_DRIVER=N         13000: what it is for; an older one: cudaErrorInsufficientDriver
 *   PP_EMULATED_CAPABILITY=N     90: compute capability of the devices, with its shared memory
 *   PP_EMULATED_PART=N           multiprocessors of the largest part of a device that can be made
 *   PP_EMULATED_MEMORY_BYTES=N   of a device, 16 GiB: cudaMalloc fails beyond
 *   PP_EMULATED_SEED=N           0; of all orders
 *   PP_EMULATED_PEERS=0          devices cannot reach each other's memory
 *   PP_EMULATED_EPILOGUES=4,192  of epilogues cuBLASLt has these; 0: none
 *   PP_EMULATED_WIDTHS=N         cuBLASLt refuses multiplications with results of N columns
 *   PP_EMULATED_BLAS_FAULT=N:S   the N-th multiplication of the process ends with status S
 *   PP_EMULATED_LAZY=1           the first launch of each kernel, and of each form of a
 *                                multiplication, waits for all of the device; it ends the program
 *                                if the device then waits for another process
 *   PP_EMULATED_FAULT=N          the N-th launch of the process ends with cudaErrorLaunchFailure,
 *                                which all calls return from then on
 *   PP_EMULATED_HANG=N           the N-th launch of the process never ends, and so does its stream
 *   PP_EMULATED_LAW=X            events tell what a device would that takes X times as long as
 *                                runtime_law.h says, and runs concurrently what nothing orders;
 *                                without it, what the work has taken here, one after the other
 *   PP_EMULATED_GRAPH_BYTES=N    65536: memory of the device that a node of a graph takes
 *   PP_EMULATED_GRAPH_PARTS=0    graphs leave the part of the device that they were recorded on
 *   PP_EMULATED_GRAPH_TIMES=0    events that graphs record have no times
 *
 * Locking: one mutex, held by every call. A host function runs without it; its stream is `is_busy`
 * meanwhile. */
#ifndef PP_TESTS_CUDA_RUNTIME_H
#define PP_TESTS_CUDA_RUNTIME_H

#include "tests/cuda/include/cuda_runtime.h"
#include "tests/cuda/runtime_law.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stdint.h>
#include <string>
#include <thread>
#include <vector>

enum { PP_EMULATED_SMS = 64 }; /* multiprocessors of a device */

/* Number of the latest record that was issued, and that has been passed; 0: none. */
struct event {
    uint64_t issued, passed;
    double passed_s; /* on the device's clock */
    bool is_of_graph;
};

/* TRY: work that may have to wait for another process; it opens the memory that it uses */
enum node_kind { NODE_WORK, NODE_HOST, NODE_RECORD, NODE_WAIT, NODE_TRY };

struct node {
    enum node_kind kind;
    uint64_t number; /* in the order of issue, of all streams */
    std::function<void()> work;
    std::shared_ptr<struct event> event;
    uint64_t record;                         /* of the event */
    std::function<bool()> attempt = nullptr; /* false: not over yet, to be called again */
    double law_s = 0;                        /* what it takes by the law */
    double issued_s = 0;                     /* by the law, the host's clock then */
    bool is_everywhere = false;              /* not only on the stream's part of the device */
};

/* What a stream notes down in place of doing it, each to be issued again: runtime_graph.cc. */
typedef std::function<void(struct CUstream_st *)> captured;
struct capture {
    enum cudaStreamCaptureMode mode;
    std::thread::id thread;
    bool is_invalid;
    std::vector<captured> nodes;
};

struct CUstream_st {
    int device, priority;
    unsigned flags;
    bool is_busy; /* its host function runs */
    std::deque<struct node> nodes;
    bool has_tried = false;  /* its attempt is not over yet: others come first */
    const void *part = NULL; /* of the device, that it was made for */
    double law_s = 0;        /* by the law, the end of what it has run */
    std::unique_ptr<struct capture> capture = nullptr;
    unsigned first_sm = 0, sm_count = 0; /* its part of the device; 0: all of it */
};

struct CUevent_st {
    unsigned flags;
    std::shared_ptr<struct event> state;
    bool is_captured = false; /* recorded last by a stream that captures */
};

struct runtime {
    std::mutex mutex;
    std::condition_variable host_function_over;
    std::vector<struct CUstream_st *> streams; /* the first ones: default streams of the devices */
    std::vector<struct CUevent_st *> events;
    std::vector<struct CUgraphExec_st *> graphs;
    size_t graph_node_bytes;
    bool has_graph_parts, has_graph_times;
    unsigned first_sm, sm_count; /* of the work that runs */
    int devices, first_device;
    int driver; /* 0: none */
    int capability;
    unsigned largest_part;
    bool peers;
    size_t memory_bytes;
    uint64_t seed, fault, hang, issued, launches;
    uint64_t turn;      /* times that the queues have run empty, with a choice on the way */
    uint64_t chosen;    /* pieces of work */
    bool had_choice;    /* in this turn */
    double clock_s;     /* thread seconds that work has taken */
    double law;         /* factor of the law; 0: there is none */
    double host_s;      /* by the law, the latest that a thread of the host has waited for */
    cudaError_t broken; /* once and for all */
};
struct runtime &pp_runtime(void);
/* Of the environment. */
uint64_t pp_number_of(const char *variable, uint64_t otherwise);

/* What every call of the API does around `body`, which runs under the lock: errors that stay, the
 * last error, host functions that call CUDA. */
cudaError_t pp_call(const std::function<cudaError_t(std::unique_lock<std::mutex> &)> &body);
cudaError_t pp_set_last_error(cudaError_t error);
int pp_current_device(void);
int pp_shared_bytes_of_block(void); /* the most that a block can have */
extern thread_local bool pp_is_in_host_function;

/* NULL: not a stream of ours. A stream of NULL is the default one of the current device. */
struct CUstream_st *pp_find_stream(cudaStream_t stream);
/* A call whose body gets a stream that exists; and one that this thread may give work to. */
typedef std::function<cudaError_t(std::unique_lock<std::mutex> &, struct CUstream_st *)>
    stream_body;
cudaError_t pp_with_stream(cudaStream_t stream, const stream_body &body);
cudaError_t pp_with_work_for(cudaStream_t stream, const stream_body &body);
/* Nothing is left to run; ALL_DEVICES or one. */
enum { ALL_DEVICES = -1 };
bool pp_is_idle(int device);
void pp_issue(struct CUstream_st *stream, struct node node);
/* runtime_graph.cc: whether this thread may give work to the stream, wait for it or query it, or
 * make unsafe calls. A capturing stream records the work. stream NULL: all of the device. A call
 * that is not allowed invalidates the captures that it disturbs. */
cudaError_t pp_check_enqueue(struct CUstream_st *stream);
cudaError_t pp_check_wait(const struct CUstream_st *stream);
cudaError_t pp_check_unsafe(void);
cudaError_t pp_spoil(struct CUstream_st *stream); /* cudaErrorStreamCaptureUnsupported */
size_t pp_graph_bytes(int device);
/* `attempt` runs again and again, as work of the device does, until it is over. It may not wait. */
void pp_issue_attempt(struct CUstream_st *stream, std::function<bool()> attempt);
/* One launch, counted: `work` is to run with the seed that it is given, and takes so long by the
 * law. */
void pp_issue_launch(struct CUstream_st *stream, double law_s,
                     std::function<void(uint64_t seed)> work);
/* Load what PP_EMULATED_LAZY says, if `key` was never used before. Without the lock. */
void pp_load(const char *name, const std::string &key);
/* Run work until `is_over`, which is asked under the lock. */
void pp_run_until(std::unique_lock<std::mutex> &lock, const std::function<bool()> &is_over);
/* The function at the head of a stream, by a thread of its own, as CUDA does: it may wait for
 * threads that call. Returns when it is over; after a while anyway, with the stream still busy. */
void pp_run_host_function(std::unique_lock<std::mutex> &lock, struct CUstream_st *stream);
/* From now on a thread of the runtime runs work of the device, slowly, while `has_work` (called
 * under the lock) is true. So a host that waits for another process does not block its own
 * device. */
void pp_turn_on(bool (*has_work)(void));
/* At most one piece of work; for those who only ask. */
void pp_run_one(std::unique_lock<std::mutex> &lock);

struct allocation {
    char *base;
    size_t bytes;
    int device;
    bool is_host; /* pinned: open to both */
    char *mapped;
    size_t mapped_bytes;
    int opened = 0;                    /* of another process: how often */
    struct sharing *sharing = nullptr; /* exported or opened: runtime_ipc.cc */
};
void pp_add_allocation(const struct allocation &allocation);
void pp_drop_allocation(const struct allocation *allocation);
/* One that holds `memory`; NULL: none. */
struct allocation *pp_allocation_at(const void *memory);
struct allocation *pp_find_opened(uint64_t id); /* of another process; NULL: none */
uint64_t pp_sharing_id(const struct sharing *sharing);
/* Before it is freed: ends the program if another process still has it open. */
void pp_end_sharing(const struct allocation *allocation);
bool pp_is_memory_open(void);
/* The allocation that holds all `bytes` from `memory` on; NULL: none. */
const struct allocation *pp_find_allocation(const void *memory, size_t bytes);
size_t pp_used_bytes(int device);
void pp_open_memory(void);
void pp_close_memory(void);
/* A word of 4 or 8 bytes. Opens its page alone, since a stream that waits reads often. */
uint64_t pp_read_word(const void *word, size_t bytes);
/* Ends the program unless `memory` is NULL or may be used on `device`. */
void pp_need_device_memory(const char *who, const void *memory, size_t bytes, int device);

[[noreturn]] void pp_runtime_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
