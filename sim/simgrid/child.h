/* sim/simgrid/child.h — runs a function in a child process that may crash.
 *
 * SimGrid has one engine per process and ends the process on bad input. So it runs in a child,
 * whose end becomes an error. The error has the most telling line of the child's output, which
 * goes to a bounded buffer in memory. The child leaves no core file, no temporary file and no
 * zombie. It dies with its parent. */
#pragma once

#include "core/error.h"

#include <stddef.h>
#include <sys/types.h>

struct pp_child_answer;
struct pp_child {
    pid_t pid;                      /* 0 if it has ended */
    int channel;                    /* connected to the child, both ways; -1 if closed */
    int log;                        /* stdout and stderr of the child */
    struct pp_child_answer *answer; /* shared with the child */
};

/* Function that runs in the child; its status and message return to the parent. */
typedef enum pp_status (*pp_child_function)(void *job, int channel, struct pp_error *err);

/* Starts `run(job)` in a child, for pp_child_finish() to end. PP_EFAIL if no child can be made. */
enum pp_status pp_child_start(struct pp_child *child, pp_child_function run, void *job,
                              struct pp_error *err);
/* Closes the channel, waits for the child's end, and returns the function's status and message.
 * PP_EINTR if it was interrupted. PP_EFAIL with its last output if it crashed. */
enum pp_status pp_child_finish(struct pp_child *child, struct pp_error *err);
/* Starts and finishes a child without channel; calls `tick` (or NULL) regularly until the end. */
enum pp_status pp_child_run(pp_child_function run, void *job, void (*tick)(void *job),
                            struct pp_error *err);

/* Writes SimGrid's first error to `text`, without its place in SimGrid, or ""; unprintable
 * characters are replaced. */
void pp_child_reason(const char *log, char *text, size_t size);
/* Writes to `text` the child's output so far, cut to `size`. */
void pp_child_log(const struct pp_child *child, char *text, size_t size);
