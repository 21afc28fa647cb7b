/* exec/resolve/wish.h — the command line of pipeexec, a field for each option. */
#pragma once

#include "core/model/options.h"
#include "schedules/select/options.h"

enum pp_exec_command { PP_EXEC_RUN, PP_EXEC_GENERATE, PP_EXEC_HELP };

/* Filled by pp_wish_bind(). */
struct pp_exec_wish {
    struct pp_request request;
#define PP_ROW       PP_ROW_FIELD
#define PP_ROW_AGAIN PP_ROW_NOTHING
#include "exec/resolve/rows.h"
    struct {
#define PP_ROW       PP_ROW_GIVEN
#define PP_ROW_AGAIN PP_ROW_NOTHING
#include "exec/resolve/rows.h"
    } given;
};
