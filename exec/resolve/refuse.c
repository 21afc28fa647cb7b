/* Refuses an option together with what cannot be combined with it. */
#include "exec/resolve/parts.h"

enum pp_status pp_exec_refuse(const char *typed, const struct pp_exec_refusal *rows, size_t count,
                              struct pp_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].is_given)
            return pp_error_set(err, PP_EINVAL, "%s: %s", typed, rows[i].reason);
    return PP_OK;
}
