/* A status with its message, as callers of the library see them. */
#include "schedules/library/pipesched_parts.h"

#include <string.h>

_Static_assert(sizeof(((struct pipesched_error *)0)->message) ==
                   sizeof(((struct pp_error *)0)->message),
               "a message of the library holds any message");

enum pipesched_status pp_pipesched_tell(enum pp_status status, const struct pp_error *err,
                                        struct pipesched_error *error)
{
    if (status != PP_OK && error)
        memcpy(error->message, err->message, sizeof(error->message));
    return (enum pipesched_status)status;
}
