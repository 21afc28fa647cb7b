/* exec/nccl/parts.h — private to exec/nccl: the library as a table, communicators and failures. */
#pragma once

#include "exec/nccl/nccl.h"

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <pthread.h>
#include <stdatomic.h>

/* Functions that are used: ncclNAME is library->NAME. */
#define PP_NCCL_SYMBOLS(X)                                                                         \
    X(GetVersion)                                                                                  \
    X(GetUniqueId)                                                                                 \
    X(CommInitRankConfig)                                                                          \
    X(CommFinalize)                                                                                \
    X(CommDestroy)                                                                                 \
    X(CommAbort)                                                                                   \
    X(CommGetAsyncError)                                                                           \
    X(GetErrorString)                                                                              \
    X(GetLastError)                                                                                \
    X(GroupStart)                                                                                  \
    X(GroupEnd)                                                                                    \
    X(Send)                                                                                        \
    X(Recv)                                                                                        \
    X(AllReduce)                                                                                   \
    X(Reduce)                                                                                      \
    X(Broadcast)                                                                                   \
    X(AllGather)                                                                                   \
    X(ReduceScatter)

struct pp_nccl_library {
    const char *file;
    int version; /* as NCCL counts: 22809 is 2.28.9 */
#define PP_NCCL_MEMBER(name) __typeof__(nccl##name) *name;
    PP_NCCL_SYMBOLS(PP_NCCL_MEMBER)
#undef PP_NCCL_MEMBER
};

/* Communicator of a channel or a group. */
struct pp_nccl_comm {
    ncclComm_t handle; /* NULL: this process is no member */
    const char *text;  /* its name and processes, for messages */
    int own;           /* index of this process among the members, -1: none */
    int peer;          /* other member of a channel */
    void *stream;      /* of the last operation */
    long issued;       /* operations */
};

struct pp_nccl {
    struct pp_arena *arena; /* of this and its lists */
    bool is_left;           /* a call of NCCL that has not returned uses them, until the end */
    const struct pp_nccl_library *library;
    const struct pp_nccl_plan *plan;
    struct pp_nccl_comm *comms; /* [group of the plan] */
    int comm_count;
    pthread_mutex_t mutex; /* of calls to NCCL */
    atomic_bool is_aborted;
};

/* PP_OK for ncclSuccess and ncclInProgress; else *err describes it. Under the mutex. */
enum pp_status pp_nccl_judge(struct pp_nccl *nccl, const struct pp_nccl_comm *comm,
                             ncclResult_t result, struct pp_error *err);
enum pp_status pp_nccl_aborted(struct pp_error *err); /* sets *err */
/* PP_EFAIL names the first communicator that has failed. Under the mutex. */
enum pp_status pp_nccl_look(struct pp_nccl *nccl, struct pp_error *err);
/* Runs a job that may wait for other processes, which NCCL does without a limit: in a thread, under
 * the mutex, for timeout_s at most. PP_EFAIL then, with all aborted. */
typedef enum pp_status (*pp_nccl_job)(struct pp_nccl *nccl, const void *closure,
                                      struct pp_error *err);
enum pp_status pp_nccl_call(struct pp_nccl *nccl, pp_nccl_job run, const void *closure,
                            struct pp_error *err);
