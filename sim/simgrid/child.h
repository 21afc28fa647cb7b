/* sim/simgrid/child.h — a function in a child process that may crash.
 *
 * SimGrid has one engine per process and ends the process on bad input. So it runs in a child, and
 * the end of the child comes back as an error. Its stdout and stderr go to a bounded
 * buffer in memory. An error shows its most telling line. The child leaves no core file, no
 * temporary file and no zombie. It dies with its parent. */
#pragma once

#include "core/error.h"

#include <stddef.h>
#include <sys/types.h>

struct pp_child_answer;
struct pp_child {
    pid_t pid;                      /* 0 when it is over */
    int channel;                    /* connected to the child, both ways; -1 when closed */
    int log;                        /* what the child wrote to stdout and stderr */
    struct pp_child_answer *answer; /* shared with the child */
};

/* Runs in the child: status and message come back to the parent. */
typedef enum pp_status (*pp_child_function)(void *job, int channel, struct pp_error *err);

/* Start `run(job)` in a child. PP_EFAIL when no child can be made; else end it with
 * pp_child_finish(). */
enum pp_status pp_child_start(struct pp_child *child, pp_child_function run, void *job,
                              struct pp_error *err);
/* Closes the channel, waits for the end, and returns the status and message of the function.
 * PP_EINTR if it was interrupted. PP_EFAIL with its last output if it crashed. */
enum pp_status pp_child_finish(struct pp_child *child, struct pp_error *err);
/* Both; the channel is not used. `tick`, which may be NULL, is called now and then until the end.
 */
enum pp_status pp_child_run(pp_child_function run, void *job, void (*tick)(void *job),
                            struct pp_error *err);

/* The first line of SimGrid's output that says what went wrong, without its place in SimGrid, in
 * `text`; empty when there is none. Characters that do not print are replaced. */
void pp_child_reason(const char *log, char *text, size_t size);
/* What the child wrote until now, in `text`, cut to `size`. */
void pp_child_log(const struct pp_child *child, char *text, size_t size);
