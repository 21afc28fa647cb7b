/* core/process.h — what every program does first and last. */
#ifndef PP_CORE_PROCESS_H
#define PP_CORE_PROCESS_H

#include "core/error.h"

#include <signal.h>

/* Locale and signals; `interrupted` handles SIGINT unless that is ignored. Of stdin, stdout and
 * stderr what is closed is opened, so that no file gets its number; using it still fails. */
void pp_process_begin(void (*interrupted)(int));
/* SIGINT and SIGTERM wait until the mask is `before` again: no temporary file is left behind. */
void pp_process_hold(sigset_t *before);
void pp_process_release(const sigset_t *before);
/* Flush stdout, print an error; the exit code. */
int pp_process_end(const char *program, enum pp_status status, struct pp_error *err);

#endif
