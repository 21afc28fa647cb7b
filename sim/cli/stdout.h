/* sim/cli/stdout.h — the owner of stdout: the report of a command, or one other output. */
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
    PP_STDOUT_EMIT,     /* --emit; in a run only without -o FILE */
    PP_STDOUT_NOTHING,  /* --quiet */
    PP_STDOUT_REPORT,   /* none of these */
};
/* Finds the owner of stdout. PP_EINVAL if two outputs are asked for. */
enum pp_status pp_stdout_owner(const struct pp_wish *wish, enum pp_stdout *owner,
                               struct pp_error *err);
