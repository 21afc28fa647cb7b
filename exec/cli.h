/* exec/cli.h — the command line of pipeexec, as tables. */
#pragma once

#include "core/cli/request.h"

enum pp_exec_command { PP_EXEC_RUN, PP_EXEC_HELP };
extern struct pp_cli pp_exec_cli; /* complete before main() begins; read only */
