/* core/process/pool.h — independent items on all cores, by forked workers.
 *
 * A worker takes items one after another from a counter that all share, so a slow item delays
 * no other. It is a process: when it ends early, its item runs once more after all others,
 * alone, in a new worker. A warning on stderr says so. A worker that is stopped for 10 s is
 * ended. An item is lost if its second worker ends early, too. A worker has no stdin and no
 * stdout; the last line that it writes to stderr is shown with its death. Results arrive in the
 * parent in any order. Workers end with the parent, whatever ends it, and so do children of
 * theirs that asked for it (PR_SET_PDEATHSIG). SIGINT and SIGTERM end the run, not the program:
 * workers are ended, delivered results are handed on, and pp_pool_run() returns PP_EINTR. For a
 * second signal the former handlers are in place. Ignored signals stay ignored. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdint.h>
#include <stdio.h>

struct pp_pool {
    int64_t items;
    int workers; /* 0 = as many as there are cores for this process; never more than items */
    void *context;
    /* Writes the result of an item to `out`; runs in a worker. `scratch` is emptied after every
     * item; data that must outlive it belongs to the worker's copy of the context. */
    void (*work)(void *context, struct pp_arena *scratch, int64_t item, FILE *out);
    /* Takes the result of an item; runs once for each in the parent. `death` is NULL, or why the
     * second worker ended ("ended by signal 11 (Segmentation fault)"); then `text` is "".
     * A NUL follows the text. An error ends the run. NULL: results lie in shared memory. */
    enum pp_status (*done)(void *context, int64_t item, const char *text, size_t length,
                           const char *death, struct pp_error *err);
    /* Runs in the parent a few times a second; may be NULL. */
    void (*tick)(void *context);
};

/* Runs all items, unless interrupted (PP_EINTR) or refused by done(). PP_EFAIL if no worker can be
 * started. Leaves the parent's other children alone. */
enum pp_status pp_pool_run(const struct pp_pool *pool, struct pp_error *err);
/* Returns the number of cores that this process may use. */
int pp_pool_cores(void);
