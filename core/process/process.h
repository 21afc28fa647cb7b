/* core/process/process.h — what every program does first and last. */
#pragma once

#include "core/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Locale and signals; `interrupted` handles SIGINT unless that is ignored. Of stdin, stdout and
 * stderr what is closed is opened, so that no file gets its number; using it still fails. */
void pp_process_begin(void (*interrupted)(int));
/* SIGINT and SIGTERM wait until the mask is `before` again. */
void pp_process_hold(sigset_t *before);
void pp_process_release(const sigset_t *before);
/* A file that is useless once this process has ended. SIGINT, SIGTERM and SIGHUP remove it before
 * they end the process, unless another file is in its place. One at a time; NULL: none any more. */
void pp_process_guard(const char *path);
/* First in a child: it ends with its parent, and leaves no core file. False when the parent has
 * gone already. */
bool pp_process_follow(pid_t parent);
/* For what a child process prints: a file in memory of PP_PROCESS_LOG_BYTES that cannot grow, so
 * that what was said first stays; -1 with errno. */
enum { PP_PROCESS_LOG_BYTES = 1 << 16 };
int pp_process_log(void);
/* Append how a child has ended: "has ended with exit code 1", "was ended by signal 9 (Killed)". */
void pp_process_tell_end(const siginfo_t *info, struct pp_error *err);
/* Flush stdout, print an error; the exit code. */
int pp_process_end(const char *program, enum pp_status status, struct pp_error *err);
