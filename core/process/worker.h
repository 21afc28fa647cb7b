/* core/process/worker.h — one worker of the pool: its process, from both sides. */
#pragma once

#include "core/process/pool.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Memory that all workers share. A worker stores its item before it begins. */
struct pp_worker_slot {
    _Alignas(64) _Atomic int64_t item; /* -1 = none */
};
struct pp_worker_board {
    _Atomic int64_t next; /* first item that no worker has taken */
    int64_t end;          /* after the last item to take */
    struct pp_worker_slot slots[];
};

/* A result in the pipe: this frame, the text, a NUL. */
struct pp_worker_frame {
    int64_t item;
    uint64_t length; /* of the text, without the NUL */
};
enum { PP_WORKER_TEXT_MAX = 1 << 30, PP_WORKER_DEATH_BYTES = 512 };

struct pp_pool_worker {
    pid_t pid;           /* 0 = none */
    int results;         /* pipe of frames; does not block */
    int log;             /* its stderr */
    int halted;          /* ticks in a row in which it, or a child of it, was stopped */
    char *data;          /* received part of a frame */
    size_t length, room; /* of `data` */
};

/* Forks a worker with signal mask `mask`; false with errno. The caller blocks handled signals. */
bool pp_worker_start(struct pp_pool_worker *worker, const struct pp_pool *pool,
                     struct pp_worker_board *board, int index, const sigset_t *mask);
/* Is true if the worker, or a child of it, is stopped, as by SIGSTOP. */
bool pp_worker_is_halted(const struct pp_pool_worker *worker);
/* Writes "ended by signal 6 (Aborted): LAST LINE OF ITS LOG". */
void pp_worker_death(const struct pp_pool_worker *worker, int wait_status,
                     char text[PP_WORKER_DEATH_BYTES]);
/* Closes the parent's descriptors of an ended worker. */
void pp_worker_close(struct pp_pool_worker *worker);
