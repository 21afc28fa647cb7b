/* sim/cli/stdout.h — what a command prints to stdout: its report, or one other thing instead. */
#pragma once

#include "sim/cli/cli.h"
#include "sim/cli/wish.h"

enum pp_stdout {
    PP_STDOUT_PAGE,     /* --html - */
    PP_STDOUT_JSON,     /* --json */
    PP_STDOUT_GANTT,    /* --gantt */
    PP_STDOUT_EXPLAIN,  /* --explain */
    PP_STDOUT_MARKDOWN, /* --markdown */
    PP_STDOUT_TABLE,    /* -o - of a plan */
    PP_STDOUT_EMIT,     /* --emit; of a run only without -o FILE */
    PP_STDOUT_REPORT,   /* none of these */
};
/* PP_EINVAL where two of them are asked for. */
enum pp_status pp_stdout_owner(const struct pp_wish *wish, enum pp_stdout *owner,
                               struct pp_error *err);
