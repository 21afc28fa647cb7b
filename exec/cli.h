/* exec/cli.h — the command line of pipeexec, as tables. */
#pragma once

#include "exec/resolve/wish.h"

extern struct pp_cli pp_exec_cli; /* complete before main() begins; read only */
