/* exec/run.h — the one thing that pipeexec does. */
#ifndef PP_EXEC_RUN_H
#define PP_EXEC_RUN_H

#include "core/request.h"

#include <stdio.h>

/* Resolve, train, write traces, report to `out`. PP_ETOLERANCE when the gradients are not those of
 * the reference: then there is a text report, but no JSON. */
enum pp_status pp_exec_command_run(struct pp_arena *arena, const struct pp_request *request,
                                   FILE *out, struct pp_error *err);

#endif
