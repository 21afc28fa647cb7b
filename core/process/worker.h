/* core/process/worker.h — one worker of the pool: its process, from both sides. */
#pragma once

#include "core/process/pool.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* In memory that all share. A worker says what it is at before it begins. */
struct pp_worker_slot {
    _Alignas(64) _Atomic int64_t item; /* -1: none */
};
struct pp_worker_board {
    _Atomic int64_t next; /* the first item that no worker has taken */
    struct pp_worker_slot slots[];
};

/* A result on its way: this, the text, a NUL. */
struct pp_worker_frame {
    int64_t item;
    uint64_t length; /* of the text, the NUL not counted */
};
enum { PP_WORKER_TEXT_MAX = 1 << 30, PP_WORKER_DEATH_BYTES = 512 };

struct pp_pool_worker {
    pid_t pid;           /* 0: none */
    int results;         /* frames; does not block */
    int log;             /* what it has written to stderr */
    char *data;          /* the part of a frame that has come */
    size_t length, room; /* of it */
};

/* Fork; false with errno. `mask` is the signal mask of a worker. The caller blocks the signals that
 * it handles meanwhile. */
bool pp_worker_start(struct pp_pool_worker *worker, const struct pp_pool *pool,
                     struct pp_worker_board *board, int index, const sigset_t *mask);
/* "ended by signal 6 (Aborted): LAST LINE IT WROTE". */
void pp_worker_death(const struct pp_pool_worker *worker, int wait_status,
                     char text[PP_WORKER_DEATH_BYTES]);
/* Close what the parent holds of a process that is gone. */
void pp_worker_close(struct pp_pool_worker *worker);
