/* core/process/shell.h — a command of the shell, run to its end for what it prints. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "core/text/file.h"

enum { PP_SHELL_SECONDS = 60, PP_SHELL_MIB = 256 };
/* Limits of a command. */
struct pp_shell_command {
    const char *text; /* for /bin/sh -c */
    double seconds;   /* 0 = PP_SHELL_SECONDS */
    size_t bytes;     /* 0 = PP_SHELL_MIB MiB */
};

/* Runs a command with an empty stdin and returns its stdout in the arena. The command and its
 * children form a process group; at the limits and at SIGINT or SIGTERM all of them are killed. The
 * signal then reaches its handler here; if the process survives it, the status is PP_EINTR.
 *
 * PP_EINVAL if the command ends with an exit code from 1 to 127: it refuses what it was asked, or
 * there is no such command. PP_EFAIL if it cannot be started, is killed, or exceeds a limit.
 * Messages name the command and end with the last lines of its stderr. */
enum pp_status pp_shell_run(struct pp_arena *arena, const struct pp_shell_command *command,
                            struct pp_bytes *output, struct pp_error *err);
