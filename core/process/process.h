/* core/process/process.h — begin and end of every program. */
#pragma once

#include "core/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Sets locale and signals. SIGINT, unless that is ignored, ends the process with a message, and so
 * its threads and children; files appear only when they are whole. Opens closed standard streams,
 * so that no file gets their numbers; using them still fails. */
void pp_process_begin(const char *program);
/* Block SIGINT, SIGTERM and SIGHUP until the mask is `before` again. */
void pp_process_hold(sigset_t *before);
void pp_process_release(const sigset_t *before);
/* Guards a file that is useless after this process. SIGINT, SIGTERM and SIGHUP remove it before
 * they end the process, unless another file is in its place. One at a time; NULL: none any more. */
void pp_process_guard(const char *path);
/* Called first in a child: it ends with its parent, without a core file. False if that is gone. */
bool pp_process_follow(pid_t parent);
/* Creates a log for a child: a file in memory of PP_PROCESS_LOG_BYTES that cannot grow, so that its
 * first output stays; -1 with errno. */
enum { PP_PROCESS_LOG_BYTES = 1 << 16 };
int pp_process_log(void);
/* Returns the index of a child that a signal has ended, else of one that has exited, as others do
 * after that; -1: none has. Leaves it to be reaped. Entries of 0 are no children. */
int pp_process_find_ended(const pid_t *children, int count, siginfo_t *info);
/* Waits `most_ms` for all to end, kills the rest, for instance stopped ones, and sets all to 0. */
void pp_process_reap(pid_t *children, int count, int most_ms);
/* Appends how a child has ended: "has ended with exit code 1", "was ended by signal 9 (Killed)". */
void pp_process_tell_end(const siginfo_t *info, struct pp_error *err);
/* Flushes stdout, prints an error; returns the exit code. */
int pp_process_end(const char *program, enum pp_status status, struct pp_error *err);
