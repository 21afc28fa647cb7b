/* schedules/library/pipesched_parts.h — internals of the library, shared by its two files. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/library/pipesched.h"
#include "schedules/order/schedule.h"
#include "schedules/program/program.h"

#include <stdbool.h>
#include <string.h>

struct pipesched_program {
    struct pp_arena *arena; /* of everything, this struct too */
    const struct pp_program *program;
    const struct pp_schedule *schedule; /* NULL: not built in */
    bool is_given;                      /* read from a file or a text: may be illegal */
    const char *text;                   /* NULL before the first pipesched_text() */
};

_Static_assert(sizeof(((struct pipesched_error *)0)->message) ==
                   sizeof(((struct pp_error *)0)->message),
               "a message of the library holds any message");
/* Returns a status to the caller, with its message. */
static inline enum pipesched_status
pp_pipesched_tell(enum pp_status status, const struct pp_error *err, struct pipesched_error *error)
{
    if (status != PP_OK && error)
        memcpy(error->message, err->message, sizeof(error->message));
    return (enum pipesched_status)status;
}

struct pp_costs_shape {
    int ranks, stages, splits, granules;
};
/* Returns durations as costs; NULL durations = F, I and W of 1. PP_EINVAL below 0, beyond 1e6 s, or
 * with another number of stages. is_complete: messages of a channel follow one another. */
enum pp_status pp_pipesched_costs(struct pp_arena *arena,
                                  const struct pipesched_durations *durations,
                                  const struct pp_costs_shape *shape, bool is_complete,
                                  const struct pp_costs **costs, struct pp_error *err);
