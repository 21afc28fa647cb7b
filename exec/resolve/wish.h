/* exec/resolve/wish.h — the command line of pipeexec, a field for each option. */
#pragma once

#include "core/model/options.h"
#include "schedules/select/options.h"

/* Filled by pp_wish_bind(). */
struct pp_exec_wish {
    struct pp_request request;
#define PP_ROW PP_ROW_FIELD
#include "exec/resolve/rows.h"
    struct {
#define PP_ROW PP_ROW_GIVEN
#include "exec/resolve/rows.h"
    } given;
};
